package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
)

func newMentions(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "mentions TERM|ID",
		Short: "List where the names of an entry stand in the story",
		Long: longHelp(`
List where the names of an entry stand in the posts that were read, in the story's order, and how often by thread. A
name of several entries means the one that was last named by a name of its own, in the same thread and at most 10 scenes
before. Otherwise it is ambiguous: it is marked, and counts for none of them. With --as-of, list what was known at a
point of the story: a name that is revealed later is not found in earlier posts.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator mentions "Ysolde Marrow"
  annotator mentions Marrow --as-of scene:40 --limit 0
  annotator mentions 12 --json`,
		Args:              arguments(1, unlimited),
		ValidArgsFunction: completeFrom(listTerms),
	}
	limitFlag(cmd.Flags(), &limit, 20, "maximum `MENTIONS`; 0: all")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, args []string) (result, error) {
		return readMentions(ctx, v, strings.Join(args, " "), limit)
	})
}

// mentionList is what `annotator mentions` prints.
type mentionList struct {
	ID       int64               `json:"id"`
	Term     string              `json:"term"`
	AsOf     *annotator.Position `json:"as_of,omitempty"` // with --as-of
	Count    int                 `json:"count"`           // of all mentions that mean the entry
	Unclear  int                 `json:"ambiguous,omitempty"`
	Threads  []threadMentions    `json:"threads"`  // that mention the entry, in the story's order
	Mentions []mentionAt         `json:"mentions"` // at most --limit; ambiguous ones are among them
}

type threadMentions struct {
	Thread int64 `json:"thread"`
	Count  int   `json:"count"`
}

// mentionAt is a mention as it is printed.
type mentionAt struct {
	At        annotator.Position `json:"at"`
	Start     int                `json:"start"`               // in code points of the post's body
	End       int                `json:"end"`                 // exclusive
	Also      []int64            `json:"also,omitempty"`      // other entries with the name
	Ambiguous bool               `json:"ambiguous,omitempty"` // any of them may be meant
}

func readMentions(ctx context.Context, v *codexView, name string, limit int) (*mentionList, error) {
	e, err := v.findEntry(ctx, name)
	if err != nil {
		return nil, err
	}
	found, total, err := v.Mentions(ctx, e.ID, 0, limit)
	if err != nil {
		return nil, err
	}
	list := &mentionList{
		ID: e.ID, Term: e.Name(), AsOf: v.asOf, Threads: []threadMentions{},
		Mentions: []mentionAt{},
	}
	for _, m := range found {
		list.Mentions = append(list.Mentions, mentionAt{v.positions.At(m.Place), m.Start, m.End, m.Others, m.Ambiguous})
	}
	counts, err := v.MentionCounts(ctx, []int64{e.ID})
	for _, c := range counts {
		list.Threads = append(list.Threads, threadMentions{c.Thread, c.Count})
		list.Count += c.Count
	}
	list.Unclear = total - list.Count
	return list, err
}

func (l *mentionList) print(w io.Writer) {
	printAsOf(w, l.AsOf)
	fmt.Fprintf(w, "%s  #%d, %s in %s", oneLine(l.Term), l.ID, annotator.Quantity(l.Count, "mention"),
		annotator.Quantity(len(l.Threads), "thread"))
	if l.Unclear > 0 {
		fmt.Fprintf(w, ", and %d ambiguous", l.Unclear)
	}
	fmt.Fprintln(w)
	rows := make([][]string, len(l.Mentions))
	for i, m := range l.Mentions {
		also := ""
		for _, other := range m.Also {
			also += fmt.Sprintf(" #%d", other)
		}
		switch {
		case m.Ambiguous:
			also = "ambiguous, or of" + also
		case also != "":
			also = "also a name of" + also
		}
		rows[i] = []string{describe(m.At), fmt.Sprintf("%d to %d", m.Start, m.End), also}
	}
	printTable(w, rows)
	printMore(w, len(l.Mentions) < l.Count+l.Unclear)
}
