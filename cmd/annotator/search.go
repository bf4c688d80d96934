package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"

	"github.com/spf13/cobra"
)

// searchOptions are the options of `annotator search`.
type searchOptions struct {
	limit  int
	filter *filter
}

func newSearch(a *app) *cobra.Command {
	var o searchOptions
	cmd := &cobra.Command{
		Use:   "search QUERY",
		Short: "Find entries by words",
		Long: longHelp(`
Find entries by words in their names and definitions: first those that the query names, as "who is the ferryman" names
the Ferryman, then the best matches, entries with all the words, else those with any of them. Beside each stands the
fact that has the most of the words, or else how its definition begins. All characters are literal. An empty query lists
all entries. With --as-of, search the codex as it was at a point of the story, without anything that is told
later.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator search captain
  annotator search --db book.annotator.db --tag place "old harbour"
  annotator search --as-of scene:40 captain
  annotator search --json --limit 100 ""`,
		Args: arguments(1, unlimited),
	}
	flags := cmd.Flags()
	o.filter = filterFlags(flags)
	limitFlag(flags, &o.limit, 20, "maximum `ENTRIES`; 0: all")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, args []string) (result, error) {
		return o.search(ctx, v, strings.Join(args, " "))
	})
}

// searchAnswer is what a search prints.
type searchAnswer struct {
	Query string `json:"query"`
	limited
	Count   int               `json:"count"`
	More    bool              `json:"more"`    // than --limit
	Entries []exporters.Found `json:"entries"` // as in an export, best match first
	Close   []similarEntry    `json:"close"`   // if nothing was found: entries with a similar name
	Alike   []lookAlike       `json:"look_alikes,omitempty"`
	found   []annotator.Entry
	words   []string // of the query
}

func (o *searchOptions) search(ctx context.Context, v *codexView, text string) (*searchAnswer, error) {
	statuses, tags, err := o.filter.resolve()
	if err != nil {
		return nil, err
	}
	page, err := v.FindWhole(ctx, annotator.Query{Text: text, Tags: tags, Statuses: statuses, Limit: o.limit})
	if err != nil {
		return nil, err
	}
	found := page.Entries
	s := &searchAnswer{
		Query: text, limited: v.limited, Count: len(found), More: len(found) < page.Total,
		Entries: exporters.NewFound(found, page.Words, v.positions.At), Close: []similarEntry{},
		found: found, words: page.Words,
	}
	if len(found) == 0 {
		if err := o.filter.explainNone(ctx, v.View, tags); err != nil {
			return nil, err
		}
		entries, err := allEntries(ctx, v.View)
		if err != nil {
			return nil, err
		}
		for _, e := range similarEntries(exporters.Select(entries, statuses, tags), text) {
			s.Close = append(s.Close, similarEntry{e.ID, e.Name()})
		}
	}
	s.Alike, err = lookAlikes(ctx, v.View, text, found)
	return s, err
}

// similarEntry is an entry with a name that is similar to the query.
type similarEntry struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
}

func (s *searchAnswer) print(w io.Writer) {
	s.printAsOf(w)
	if len(s.found) == 0 {
		fmt.Fprintln(w, "no entry was found")
	}
	for _, e := range s.Close {
		fmt.Fprintf(w, "did you mean #%d %s?\n", e.ID, oneLine(e.Term))
	}
	words := codex.NewWords(s.words)
	printEntries(w, s.found, func(e *annotator.Entry) string {
		c := words.Best(e.Claims)
		if c == nil {
			return codex.Gist(e)
		}
		plain := codex.WithoutLinks(c.Text)
		in, _ := words.In(plain)
		text := []rune(plain)
		if start := codex.ExcerptStart(text, in, entryTextLength); start > 0 {
			return "..." + string(text[start:])
		}
		return plain
	})
	printMore(w, s.More)
	printLookAlikes(w, s.Alike)
}
