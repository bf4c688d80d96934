package ingest

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/corpus/ingest/mobi"
)

// madeFiles are files that are not in an archive, by their names.
type madeFiles map[string]string

func (f madeFiles) read(name string) ([]byte, error) { return []byte(f[name]), nil }

// kindle reads a Kindle book as an EPUB is read: pages in their order, with a table of contents.
func (j *job) kindle(ctx context.Context, s source) error {
	data, err := j.readData(ctx, s)
	if err != nil {
		return err
	}
	b, err := readKindle(data, j.report)
	if err != nil {
		return inFile(s.path, err)
	}
	return j.spine(ctx, s, b)
}

func readKindle(data []byte, report *Report) (*bookReader, error) {
	b, err := mobi.Read(data)
	switch {
	case errors.Is(err, mobi.ErrProtected):
		return nil, annotator.Errorf(annotator.Misused, "%w", err).WithAdvice("get a copy without copy protection")
	case err != nil:
		return nil, annotator.Errorf(annotator.Misused, "%w", err).
			WithAdvice("get the file again, or make an EPUB of it: "+convertEbook, "FILE")
	}
	p := &publication{title: b.Title, author: b.Author, toc: map[string][]tocEntry{}, matter: map[string]string{}}
	made := madeFiles{}
	name := func(page int) string { return fmt.Sprintf("page-%04d", page+1) }
	for i, page := range b.Pages {
		made[name(i)] = page
		p.spine = append(p.spine, spineItem{name: name(i), linear: true})
	}
	for i, kind := range b.Guide {
		p.callMatter(name(i), kind)
	}
	for _, e := range b.Contents {
		p.toc[name(e.Page)] = append(p.toc[name(e.Page)],
			tocEntry{label: e.Label, fragment: e.Fragment, depth: e.Depth, leaf: e.Leaf})
	}
	return &bookReader{archive: made, publication: p, report: report}, nil
}
