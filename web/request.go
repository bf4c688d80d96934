package web

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"

	"annotator"
	"annotator/view"
)

// request is a request for a page of a database.
type request struct {
	*http.Request
	w     http.ResponseWriter
	db    *servedDatabase
	limit limit
	view  *codexView
	made  func() // releases the slot of Server.making, before a wait for the reader or a model
}

// limit is the limit of the reader, or of the server.
type limit struct {
	point    string // of the reader: "scene:200"; noLimit; or empty where the reader has set none
	explicit bool   // it is in the URL
	moment   view.Moment
}

// noLimit is the limit of a reader who has finished the story. It does not remove the server's.
const noLimit = "all"

// asOf is the query parameter that names a limit.
const asOf = "as-of"

// limitCookie remembers the limit of a database.
const limitCookie = asOf

// cookieAge is how long a browser keeps a cookie, in seconds. Browsers keep none longer.
const cookieAge = 400 * 24 * 3600

func (s *Server) newRequest(w http.ResponseWriter, hr *http.Request) (*request, error) {
	r := &request{Request: hr, w: w}
	for _, d := range s.served {
		if d.Name == hr.PathValue("db") {
			r.db = d
		}
	}
	if r.db == nil {
		return r, notFound()
	}
	var err error
	if r.db, err = r.db.boundedFor(hr); err == nil {
		r.limit.moment = r.db.Limit
	}
	return r, err
}

// limited sets the view of a request up to its limit, before a handler.
func limited(show handler) handler {
	return func(r *request) (*page, error) {
		switch err := r.readLimit(); annotator.KindOf(err) {
		case "":
		case annotator.NotFound, annotator.Misused:
			return r.askAgain()
		default:
			r.db = nil // without a known limit, an error page must not show anything of the story
			return nil, err
		}
		if r.limit.point == "" && !r.db.bounded() {
			return r.askFirst()
		}
		r.view = newView(r.Context(), r.db, r.limit.moment)
		return show(r)
	}
}

// readLimit reads the limit. The URL takes precedence over the cookie. The server's limit always applies.
func (r *request) readLimit() error {
	var err error
	r.limit.point, err = pointOf(r.URL)
	r.limit.explicit = r.limit.point != "" || err != nil
	if err != nil {
		return err
	}
	if !r.limit.explicit {
		if c, err := r.Cookie(limitCookie); err == nil {
			r.limit.point = c.Value
		}
	}
	if r.limit.point == "" || r.limit.point == noLimit {
		return nil
	}
	r.limit.point, r.limit.moment, err = r.moment(r.limit.point)
	return err
}

// pointOf returns the limit in a URL; empty for none. It rejects misspelt forms of as-of: to ignore one would show the
// whole story.
func pointOf(u *url.URL) (point string, err error) {
	for name, values := range u.Query() {
		letters := strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, name)
		switch {
		case name == asOf && len(values) == 1:
			point = values[0]
		case letters == "asof":
			return name, annotator.Errorf(annotator.Misused, "a limit is named once, as %s", asOf)
		}
	}
	return point, nil
}

// moment finds the moment of a point, and the form of the point in links. A point after the server's limit gives the
// same error as one that does not exist.
func (r *request) moment(named string) (point string, m view.Moment, err error) {
	p, err := view.ParsePoint(named)
	if err != nil {
		return named, m, err
	}
	if p, err = r.db.all().Resolve(r.Context(), p); err != nil { // a chapter is found once, and not for each page
		return named, m, err
	}
	m, err = r.db.all().LimitAt(r.Context(), p)
	return p.String(), m, err
}

// Limited reports whether there is a limit.
func (l *limit) Limited() bool { return !l.moment.IsZero() }

// inLinks returns the limit as links name it. They do not say that a reader has finished the story if the browser
// remembers it, so that a link can be given to others.
func (l *limit) inLinks() string {
	if l.point == noLimit && !l.explicit {
		return ""
	}
	return l.point
}

// extendTimeout sets the timeout of an answer that takes longer than most pages. Other pages can be made in parallel.
func (r *request) extendTimeout(timeout time.Duration) error {
	r.made()
	return http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(timeout))
}

// notFound is the error for items that do not exist, or come after the limit.
func notFound() error { return annotator.Errorf(annotator.NotFound, "there is nothing here") }

