package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
)

// boardReader reads one file: a thread or a list of threads, as imageboards, their archives and forums publish them, or
// a list of chapters.
type boardReader struct {
	job      *job
	add      func(ctx context.Context, p *forumPost, where string) error
	name     string
	json     *json.Decoder
	posts    int
	chapters int              // objects with text that are no posts
	thread   int64            // of the post before
	threads  map[int64]bool   // that were read
	numbers  map[string]int64 // ids of a forum's posts by thread and number
}

// maxDepth bounds how deep documents may be nested, JSON, XML or HTML.
const maxDepth = 512

var errTooDeep = errors.New("nested too deep")

// board reads a file of threads. Text after a fault in the JSON is left out. A file without any post is an error only
// if it is the only source.
func (j *job) board(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	clear(j.lines.threads)
	in := fullReader{decodeReader(j.progress.reader(ctx, f), s.path, j.options.Encoding, false)}
	r := newBoardReader(j, j.addPost, filepath.Base(s.path), in)
	for err == nil {
		_, err = r.value(ctx, 0)
	}
	j.lines.before += int64(r.chapters)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTooDeep):
		j.report.leaveOut("the rest of files with broken JSON",
			fmt.Sprintf("%s from offset %d", r.name, r.json.InputOffset()))
	default:
		return readError(err, s.path)
	}
	if r.posts+r.chapters == 0 {
		j.report.leaveOut("files without posts", r.name)
	}
	return nil
}

func newBoardReader(j *job, add func(context.Context, *forumPost, string) error, name string,
	in io.Reader,
) *boardReader {
	r := &boardReader{
		job: j, add: add, name: name, json: json.NewDecoder(in), threads: map[int64]bool{},
		numbers: map[string]int64{},
	}
	r.json.UseNumber()
	return r
}

// fullReader fills the buffer of each read. A JSON decoder looks at all blank space again after each read, and doubles
// its buffer, so that full reads take linear time.
type fullReader struct{ r io.Reader }

// Read implements io.Reader.
func (f fullReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// value reads a JSON value, and every post in it. Of a string or number it returns the text.
func (r *boardReader) value(ctx context.Context, depth int) (*scalar, error) {
	if depth > maxDepth {
		return nil, errTooDeep
	}
	begin := r.json.InputOffset()
	token, err := r.json.Token()
	if err != nil || token == nil {
		return nil, err
	}
	value := composite
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return &value, r.each(func() error { _, err := r.value(ctx, depth+1); return err })
		}
		return &value, r.object(ctx, depth, begin)
	case string:
		value = scalar(token)
	default:
		value = scalar(fmt.Sprint(token))
	}
	return &value, nil
}

// object reads an object. What "posts" and "op" name are posts; another object with text is a chapter. The title of an
// object around the posts of one thread is that thread's.
func (r *boardReader) object(ctx context.Context, depth int, begin int64) error {
	f := &fields{values: map[string]*scalar{}}
	posts, threads, inner := r.posts, len(r.threads), ""
	err := r.each(func() error {
		token, err := r.json.Token()
		if err != nil {
			return noEnd(err)
		}
		key, _ := token.(string)
		switch key {
		case "posts":
			return noEnd(r.postList(ctx))
		case "op":
			return noEnd(r.post(ctx))
		}
		chapters := r.chapters
		value, err := r.value(ctx, depth+1)
		if r.chapters > chapters && key != "chapters" {
			inner = key
		}
		if err == nil && len(f.values) < maxFields {
			f.values[key] = value
		}
		return noEnd(err)
	})
	switch {
	case err != nil:
		return err
	case r.posts > posts && len(r.threads) == threads+1:
		if title := f.text("title"); title != "" {
			r.job.forum.entitle(&forumPost{Post: annotator.Post{Thread: r.thread}, title: title})
		}
	case r.posts == 0 && f.has(bodyFields...) && inner != "":
		return annotator.Errorf(annotator.Misused, "%s has posts with further posts in a list %q, which is not known",
			r.name, inner).WithAdvice("call the lists of posts \"posts\", with the first post of a thread in them, " +
			"or write a line of JSON for each post, with id, thread, name and body")
	case r.posts == 0 && f.has(bodyFields...):
		r.chapters++
		p, fault := r.job.lines.fromFields(f, int64(r.chapters))
		return r.addOrLeaveOut(ctx, p, fault, begin, fmt.Sprintf("%s entry %d", r.name, r.chapters))
	}
	return nil
}

