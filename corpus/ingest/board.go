package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

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
	title    string           // that the object around the posts gives
	numbers  map[string]int64 // ids of a forum's posts by thread and number
}

// maxDepth bounds how deep documents may be nested, JSON, XML or HTML.
const maxDepth = 512

var (
	errTooDeep = errors.New("nested too deep")
	errUnusual = errors.New("unusual fields")
)

// board reads a file of threads. What comes after a fault in the JSON is left out; a file without any post is an error
// only if it is the only source.
func (j *job) board(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if j.lines == nil {
		j.lines = newLines(j)
	}
	clear(j.lines.threads)
	r := &boardReader{job: j, add: j.addPost, name: filepath.Base(s.path), numbers: map[string]int64{}}
	r.json = json.NewDecoder(fullReader{decodeReader(j.progress.reader(ctx, f), s.path, j.options.Encoding, false)})
	r.json.UseNumber()
	for err == nil {
		_, err = r.value(ctx, 0, anyValue)
	}
	j.lines.before += int64(r.chapters)
	var syntax *json.SyntaxError
	switch {
	case errors.Is(err, io.EOF):
	case errors.As(err, &syntax), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, errTooDeep):
		j.report.leaveOut("the rest of files with broken JSON", fmt.Sprintf("%s from offset %d", r.name, r.json.InputOffset()))
	default:
		return readError(err, s.path)
	}
	if r.posts+r.chapters == 0 {
		j.report.leaveOut("files without posts", r.name)
	}
	return nil
}

// fullReader fills the buffer of each read. A JSON decoder looks at all blank space again after each read, and doubles its
// buffer, so that full reads take linear time.
type fullReader struct{ r io.Reader }

// Read implements io.Reader.
func (f fullReader) Read(p []byte) (int, error) {
	n, err := io.ReadFull(f.r, p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return n, err
}

// place is where a value stands.
type place int

const (
	anyValue place = iota
	postList       // what "posts" names: a list, or an object by the posts' numbers
	post
)

// composite stands for a list or an object among scalars.
const composite = scalar("\x00")

// value reads a JSON value, and every post in it. Of a string or number it returns the text.
func (r *boardReader) value(ctx context.Context, depth int, at place) (scalar, error) {
	if depth > maxDepth {
		return "", errTooDeep
	}
	begin := r.json.InputOffset()
	token, err := r.json.Token()
	if err != nil {
		return "", err
	}
	inner := anyValue
	if at == postList {
		inner, r.thread = post, 0
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return composite, r.each(func() error { _, err := r.value(ctx, depth+1, inner); return err })
		}
		if at == postList {
			return composite, r.each(func() error {
				if _, err := r.json.Token(); err != nil {
					return noEnd(err)
				}
				_, err := r.value(ctx, depth+1, post)
				return noEnd(err)
			})
		}
		return composite, r.object(ctx, depth, at == post, begin)
	case string:
		return scalar(token), nil
	case json.Number:
		return scalar(token), nil
	case bool:
		return scalar(strconv.FormatBool(token)), nil
	}
	return "", nil
}

