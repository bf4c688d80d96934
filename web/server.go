// Package web shows codexes in a browser, while a run goes on and after it.
//
// Pages are HTML from the server and work without JavaScript. A reader may limit them to a point of the story, by the
// query parameter as-of or a cookie. Pages read a run through a view, which returns nothing after the limit. They
// change the codex through the Editor only. A question to a snapshot is recorded through the Asker.
package web

import (
	"bytes"
	"context"
	"embed"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/metrics"
	"annotator/storage"
	"annotator/view"
)

//go:embed templates static
var files embed.FS

// Story reads the text of a story. It is the corpus that a run was made from.
type Story interface {
	// Scene returns the posts of a scene, in the order of their ids as given.
	Scene(ctx context.Context, thread int64, posts []int64) ([]annotator.Post, error)
	// Post returns a post by its id.
	Post(ctx context.Context, id int64) (*annotator.Post, error)
}

// Asker asks the model as of a snapshot, and records question and answer.
type Asker interface {
	Ask(ctx context.Context, db *storage.DB, snapshot int64, question string) (answer string, err error)
}

// Database is a database to show.
type Database struct {
	Name  string // in URLs: letters, digits, ".", "-" and "_"
	DB    *storage.DB
	Story Story // nil if the corpus is not there
	// Limit is the furthest limit of all readers, and zero for none. Point names it.
	Limit view.Moment
	Point view.Point
	// ShareKey signs links that show the database up to a limit without the token; nil: there are none.
	ShareKey []byte
	// Source returns the corpus for verification; nil if it is missing.
	Source func(context.Context) (*storage.Source, error)
}

// Unreadable is a database that cannot be read. The first page names it.
type Unreadable struct {
	File string // its name, without its folder
	Err  error
}

// Options are the options of a server.
type Options struct {
	Databases  []Database
	Unreadable []Unreadable
	Token      string           // required of readers; empty: none
	Hosts      []string         // names of this server, in addition to localhost and addresses
	Asker      Asker            // nil: no questions can be asked
	Editor     Editor           // nil: pages change nothing
	By         string           // who edits; empty: nobody says
	FormToken  string           // a secret that forms send with an edit; empty: none is needed
	Log        func(error)      // receives internal errors of the server
	Now        func() time.Time // the clock
	Metrics    *metrics.Page    // nil: there are none
	Poll       time.Duration    // interval at which live pages look for changes; 0: one second
}

// Server serves the pages.
type Server struct {
	Options
	served    []*servedDatabase
	templates map[string]*pageTemplate
	assets    map[string]asset
	session   string        // value of the session cookie
	making    chan struct{} // a semaphore of the pages that are made at the same time
}

// AnswerTimeout is the timeout of a question to a model, and of verification.
const AnswerTimeout = time.Hour

// Limits of the server.
const (
	maxBody        = 64 << 10
	maxHeader      = 32 << 10
	readTimeout    = 15 * time.Second
	writeTimeout   = time.Minute
	idleTimeout    = 2 * time.Minute
	pageSize       = 50
	maxStreams     = 256 // open live pages of each database
	heartbeat      = 15 * time.Second
	eventTimeout   = 10 * time.Second // to send an event
	defaultPolling = time.Second
)

// New returns a server.
func New(o Options) (*Server, error) {
	if o.Poll == 0 {
		o.Poll = defaultPolling
	}
	s := &Server{Options: o, session: sessionOf(o.Token)}
	for i := range o.Databases {
		s.served = append(s.served, &servedDatabase{
			Database: &o.Databases[i], server: s, live: &live{}, verify: &sync.Mutex{}, editing: &sync.Mutex{},
			review: &reviewQueue{},
		})
	}
	static, err := fs.Sub(files, "static")
	if err != nil {
		return nil, err
	}
	if s.assets, err = readAssets(static); err != nil {
		return nil, err
	}
	s.making = make(chan struct{}, max(1, runtime.GOMAXPROCS(0)/2))
	s.templates, err = s.parseTemplates()
	return s, err
}

// HTTP returns a server of the pages for net/http.
func (s *Server) HTTP(ctx context.Context) *http.Server { return NewHTTP(ctx, s.Handler()) }

// NewHTTP returns a server for net/http with the limits that a public address needs.
func NewHTTP(ctx context.Context, handler http.Handler) *http.Server {
	return &http.Server{
		Handler: handler, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout:    idleTimeout,
		MaxHeaderBytes: maxHeader, BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog: log.New(io.Discard, "", 0), // it would contain text of clients
	}
}

