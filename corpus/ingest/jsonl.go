package ingest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"annotator"
	"annotator/corpus"
)

// maxLine bounds a line of JSON, in bytes.
const maxLine = 16 << 20

// mintedIDs is where the ids begin that posts without one are given, once others in the source have ids of their own.
const mintedIDs = 1 << 40

var (
	errNoBody  = errors.New("no body")
	errTooLong = errors.New("more than 16 MiB")
)

// lines reads posts, and gives ids, threads and times to those that have none. Numbers and times go on from one source
// to the next.
type lines struct {
	job      *job
	threads  map[string]int64 // of this source, by their names, where they have no numbers
	names    map[int64]string // of the threads so far, by the number that each has; empty where it is its own
	numbered bool             // a post had an id of its own
	before   int64            // lines of the sources before
	last     int64            // time of the post before
	posts    int              // of this source
	offset   int64            // where the line begins in it
	chat     chat
}

func newLines(j *job) *lines {
	return &lines{job: j, threads: map[string]int64{}, names: map[int64]string{}}
}

func (j *job) jsonl(ctx context.Context, s source) error {
	f, err := s.open()
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := j.lines
	clear(in.threads)
	in.posts, in.offset, in.chat = 0, 0, chat{}
	r := bufio.NewReaderSize(decodeReader(j.progress.reader(ctx, f), s.path, j.options.Encoding, false), 64<<10)
	for n := int64(1); ; n++ {
		line, err := readLine(r)
		switch {
		case errors.Is(err, io.EOF) && in.posts == 0:
			return j.report.nothingFound("%s has no line that is a post", s.path)
		case errors.Is(err, io.EOF):
			in.before += n - 1
			return nil
		case err != nil && !errors.Is(err, errTooLong):
			return readError(err, s.path)
		}
		if err := in.line(ctx, line, err, n, filepath.Base(s.path)); err != nil {
			return err
		}
		in.offset += int64(len(line))
	}
}

// line adds the n-th line's post, or leaves the line out with the reason. Blank lines are nothing.
func (l *lines) line(ctx context.Context, line []byte, err error, n int64, file string) error {
	if err == nil && len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	where := fmt.Sprintf("%s line %d", file, n)
	var p *forumPost
	if err == nil {
		p, err = l.post(line, n)
	}
	if errors.Is(err, errChatHead) {
		return nil
	}
	if err != nil {
		l.job.report.leaveOut("lines with "+err.Error(), where)
		return nil //nolint:nilerr // the report has it
	}
	if l.posts++; l.chat.names != nil && p.title == "" {
		p.title = stem(file)
	}
	p.origin.Document, p.origin.Offset = file, l.offset
	return l.job.addPost(ctx, p, where)
}

// readLine returns the next line without its end. The error is errTooLong for a line that was skipped, io.EOF for none.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) == 0 && !long:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, err
		case long:
			return nil, errTooLong
		}
		return line, nil
	}
}

// post makes a post of the n-th line.
func (l *lines) post(line []byte, n int64) (*forumPost, error) {
	f, err := parseFields(line)
	if err != nil {
		return nil, err
	}
	if l.chat.isChatHead(f) {
		return nil, errChatHead
	}
	return l.fromFields(f, n)
}

// fromFields makes a post of the n-th object. Lines are in the story's order: one without a time comes just after the
// one before it.
func (l *lines) fromFields(f *fields, n int64) (*forumPost, error) {
	p := &forumPost{title: f.text("title"), file: corpus.File{URL: f.text("file_url"), Name: f.text("file_name")}}
	p.Name, p.Trip, p.Subject = f.text("name", "author"), f.text("trip", "trip_code"), f.text("subject", "sub")
	if id := f.text("userid", "user_id"); p.Trip == "" && id != "" {
		p.Trip = "ID:" + id
	}
	p.Body = f.text(bodyFields...)
	p.Time = f.time(l.last+1, "time")
	if f.has("mes") {
		l.chat.take(p, f, l.last, l.sceneTokens())
	}
	// Where there are no ids, lines are counted; small numbers cost a model few tokens. Where some posts have ids and
	// some have not, these get numbers far from any that were seen.
	numbered := f.first("id", "post_id", "no") != ""
	switch {
	case numbered:
		p.ID = f.id("id", "post_id", "no")
		p.origin.ID = p.ID
	case l.numbered:
		p.ID = mintedIDs + l.before + n
	default:
		p.ID = l.before + n
	}
	thread := f.text("thread", "thread_id", "chapter", "number", "title")
	if !f.has(bodyFields...) {
		f.fail(errNoBody)
	}
	f.lists(p)
	if f.fault != nil {
		return nil, f.fault
	}
	l.enterThread(p, thread)
	l.last, l.numbered = p.Time, l.numbered || numbered
	return p, nil
}

// bodyFields are the names that the text of a post or chapter goes by.
var bodyFields = []string{"body", "text", "content", "mes"}

func (l *lines) sceneTokens() int {
	if l.job == nil || l.job.options.SceneTokens == 0 {
		return DefaultSceneTokens
	}
	return l.job.options.SceneTokens
}

// lists adds the tags of a line's post, and the posts that it quotes.
func (f *fields) lists(p *forumPost) {
	var lists struct{ Tags, Links []scalar }
	if f.object != nil && json.Unmarshal(f.object, &lists) != nil {
		f.fail(errMistyped)
	}
	for _, tag := range lists.Tags {
		p.Tags = append(p.Tags, string(tag))
	}
	for _, link := range lists.Links {
		quoted, err := link.id()
		f.fail(err)
		p.quotes = append(p.quotes, quoted)
	}
}

// enterThread finds the thread by its number, else by its name. A name's thread, like that of posts without any, is
// numbered after the first post in it.
func (l *lines) enterThread(p *forumPost, thread string) {
	if id, err := scalar(thread).id(); err == nil {
		if p.Thread = l.free(id, ""); p.Thread == id {
			return // its number says which it is
		}
	} else {
		if _, known := l.threads[thread]; !known {
			l.threads[thread] = l.free(p.ID, thread)
		}
		p.Thread = l.threads[thread]
	}
	if p.title == "" {
		p.title = thread
	}
}

// free returns a number for a thread. If a thread with a name has it and this one has no name, or the reverse, it
// returns another. There are books with a prologue, and chapters from 1.
func (l *lines) free(id int64, name string) int64 {
	if owner, taken := l.names[id]; taken && owner != name {
		id += mintedIDs
	}
	l.names[id] = name
	return id
}

// readError gives a failure of reading its words, unless it has its own.
func readError(err error, path string) error {
	if annotator.KindOf(err) != "" || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return annotator.Errorf(annotator.Storage, "read %s: %w", path, err)
}