// object reads an object. A post is one by its place; a chapter is an object with text elsewhere.
func (r *boardReader) object(ctx context.Context, depth int, isPost bool, begin int64) error {
	fields := map[string]scalar{}
	err := r.each(func() error {
		token, err := r.json.Token()
		if err != nil {
			return noEnd(err)
		}
		key, _ := token.(string)
		at := anyValue
		switch {
		case isPost:
		case key == "posts":
			at = postList
		case key == "op":
			at = post
		}
		value, err := r.value(ctx, depth+1, at)
		if err != nil {
			return noEnd(err)
		}
		if key == "title" && !isPost {
			r.title = string(value)
		}
		if len(fields) < maxFields {
			fields[key] = value
		}
		return nil
	})
	if err != nil {
		return err
	}
	switch {
	case isPost:
		return r.post(ctx, fields, begin)
	case r.posts == 0 && (fields["text"] != "" || fields["content"] != "" || fields["body"] != ""):
		return r.chapter(ctx, fields, begin)
	}
	return nil
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

// first is the first of some fields that has a value.
func first(fields map[string]scalar, names ...string) scalar {
	for _, name := range names {
		if fields[name] != "" {
			return fields[name]
		}
	}
	return ""
}

func (r *boardReader) post(ctx context.Context, fields map[string]scalar, begin int64) error {
	number := first(fields, "no", "num", "id")
	where := fmt.Sprintf("%s post %s", r.name, strings.TrimPrefix(string(number), string(composite)))
	p, fault := r.convert(fields, number)
	if fault == nil {
		r.posts++
	}
	return r.addOrLeaveOut(ctx, p, fault, begin, where)
}

// addOrLeaveOut adds a post, or leaves it out with what is wrong with it.
func (r *boardReader) addOrLeaveOut(ctx context.Context, p *forumPost, fault error, begin int64, where string) error {
	if fault != nil {
		r.job.report.leaveOut("posts with "+fault.Error(), where)
		return nil //nolint:nilerr // the report has it
	}
	p.origin = corpus.Origin{Document: r.name, Offset: begin}
	return r.add(ctx, p, where)
}

// convert makes a post of fields as 4chan, vichan, FoolFuuka, 2ch and Discourse name them.
func (r *boardReader) convert(fields map[string]scalar, number scalar) (*forumPost, error) {
	comment := first(fields, "com", "comment_processed", "cooked", "comment_sanitized", "comment", "body", "message", "raw")
	name, title := first(fields, "name", "username", "author"), first(fields, "sub", "subject", "title")
	for _, field := range []scalar{number, comment, name, title} {
		if field == composite {
			return nil, errUnusual
		}
	}
	id, err := number.id()
	if err != nil {
		return nil, err
	}
	p := &forumPost{}
	p.ID = id
	if p.Thread, err = r.threadOf(first(fields, "resto", "thread_num", "parent", "topic_id"), id); err != nil {
		return nil, err
	}
	if at := first(fields, "time", "timestamp", "created_at"); at != "" {
		if p.Time, err = at.unix(); err != nil {
			return nil, err
		}
	}
	p.Name, p.Subject = commentText(string(name)).text, commentText(string(title)).text
	p.Trip = poster(fields)
	text := commentText(string(comment))
	p.Body, p.quotes = text.text, text.quotes
	if file := first(fields, "filename", "media_filename"); file != "" && file != composite {
		p.file = corpus.File{URL: string(fields["tim"] + fields["ext"]), Name: string(file + fields["ext"])}
	}
	if fields["post_number"] != "" {
		r.forumPost(p, fields)
	}
	return p, nil
}

// forumPost adds what a forum knows that numbers the posts of each topic: the topic's title, and the post that is
// replied to.
func (r *boardReader) forumPost(p *forumPost, fields map[string]scalar) {
	numberKey := func(number scalar) string { return fmt.Sprintf("%d %s", p.Thread, number) }
	r.numbers[numberKey(fields["post_number"])] = p.ID
	if replied, ok := r.numbers[numberKey(fields["reply_to_post_number"])]; ok && !slices.Contains(p.quotes, replied) {
		p.quotes = append(p.quotes, replied)
	}
	if slug := fields["topic_slug"]; slug != "" && p.Subject == "" && fields["post_number"] == "1" {
		p.Subject = strings.ReplaceAll(string(slug), "-", " ")
	}
}

// threadOf is what the post replies to. In a thread's own list some archives do not say it again: then it is the list's
// first post.
func (r *boardReader) threadOf(replyTo scalar, id int64) (int64, error) {
	switch replyTo {
	case "0":
		r.thread = id
	case "":
		if r.thread == 0 {
			r.thread = id
		}
	default:
		replied, err := replyTo.id()
		if err != nil {
			return 0, err
		}
		r.thread = replied
	}
	return r.thread, nil
}

// poster identifies the poster: the trip code, else the id that the board gave.
func poster(fields map[string]scalar) string {
	id := first(fields, "poster_hash", "user_id")
	if fields["no"] != "" || fields["num"] != "" {
		id = first(fields, "poster_hash", "id")
	}
	if trip := first(fields, "trip", "tripcode", "trip_code"); trip != "" && trip != composite {
		return string(trip)
	}
	if id == "" || id == composite {
		return ""
	}
	return "ID:" + strings.TrimPrefix(string(id), "ID:")
}

// chapter adds an object that is a chapter or a post of a list without threads.
func (r *boardReader) chapter(ctx context.Context, fields map[string]scalar, begin int64) error {
	r.chapters++
	where := fmt.Sprintf("%s entry %d", r.name, r.chapters)
	fields["thread"] = first(fields, "thread", "thread_id", "chapter", "number")
	body := first(fields, "body", "text", "content")
	record := &record{
		Thread: fields["thread"], ID: first(fields, "id", "no"), Title: fields["title"], Name: first(fields, "name", "author"),
		Trip: fields["trip"], Subject: fields["subject"], Time: first(fields, "time", "date"), Body: &body,
	}
	if body == composite || record.Title == composite || record.Thread == composite {
		return r.addOrLeaveOut(ctx, nil, errUnusual, begin, where)
	}
	p, fault := r.job.lines.fromRecord(record, int64(r.chapters))
	return r.addOrLeaveOut(ctx, p, fault, begin, where)
}