// Handler returns the handler of all pages, with its protection.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /sign-in", s.signIn)
	s.addMetrics(mux)
	for pattern, show := range map[string]handler{
		"GET /{db}/{$}":                      showFront,
		"GET /{db}/where":                    showWhere,
		"GET /{db}/share":                    showShare,
		"GET /{db}/story":                    showStory,
		"GET /{db}/chapter/{id}":             showChapter,
		"GET /{db}/scene/{id}":               numbered(showScene),
		"GET /{db}/post/{id}":                showPost,
		"GET /{db}/entries":                  showEntries,
		"GET /{db}/names":                    showNames,
		"GET /{db}/entry/{id}":               numbered(showEntry),
		"GET /{db}/entry/{id}/card":          numbered(showCard),
		"GET /{db}/entry/{id}/mentions":      numbered(showMentions),
		"GET /{db}/entry/{id}/named":         numbered(showNaming),
		"GET /{db}/entry/{id}/history":       numbered(showHistory),
		"GET /{db}/entry/{id}/claim/{claim}": numbered(showClaim),
		"GET /{db}/revision/{id}":            numbered(showRevision),
		"GET /{db}/cast":                     showCast,
		"GET /{db}/timeline":                 showTimeline,
		"GET /{db}/standing":                 showStanding,
		"GET /{db}/run":                      showRun,
		"GET /{db}/snapshots":                showSnapshots,
		"GET /{db}/snapshot/{id}":            numbered(showSnapshot),
		"POST /{db}/snapshot/{id}":           numbered(askSnapshot),
		"GET /{db}/plots":                    showPlots,
		"GET /{db}/audit":                    showAudit,
		"GET /{db}/turn/{id}":                numbered(showTurn),
		"GET /{db}/row/{id}":                 numbered(showRow),
		"POST /{db}/verify":                  verify,
		"GET /{db}/review":                   showReview,
		"POST /{db}/review":                  edits(decide),
		"POST /{db}/review/undo/{id}":        edits(numbered(undecide)),
		"POST /{db}/undo":                    edits(undo),
		"GET /{db}/live":                     streamLive,
		"POST /{db}/entry/{id}/edit":         edits(numbered(editEntry)),
	} {
		mux.HandleFunc(pattern, s.page(limited(show)))
	}
	mux.HandleFunc("POST /{db}/limit", s.page(setLimit)) // not limited: the limit that it replaces may be invalid
	return s.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/static/"); ok {
			s.serveAsset(w, r, name)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// handler answers a request for a database. It returns the page to show, or nil if it has sent the answer.
type handler func(*request) (*page, error)

// page serves the pages of one pattern: it finds the database, calls the handler, and writes its page. At most half of
// the processors make pages at the same time; the others are free for a run on this machine.
func (s *Server) page(show handler) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		form := hr.ParseForm() // before it takes a slot, since a form may arrive slowly
		select {
		case s.making <- struct{}{}:
		case <-hr.Context().Done():
			return
		}
		made := sync.OnceFunc(func() { <-s.making })
		defer made()
		r, err := s.newRequest(w, hr)
		r.made = made
		if form != nil { // the invalid part may be the limit
			r.db, err = nil, annotator.Errorf(annotator.Misused, "the query or the form cannot be read: %w", form)
		}
		var p *page
		switch {
		case err == nil && r.db.DB.Replaced():
			p = r.replaced()
		case err == nil:
			p, err = show(r)
		}
		if err != nil {
			p = s.errorPage(r, err)
		}
		if p != nil {
			s.write(r, p)
		}
	}
}

// write renders a page completely before it sends it, so that an error in a template gives an error page.
func (s *Server) write(r *request, p *page) {
	p.request = r
	var text bytes.Buffer
	if err := s.templates[p.template].execute(&text, p); err != nil {
		if r.Context().Err() == nil { // otherwise the reader has disconnected
			s.Log(err)
		}
		http.Error(r.w, "this page cannot be shown: internal error", http.StatusInternalServerError)
		return
	}
	if r.made != nil {
		r.made()
	}
	r.w.Header().Set("Content-Type", "text/html; charset=utf-8")
	if p.status != 0 {
		r.w.WriteHeader(p.status)
	}
	_, _ = text.WriteTo(r.w)
}

// isReplaced is the message for a database whose file was deleted, moved or replaced.
const isReplaced = "The database of this story was deleted, moved or replaced. Start the server again to see what " +
	"is there now."

// replaced returns the page of such a database.
func (r *request) replaced() *page {
	r.db = nil // its connections may read different files
	return &page{template: "error", Title: isReplaced, status: http.StatusServiceUnavailable}
}

// errorPage returns the page of an error. Items that do not exist and those after the limit give the same page.
func (s *Server) errorPage(r *request, err error) *page {
	status, what := http.StatusInternalServerError, "This page cannot be shown."
	switch annotator.KindOf(err) {
	case annotator.NotFound:
		status, what = http.StatusNotFound, "There is nothing here."
	case annotator.Misused:
		status, what = http.StatusBadRequest, "This address or form is not understood."
	case annotator.Malformed:
		status, what = http.StatusBadGateway, err.Error()
	case annotator.Transient, annotator.Overloaded, annotator.Unreachable, annotator.Refused, annotator.Misconfigured,
		annotator.PromptTooLong:
		status, what = http.StatusBadGateway, "The model gave no answer: "+err.Error()
	default:
		if r.Context().Err() == nil {
			s.Log(err)
		}
	}
	return &page{template: "error", Title: what, status: status}
}
