package ingest

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
)

// job is one import under way.
type job struct {
	options  Options
	writer   *corpus.Writer
	report   *Report
	progress *meter
	posts    int64 // made so far out of books; the next one's id is one more
	forum    forum
	lines    *lines
	sources  []source
	former   formerCuts // of the corpus that is there; nil for none
	oneEach  bool       // a file of a folder is a chapter, unless it has several
}

// importers names what reads each format. Forums bring their own ids, books are given theirs: one corpus cannot hold
// both.
func (j *job) importer(f Format) (read func(context.Context, source) error, ofBook bool) {
	switch f {
	case EPUB:
		return j.epub, true
	case Text:
		return j.whole(false, (*book).readPlain), true
	case HTML:
		return j.whole(true, (*book).readHTML), true
	case FB2:
		return j.whole(true, (*book).readFB2), true
	case TEI:
		return j.tei, true
	case DOCX:
		return j.packed(readDOCX), true
	case ODT:
		return j.odt, true
	case RTF:
		return j.rtf, true
	case MOBI:
		return j.kindle, true
	case PDF:
		return j.pdf, true
	case JSONL:
		return j.jsonl, false
	case Board:
		return j.board, false
	}
	return nil, false
}

func (j *job) run(ctx context.Context, sources []source) error {
	j.forum, j.lines, j.sources = newForum(), newLines(j), sources
	j.oneEach = len(sources) > 1 && len(j.options.Sources) == 1
	_, books := j.importer(sources[0].format)
	j.report.Format = sources[0].format
	for _, s := range sources {
		read, book := j.importer(s.format)
		if read == nil && !IsDatabase(s.path) {
			return annotator.Errorf(annotator.Misused, "%s is no SQLite database",
				s.path).WithReason(annotator.ReasonWrongFormat)
		}
		if read == nil {
			return annotator.Errorf(annotator.Misused, "%s is a SQLite database, and not the only source", s.path).
				WithAdvice("a corpus needs no import: name it alone")
		}
		if book != books {
			return annotator.Errorf(annotator.Misused, "%s is %s, %s is %s: books and forums do not go into one corpus",
				sources[0].path, sources[0].format, s.path, s.format).WithReason(annotator.ReasonMixedFormats)
		}
		j.progress.start(s)
		s, err := s.converted(ctx, j.report)
		if err != nil {
			return err
		}
		before := j.report.clone()
		err = read(ctx, s)
		if e := (*annotator.Error)(nil); books && s.stray && errors.As(err, &e) && e.Kind == annotator.Misused {
			*j.report, err = before, nil
			j.report.leaveUnread(filepath.Base(s.path), strings.TrimPrefix(e.Err.Error(), "import "+s.path+": "))
		}
		if err != nil {
			return err
		}
	}
	if !books {
		if err := j.closeForum(ctx); err != nil {
			return err
		}
	}
	// What the files of a folder say of themselves are titles of chapters or volumes.
	if j.report.Title == "" || j.oneEach && books {
		j.report.Title = titleOf(j.options.Sources[0])
	}
	return nil
}

// addChapter writes a chapter as a thread whose id is that of its first post, as on a forum. All times are 0: a book
// does not say when, and posts of one time are in the order of their ids.
func (j *job) addChapter(ctx context.Context, c *chapter) error {
	scenes := j.former.cut(c.blocks, j.options.SceneTokens)
	if len(scenes) == 0 {
		return nil
	}
	thread := j.posts + 1
	if err := j.writer.Thread(ctx, thread, c.title); err != nil {
		return err
	}
	for i, scene := range scenes {
		j.posts++
		p := annotator.Post{
			ID: j.posts, Thread: thread, Name: j.report.Author, Body: scene.text,
			Tags: []string{annotator.TagStory, annotator.TagSceneStart, "story_post"},
		}
		if i == 0 {
			p.Subject = c.title
		}
		if _, err := j.writer.Post(ctx, &p, corpus.File{}, nil); err != nil {
			return err
		}
		if err := j.writer.Origin(ctx, p.ID, corpus.Origin{
			Document: scene.doc,
			Offset:   int64(scene.offset),
		}); err != nil {
			return err
		}
	}
	return nil
}

// keeps reports whether a part is taken into the story.
func (j *job) keeps(part string) bool { return slices.Contains(j.options.Keep, part) }
