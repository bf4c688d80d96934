// Package web shows codexes in a browser, while a run goes on and after it.
//
// Every page is HTML made on the server and works without JavaScript. A reader may limit what is shown to a point of the
// story: the query parameter as-of, or a cookie, names it. Everything that a page shows of a run is read through a view,
// which returns nothing that comes after the limit. Pages change nothing in the codex. A question to a snapshot writes
// its own rows, through the Asker that the server was given.
package web

import (
	"bytes"
	"context"
	"embed"
	"io/fs"
	"log"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/storage"
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
	// Limit is the furthest moment that pages show, whatever a reader sets; zero for none. Point is what names it.
	Limit storage.Moment
	Point storage.Point
	// Source returns what verification compares with the corpus; nil if it is not there.
	Source func(context.Context) (*storage.Source, error)
}

// Unread is a database that cannot be read. The first page names it.
type Unread struct {
	File string // its name, without its folder
	Err  error
}

// Options are the options of a server.
type Options struct {
	Databases []Database
	Unread    []Unread
	Token     string           // that a reader must know; empty: anyone who can connect may read
	Hosts     []string         // names of this server, besides localhost and addresses
	Asker     Asker            // nil: no questions can be asked
	Log       func(error)      // receives the faults of the server itself
	Now       func() time.Time // the clock
	Poll      time.Duration    // how often a live page looks for changes; 0: once a second
}

// Server serves the pages.
type Server struct {
	Options
	books     []*book
	templates map[string]*pageTemplate
	assets    map[string]asset
	session   string        // value of the cookie of a reader who has given the token
	making    chan struct{} // holds an element for each page that is being made
}

// AnswerTimeout is how long the answer to a question to a model may take, which may be slow, and how long verification may.
const AnswerTimeout = time.Hour

// Limits of the server.
const (
	maxBody        = 64 << 10
	maxHeader      = 32 << 10
	readTimeout    = 15 * time.Second
	writeTimeout   = time.Minute
	idleTimeout    = 2 * time.Minute
	pageSize       = 50
	maxStreams     = 256 // live pages at once, of each database
	heartbeat      = 15 * time.Second
	slowReader     = 10 * time.Second // that an event may take to be sent
	defaultPolling = time.Second
)

// New returns a server.
func New(o Options) (*Server, error) {
	if o.Poll == 0 {
		o.Poll = defaultPolling
	}
	s := &Server{Options: o, session: sessionOf(o.Token)}
	for i := range o.Databases {
		s.books = append(s.books, &book{Database: &o.Databases[i], server: s})
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
		Handler: handler, ReadHeaderTimeout: readTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout, IdleTimeout: idleTimeout,
		MaxHeaderBytes: maxHeader, ErrorLog: log.New(discard{}, "", 0), BaseContext: contextOf(ctx),
	}
}

// Handler returns the handler of all pages, with its protection.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", s.home)
	mux.HandleFunc("POST /sign-in", s.signIn)
	for pattern, show := range map[string]handler{
		"GET /{db}/{$}":                      showOverview,
		"GET /{db}/entries":                  showEntries,
		"GET /{db}/entry/{id}":               numbered(showEntry),
		"GET /{db}/entry/{id}/history":       numbered(showHistory),
		"GET /{db}/entry/{id}/claim/{claim}": numbered(showClaim),
		"GET /{db}/entry/{id}/named":         numbered(showNaming),
		"GET /{db}/revision/{id}":            numbered(showRevision),
		"GET /{db}/cast":                     showCast,
		"GET /{db}/story":                    showStory,
		"GET /{db}/thread/{id}":              showThread,
		"GET /{db}/scene/{id}":               numbered(showScene),
		"GET /{db}/post/{id}":                showPost,
		"GET /{db}/snapshots":                showSnapshots,
		"GET /{db}/snapshot/{id}":            numbered(showSnapshot),
		"POST /{db}/snapshot/{id}":           numbered(askSnapshot),
		"GET /{db}/plots":                    showPlots,
		"GET /{db}/audit":                    showAudit,
		"GET /{db}/turn/{id}":                numbered(showTurn),
		"GET /{db}/row/{id}":                 numbered(showRow),
		"POST /{db}/verify":                  verify,
		"GET /{db}/live":                     streamLive,
	} {
		mux.HandleFunc(pattern, s.page(limited(show)))
	}
	mux.HandleFunc("POST /{db}/limit", s.page(setLimit)) // also where the limit that it replaces cannot be read
	return s.protect(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if name, ok := strings.CutPrefix(r.URL.Path, "/static/"); ok {
			s.serveAsset(w, r, name)
			return
		}
		mux.ServeHTTP(w, r)
	}))
}

// discard drops what net/http logs of its own accord, which is what clients send.
type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// handler answers a request for a database. It returns the page to show, or nil if it has answered already.
type handler func(*request) (*page, error)

// page serves the pages of one pattern: it finds the database and the limit, and shows what the handler returns. Half of
// the processors make pages, so that readers leave the others to a run on this machine.
func (s *Server) page(show handler) http.HandlerFunc {
	return func(w http.ResponseWriter, hr *http.Request) {
		form := hr.ParseForm() // which may arrive slowly, while other pages are made
		select {
		case s.making <- struct{}{}:
		case <-hr.Context().Done():
			return
		}
		made := sync.OnceFunc(func() { <-s.making })
		defer made()
		r, err := s.newRequest(w, hr)
		r.made = made
		if form != nil { // a pair that cannot be read may be the limit
			r.book, err = nil, annotator.Errorf(annotator.Misused, "the query or the form cannot be read: %w", form)
		}
		var p *page
		switch {
		case err == nil && r.book.DB.Replaced():
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

// write renders a page as a whole, and then sends it: an error in a template gives an error page, not half a page.
func (s *Server) write(r *request, p *page) {
	p.request = r
	var text bytes.Buffer
	if err := s.templates[p.template].execute(&text, p); err != nil {
		if r.Context().Err() == nil { // else the reader has gone
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

// isReplaced is what pages say of a database whose file is not there any more, or is another's.
const isReplaced = "The database of this story was deleted, moved or replaced. Start the server again to see what is there now."

// replaced returns the page of such a database.
func (r *request) replaced() *page {
	r.book = nil // its connections may read different files
	return &page{template: "error", Title: isReplaced, status: http.StatusServiceUnavailable}
}

// errorPage returns the page of an error. What is not there and what comes after the limit look the same.
func (s *Server) errorPage(r *request, err error) *page {
	status, what := http.StatusInternalServerError, "This page cannot be shown."
	switch annotator.KindOf(err) {
	case annotator.NotFound:
		status, what = http.StatusNotFound, "There is nothing here."
	case annotator.Misused:
		status, what = http.StatusBadRequest, "This address or form is not understood."
	case annotator.Malformed:
		status, what = http.StatusBadGateway, err.Error()
	case annotator.Transient, annotator.Overloaded, annotator.Unreachable, annotator.Refused, annotator.Misconfigured, annotator.PromptTooLong:
		status, what = http.StatusBadGateway, "The model gave no answer: "+err.Error()
	default:
		if r.Context().Err() == nil {
			s.Log(err)
		}
	}
	return &page{template: "error", Title: what, status: status}
}