// numbered passes the number in the path to a handler.
func numbered(show func(r *request, id int64) (*page, error)) handler {
	return func(r *request) (*page, error) {
		id, err := r.number("id")
		if err != nil {
			return nil, err
		}
		return show(r, id)
	}
}

// number returns a number of the path.
func (r *request) number(name string) (int64, error) {
	n, err := strconv.ParseInt(r.PathValue(name), 10, 64)
	if err != nil || n < 1 {
		return 0, notFound()
	}
	return n, nil
}

// maxNumber is greater than any number of a scene.
const maxNumber = 1<<31 - 1

// queryNumber returns a number of the query; 0 if it is missing or invalid.
func (r *request) queryNumber(name string) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// pageNumber returns the number of the part of a list in the URL, from 1.
func (r *request) pageNumber() int { return int(min(max(1, r.queryNumber("page")), 1<<20)) }

// part is a part of a list whose parts have numbers.
type part struct {
	From, To, Total int // the elements of the part, from 0 and exclusive, and the number of all
	Before, After   int // the neighbouring parts, from 1; 0: there is none
}

// part returns the part in the URL of a list of total elements, with parts of a size.
func (r *request) part(total, size int) part {
	number := r.pageNumber()
	p := part{From: min((number-1)*size, total), To: min(number*size, total), Total: total, Before: number - 1}
	if p.To < total {
		p.After = number + 1
	}
	return p
}

// Link returns the URL of a page of the database, with the limit of the request. The parts are those of the path, then
// "?" with names and values of the query, then "#" with a fragment. Empty values are omitted.
func (r *request) Link(parts ...any) string {
	path, values := []string{"", url.PathEscape(r.db.Name)}, url.Values{}
	in, name, fragment := "", "", ""
	for _, part := range parts {
		switch text := fmt.Sprint(part); {
		case in == "#":
			fragment = "#" + url.PathEscape(text)
		case name != "":
			if text != "" {
				values.Set(name, text)
			}
			name = ""
		case text == "?" || text == "#":
			in = text
		case in == "?":
			name = text
		default:
			path = append(path, url.PathEscape(text))
		}
	}
	if len(path) == 2 {
		path = append(path, "")
	}
	if point := r.limit.inLinks(); point != "" {
		values.Set(asOf, point)
	}
	if len(values) > 0 {
		fragment = "?" + values.Encode() + fragment
	}
	return strings.Join(path, "/") + fragment
}

// setLimit stores the limit of the form in a cookie, and redirects to the page of the form.
func setLimit(r *request) (*page, error) {
	point := r.PostFormValue(asOf)
	if chapter := r.PostFormValue("chapter"); point == "" && chapter != "" {
		var err error
		if point, err = r.endOfChapter(chapter); err != nil {
			return nil, err
		}
	}
	cookie := &http.Cookie{
		Name: limitCookie, Path: "/" + url.PathEscape(r.db.Name) + "/", MaxAge: cookieAge, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	}
	if point != noLimit {
		var err error
		if point, _, err = r.moment(point); err != nil {
			return nil, err
		}
	}
	cookie.Value = point
	http.SetCookie(r.w, cookie)
	http.Redirect(r.w, r.Request, r.backUnder(point), http.StatusSeeOther)
	return nil, nil
}

// backUnder returns the URL of the page from which a form was sent, under another limit. It is one of this database.
func (r *request) backUnder(point string) string {
	back := r.ownPage(r.PostFormValue("back"))
	values := back.Query()
	values.Del(asOf)
	if point != "" {
		values.Set(asOf, point)
	}
	back.RawQuery = values.Encode()
	return back.String()
}

// ownPage returns the URL of a page of this database; the first page for any other address.
func (r *request) ownPage(address string) *url.URL {
	to := localURL(address)
	if to == nil || strings.Contains(to.Path, "..") ||
		!strings.HasPrefix(to.EscapedPath(), "/"+url.PathEscape(r.db.Name)+"/") {
		return &url.URL{Path: "/" + r.db.Name + "/"}
	}
	return to
}

// isNotFound reports whether an error is of kind annotator.NotFound.
func isNotFound(err error) bool { return errors.Is(err, annotator.NotFound) }
