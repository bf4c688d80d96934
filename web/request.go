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
	"annotator/storage"
)

// request is a request for a page of a database.
type request struct {
	*http.Request
	w     http.ResponseWriter
	book  *book
	limit limit
	view  *view
	made  func() // another page may be made: what follows waits for the reader, or for a model
}

// limit is the point up to which the reader wants to be told, or the server's limit.
type limit struct {
	point    string // that the reader has chosen, as a URL has it: "scene:200"; "all" for none that outweighs a remembered one; empty: none
	explicit bool   // the URL names it
	moment   storage.Moment
}

// noLimit is the value of as-of that outweighs a remembered limit. It does not outweigh the server's.
const noLimit = "all"

// asOf is the query parameter that names a limit.
const asOf = "as-of"

// limitCookie remembers the limit of a database.
const limitCookie = asOf

func (s *Server) newRequest(w http.ResponseWriter, hr *http.Request) (*request, error) {
	r := &request{Request: hr, w: w}
	for _, b := range s.books {
		if b.Name == hr.PathValue("db") {
			r.book = b
		}
	}
	if r.book == nil {
		return r, notFound()
	}
	r.limit.moment = r.book.Limit
	return r, nil
}

// limited makes a handler read through a view, up to the limit of the request.
func limited(show handler) handler {
	return func(r *request) (*page, error) {
		switch err := r.readLimit(); annotator.KindOf(err) {
		case "":
		case annotator.NotFound, annotator.Misused:
			return r.noSuchLimit(), nil
		default:
			r.book = nil // an error page without a limit must not show anything of the story
			return nil, err
		}
		r.view = newView(r.Context(), r.book, r.limit.moment)
		return show(r)
	}
}

// lostLimit is a limit that the story does not have, with the form that chooses another.
type lostLimit struct {
	Point, Back, Action string
	Remembered          bool // by the browser, of an earlier run for example
	Bounded             bool // the server has a limit
	First               bool // the first scene may be chosen
}

// noSuchLimit returns the page that says so. It shows nothing of the story, as it is not known how much may be shown.
func (r *request) noSuchLimit() *page {
	lost := lostLimit{Point: r.limit.point, Back: r.URL.Path, Remembered: !r.limit.explicit, Bounded: r.book.bounded()}
	r.limit = limit{}
	first, err := r.book.lastChoice(r.Context(), 1)
	lost.First = err == nil && first > 0
	lost.Action = r.Link("limit")
	r.book = nil
	return &page{template: "nolimit", Title: "There is no such limit", status: http.StatusBadRequest, Data: lost}
}

// readLimit reads the limit: the URL counts over the cookie, and neither over the server's.
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

// pointOf returns the limit that a URL names; empty for none. A parameter that is almost as-of was meant to be one, and a reader
// would be shown everything in its place.
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

// moment finds the moment of a point, and the form of the point that links have.
func (r *request) moment(named string) (point string, m storage.Moment, err error) {
	p, err := storage.ParsePoint(named)
	if err != nil {
		return named, m, err
	}
	m, err = r.book.moment(r.Context(), p)
	return p.String(), m, err
}

// Limited reports whether there is a limit.
func (l *limit) Limited() bool { return !l.moment.IsZero() }

// mayTake lets an answer take longer than that of most pages, and other pages be made meanwhile.
func (r *request) mayTake(most time.Duration) error {
	r.made()
	return http.NewResponseController(r.w).SetWriteDeadline(time.Now().Add(most))
}

// notFound is the error of what is not there, and of what comes after the limit.
func notFound() error { return annotator.Errorf(annotator.NotFound, "there is nothing here") }

// numbered makes a handler of one that shows what the number in its path names.
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

// maxNumber is more than any number of a scene.
const maxNumber = 1<<31 - 1

// queryNumber returns a number of the query, 0 if it is not there or none.
func (r *request) queryNumber(name string) int64 {
	n, err := strconv.ParseInt(r.URL.Query().Get(name), 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// pageNumber returns the number of the part of a list that the URL names, from 1.
func (r *request) pageNumber() int { return int(min(max(1, r.queryNumber("page")), 1<<20)) }

// part is a part of a list whose parts have numbers.
type part struct {
	From, To, Total int // the elements of the part, and how many the list has; From counts from 0, and To is exclusive
	Before, After   int // the neighbouring parts, from 1; 0: there is none
}

// part returns the part that the URL names of a list of total elements, with size of them in each.
func (r *request) part(total, size int) part {
	number := r.pageNumber()
	p := part{From: min((number-1)*size, total), To: min(number*size, total), Total: total, Before: number - 1}
	if p.To < total {
		p.After = number + 1
	}
	return p
}

// Link returns the URL of a page of the database, under the limit of the request. The parts are those of the path, then
// "?" with names and values of the query, then "#" with a fragment. A value that is empty is left out.
func (r *request) Link(parts ...any) string {
	path, values := []string{"", url.PathEscape(r.book.Name)}, url.Values{}
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
	if r.limit.point != "" {
		values.Set(asOf, r.limit.point)
	}
	if len(values) > 0 {
		fragment = "?" + values.Encode() + fragment
	}
	return strings.Join(path, "/") + fragment
}

// setLimit remembers the limit that the form of every page sends, and goes back to the page under it.
func setLimit(r *request) (*page, error) {
	point := r.PostFormValue(asOf)
	if point == "" {
		n, err := strconv.Atoi(r.PostFormValue("scene"))
		if err != nil || n < 1 {
			return nil, annotator.Errorf(annotator.Misused, "%q is no scene", r.PostFormValue("scene"))
		}
		step, _ := strconv.Atoi(r.PostFormValue("step"))
		point = storage.Point{Kind: storage.PointScene, ID: int64(max(1, n+step))}.String()
	}
	cookie := &http.Cookie{
		Name: limitCookie, Path: "/" + url.PathEscape(r.book.Name) + "/", MaxAge: 400 * 24 * 3600, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: r.TLS != nil,
	}
	if point == noLimit {
		cookie.MaxAge = -1
	} else {
		var err error
		if point, _, err = r.moment(point); err != nil {
			return nil, err
		}
		cookie.Value = point
	}
	http.SetCookie(r.w, cookie)
	http.Redirect(r.w, r.Request, r.backUnder(point), http.StatusSeeOther)
	return nil, nil
}

// backUnder returns the URL of the page that a form was on, under another limit. It never leaves the database.
func (r *request) backUnder(point string) string {
	home := "/" + url.PathEscape(r.book.Name) + "/"
	back, err := url.Parse(r.PostFormValue("back"))
	if err != nil || back.Host != "" || back.Scheme != "" || back.Opaque != "" || !strings.HasPrefix(back.EscapedPath(), home) ||
		strings.Contains(back.Path, "\\") || strings.Contains(back.Path, "..") {
		back = &url.URL{Path: "/" + r.book.Name + "/"}
	}
	values := back.Query()
	values.Del(asOf)
	if point != noLimit {
		values.Set(asOf, point)
	}
	back.RawQuery, back.Fragment = values.Encode(), ""
	return back.String()
}

// isNotFound reports whether an error says that something is not there.
func isNotFound(err error) bool { return errors.Is(err, annotator.NotFound) }