// postList reads what "posts" names: a list, or an object by the posts' numbers.
func (r *boardReader) postList(ctx context.Context) error {
	r.thread = 0
	token, err := r.json.Token()
	if err != nil || token != json.Delim('[') && token != json.Delim('{') {
		return err
	}
	return r.each(func() error {
		if token == json.Delim('{') {
			if _, err := r.json.Token(); err != nil {
				return noEnd(err)
			}
		}
		return noEnd(r.post(ctx))
	})
}

// post reads a post.
func (r *boardReader) post(ctx context.Context) error {
	begin := r.json.InputOffset()
	var object json.RawMessage
	if err := r.json.Decode(&object); err != nil {
		return err
	}
	f, err := parseFields(object)
	if err != nil {
		return nil //nolint:nilerr // a value that is no object says nothing
	}
	p := r.convert(f)
	if f.fault == nil {
		r.posts++
	}
	return r.addOrLeaveOut(ctx, p, f.fault, begin, fmt.Sprintf("%s post %s", r.name, f.text("no", "num", "id")))
}

// maxFields bounds what is remembered of an object.
const maxFields = 1000

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

// addOrLeaveOut adds a post, or leaves it out with what is wrong with it.
func (r *boardReader) addOrLeaveOut(ctx context.Context, p *forumPost, fault error, begin int64, where string) error {
	if fault != nil {
		r.job.report.leaveOut("posts with "+fault.Error(), where)
		return nil //nolint:nilerr // the report has it
	}
	p.origin.Document, p.origin.Offset = r.name, begin
	return r.add(ctx, p, where)
}

// convert makes a post of fields as 4chan, vichan, FoolFuuka, 2ch and Discourse name them.
func (r *boardReader) convert(f *fields) *forumPost {
	p := &forumPost{}
	p.ID = f.id("no", "num", "id")
	p.origin.ID = p.ID
	p.Thread = r.threadOf(f, p.ID)
	p.Time = f.time(0, "time", "timestamp", "created_at")
	p.Name = commentText(f.text("name", "username", "author")).text
	p.Subject = commentText(f.text("sub", "subject", "title")).text
	p.Trip = poster(f)
	text := commentText(f.text("com", "comment_processed", "cooked", "comment_sanitized", "comment", "body", "message",
		"raw"))
	p.Body, p.quotes = text.text, text.quotes
	if file := f.text("filename", "media_filename"); file != "" {
		p.file = corpus.File{URL: f.text("tim") + f.text("ext"), Name: file + f.text("ext")}
	}
	// A forum numbers the posts of each topic, and says by such a number which is replied to.
	numberKey := func(field string) string { return fmt.Sprintf("%d %s", p.Thread, f.text(field)) }
	if f.has("post_number") {
		r.numbers[numberKey("post_number")] = p.ID
	}
	if replied, ok := r.numbers[numberKey("reply_to_post_number")]; ok && !slices.Contains(p.quotes, replied) {
		p.quotes = append(p.quotes, replied)
	}
	if p.Subject == "" && f.text("post_number") == "1" {
		p.Subject = strings.ReplaceAll(f.text("topic_slug"), "-", " ")
	}
	return p
}

// threadOf is what the post replies to. In a thread's own list some archives do not say it again: then it is the list's
// first post.
func (r *boardReader) threadOf(f *fields, id int64) int64 {
	names := []string{"resto", "thread_num", "parent", "topic_id"}
	switch replyTo := f.first(names...); {
	case replyTo == "0", replyTo == "" && r.thread == 0:
		r.thread = id
	case replyTo != "":
		r.thread = f.id(names...)
	}
	r.threads[r.thread] = true
	return r.thread
}

// poster identifies the poster: the trip code, else the id that the board gave.
func poster(f *fields) string {
	id := f.text("poster_hash", "user_id", "userid")
	if f.has("no", "num") {
		id = f.text("poster_hash", "id")
	}
	if trip := f.text("trip", "tripcode", "trip_code"); trip != "" || id == "" {
		return trip
	}
	return "ID:" + strings.TrimPrefix(id, "ID:")
}
