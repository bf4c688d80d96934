package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"annotator/corpus"
)

// boardPost is a post as imageboards publish it.
type boardPost struct {
	No       scalar `json:"no"`
	ReplyTo  scalar `json:"resto"` // the thread, 0 or nothing in its opening post
	Time     scalar `json:"time"`
	Name     scalar `json:"name"`
	Trip     scalar `json:"trip"`
	PosterID scalar `json:"id"`
	Subject  scalar `json:"sub"`
	Comment  scalar `json:"com"` // HTML; a deleted post has none
	File     scalar `json:"filename"`
	Ext      scalar `json:"ext"`
	Stored   scalar `json:"tim"`
}

// boardReader reads one file: a thread, a list of threads, or an object that holds such a list.
type boardReader struct {
	job    *job
	name   string
	json   *json.Decoder
	posts  int
	thread int64 // of the post before
}

// maxDepth bounds how deep documents may be nested, JSON, XML or HTML.
const maxDepth = 512

var (
	errTooDeep = errors.New("nested too deep")
	errUnusual = errors.New("unusual fields")
)

// board reads a file of threads. What comes after a fault in the JSON is left out; a file without any post is an error only if
// it is the only source.
func (j *job) board(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	r := &boardReader{job: j, name: filepath.Base(s.path)}
	r.json = json.NewDecoder(decodeReader(j.progress.reader(ctx, f), s.path, j.options.Encoding, false))
	for err == nil {
		err = r.value(ctx, 0)
	}
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTooDeep):
		j.report.leaveOut("the rest of files with broken JSON", fmt.Sprintf("%s from offset %d", r.name, r.json.InputOffset()))
	default:
		return readError(err, s.path)
	}
	if r.posts == 0 {
		j.report.leaveOut("files without posts", r.name)
	}
	return nil
}

// value passes over a JSON value and reads every list called "posts" in it.
func (r *boardReader) value(ctx context.Context, depth int) error {
	if depth > maxDepth {
		return errTooDeep
	}
	token, err := r.json.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('['):
		err = r.each(func() error { return r.value(ctx, depth+1) })
	case json.Delim('{'):
		err = r.each(func() error { return r.member(ctx, depth+1) })
	}
	return err
}

func (r *boardReader) member(ctx context.Context, depth int) error {
	key, err := r.json.Token()
	if err != nil {
		return err
	}
	if key != "posts" {
		return r.value(ctx, depth)
	}
	token, err := r.json.Token()
	if err != nil || token != json.Delim('[') {
		return err
	}
	r.thread = 0
	return r.each(func() error { return r.post(ctx) })
}

// each does something for each element of the list or object that was entered, and leaves it.
func (r *boardReader) each(do func() error) error {
	for r.json.More() {
		if err := do(); err != nil {
			return err
		}
	}
	_, err := r.json.Token()
	return noEnd(err)
}

// noEnd makes an end of the file inside a value the error that it is.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func (r *boardReader) post(ctx context.Context) error {
	var raw boardPost
	err := r.json.Decode(&raw)
	var mistyped *json.UnmarshalTypeError
	broken := err != nil && !errors.Is(err, errNoScalar) && !errors.As(err, &mistyped)
	if broken {
		return noEnd(err)
	}
	where := fmt.Sprintf("%s post %s", r.name, raw.No)
	var p *forumPost
	if err != nil {
		err = errUnusual
	} else {
		p, err = r.convert(&raw)
	}
	if err == nil {
		r.posts++
		return r.job.addPost(ctx, p, where)
	}
	r.job.report.leaveOut("posts with "+err.Error(), where)
	return nil
}

func (r *boardReader) convert(raw *boardPost) (*forumPost, error) {
	id, err := raw.No.id()
	if err != nil {
		return nil, err
	}
	p := &forumPost{}
	p.ID, p.Thread = id, id
	if p.Thread, err = r.threadOf(raw, id); err != nil {
		return nil, err
	}
	if raw.Time != "" {
		if p.Time, err = raw.Time.unix(); err != nil {
			return nil, err
		}
	}
	p.Name, p.Subject = commentText(string(raw.Name)).text, commentText(string(raw.Subject)).text
	p.Trip = poster(raw)
	comment := commentText(string(raw.Comment))
	p.Body, p.quotes = comment.text, comment.quotes
	if raw.File != "" {
		p.file = corpus.File{URL: string(raw.Stored + raw.Ext), Name: string(raw.File + raw.Ext)}
	}
	return p, nil
}

// threadOf is what the post replies to. In a thread's own list some archives do not say it again: then it is the list's
// first post.
func (r *boardReader) threadOf(raw *boardPost, id int64) (int64, error) {
	switch raw.ReplyTo {
	case "0":
		r.thread = id
	case "":
		if r.thread == 0 {
			r.thread = id
		}
	default:
		replied, err := raw.ReplyTo.id()
		if err != nil {
			return 0, err
		}
		r.thread = replied
	}
	return r.thread, nil
}

// poster is what tells one poster from another: the trip code, else the id that the board gave.
func poster(raw *boardPost) string {
	if raw.Trip == "" && raw.PosterID != "" {
		return "ID:" + strings.TrimPrefix(string(raw.PosterID), "ID:")
	}
	return string(raw.Trip)
}
