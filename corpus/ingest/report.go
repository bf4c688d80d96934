package ingest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/corpus"
)

// Report says what an import made, and what it left out. The counts are those of the finished corpus, by reading it.
type Report struct {
	Title   string     `json:"title"`
	Author  string     `json:"author,omitempty"`
	Format  Format     `json:"format"`
	Account Account    `json:"account"`
	LeftOut []Omission `json:"left_out,omitempty"`
	Unread  int        `json:"unread,omitempty"` // files of the source that cannot be read; LeftOut has why
	Notes   []string   `json:"notes,omitempty"`  // what was decided where the source did not say, a sentence each
	Corpus  string     `json:"-"`                // the corpus to use

	// Changes are those of the source since the corpus was made or last changed; nil for none.
	Changes  *corpus.Changes `json:"changes,omitempty"`
	Existing bool            `json:"-"` // it was there before, nothing was written

	Unsure []annotator.Reason `json:"-"` // what the user may have to decide otherwise, each once

	corpus.Stats `json:"-"`
}

// Omission is something that was left out, and why.
type Omission struct {
	Why      string   `json:"why"`
	Count    int      `json:"count"`
	Examples []string `json:"examples,omitempty"` // where, at most maxExamples of them
}

const maxExamples = 5

// leaveOut counts something left out for a reason. Reasons are few: what differs from case to case is where.
func (r *Report) leaveOut(why, where string) { r.leaveOutMany(why, where, 1) }

func (r *Report) leaveOutMany(why, where string, n int) {
	if n == 0 {
		return
	}
	i := 0
	for i < len(r.LeftOut) && r.LeftOut[i].Why != why {
		i++
	}
	if i == len(r.LeftOut) {
		r.LeftOut = append(r.LeftOut, Omission{Why: why})
	}
	o := &r.LeftOut[i]
	o.Count += n
	if where != "" && len(o.Examples) < maxExamples {
		o.Examples = append(o.Examples, where)
	}
}

// leaveUnread counts a file that cannot be read.
func (r *Report) leaveUnread(name, why string) {
	r.Unread++
	r.leaveOut("files that cannot be read", fmt.Sprintf("%s (%s)", name, why))
}

// clone is a report that does not change with the other.
func (r *Report) clone() Report {
	c := *r
	c.Account.Parts, c.LeftOut, c.Notes = slices.Clone(r.Account.Parts), slices.Clone(r.LeftOut), slices.Clone(r.Notes)
	return c
}

func (r *Report) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Sprintf(format, args...))
}

// unsure notes a decision that the user may have to make otherwise.
func (r *Report) unsure(reason annotator.Reason) {
	if !slices.Contains(r.Unsure, reason) {
		r.Unsure = append(r.Unsure, reason)
	}
}

// String renders the report as a few lines of plain text.
func (r *Report) String() string {
	var b strings.Builder
	b.WriteString(r.Title)
	if r.Author != "" {
		b.WriteString(", by " + r.Author)
	}
	if share := r.Account.keptShare(); share < lowShare {
		b.WriteString(": only " + percent(share) + " of the text is kept")
	}
	threads := annotator.Quantity(r.Threads, "thread")
	if r.Empty > 0 {
		threads += fmt.Sprintf(" (and %d without a scene)", r.Empty)
	}
	fmt.Fprintf(&b, "\n%s: %s, %s, %s (%d of the story), %s\n", r.Corpus,
		threads, annotator.Quantity(r.Scenes, "scene"), annotator.Quantity(r.Posts, "post"), r.StoryPosts,
		annotator.Quantity(r.Words, "word"))
	if r.Existing {
		b.WriteString("it is a corpus already, nothing was written\n")
	} else if r.Changes != nil {
		b.WriteString("the source has changed: " + r.Changes.String() + "\n")
	}
	for _, n := range r.Notes {
		b.WriteString(n + "\n")
	}
	b.WriteString(r.Account.String())
	for _, o := range r.LeftOut {
		b.WriteString(o.String() + "\n")
	}
	return b.String()
}

// String renders an omission as one line.
func (o Omission) String() string {
	line := fmt.Sprintf("left out: %s (%d)", o.Why, o.Count)
	if len(o.Examples) == 0 {
		return line
	}
	line += ": " + strings.Join(o.Examples, ", ")
	if len(o.Examples) == maxExamples && o.Count > maxExamples {
		line += ", ..."
	}
	return line
}

// nothingFound returns the error that nothing was found to import, with the reason that the report shows.
func (r *Report) nothingFound(format string, args ...any) error {
	err := annotator.Errorf(annotator.Misused, format, args...)
	if len(r.Account.Parts) > 0 {
		largest := slices.MaxFunc(r.Account.Parts, func(a, b Part) int {
			return cmp.Compare(a.Characters, b.Characters)
		})
		return err.WithReason(annotator.ReasonLeftOut, largest.Name, strconv.Quote(largest.Begins))
	}
	if len(r.LeftOut) == 0 {
		return err.WithReason(annotator.ReasonEmptySource)
	}
	return err.WithReason(annotator.ReasonNothingFound, r.LeftOut[0].String())
}

func sourceNames(paths []string) string {
	if len(paths) == 1 {
		return paths[0]
	}
	return fmt.Sprintf("%s and %s more", paths[0], annotator.Quantity(len(paths)-1, "source"))
}

// reportOf is the report of a corpus that is there already.
func reportOf(ctx context.Context, path string) (*Report, error) {
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = db.Close() }()
	said, err := db.Meta(ctx, corpus.MetaReport)
	if err != nil {
		return nil, err
	}
	r := &Report{Format: SQLite}
	if said != "" {
		// Another program's meta table may hold anything: the counts are ours all the same.
		_ = json.Unmarshal([]byte(said), r)
	}
	r.Corpus, r.Existing = path, true
	if r.Title == "" {
		if r.Title, err = db.Title(ctx); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// AccountOf returns the account of the import that made a corpus; an empty one if none is recorded.
func AccountOf(ctx context.Context, path string) (Account, error) {
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return Account{}, err
	}
	said, err := db.Meta(ctx, corpus.MetaReport)
	if err := errors.Join(err, db.Close()); err != nil {
		return Account{}, err
	}
	r := Report{}
	_ = json.Unmarshal([]byte(said), &r) // another program's table may hold anything
	return r.Account, nil
}

// Count counts what a corpus has, as a run will read it. It reads all of it.
func (r *Report) Count(ctx context.Context, path string) error {
	db, err := corpus.Open(ctx, path)
	if err != nil {
		return err
	}
	r.Stats, err = db.Stats(ctx)
	return errors.Join(err, db.Close())
}

// titleOf returns the title of a source without one: the name of the file or the folder.
func titleOf(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return stem(path)
	}
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return filepath.Base(path)
}

// stem is a file's name without folder and extension.
func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}
