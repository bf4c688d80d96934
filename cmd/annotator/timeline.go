package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newTimeline(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "timeline [ENTRY]",
		Short: "List the events of the story in its order",
		Long: longHelp(`
List the events of the story in the order in which it tells them, with who and what has a part in each. Of ENTRY, list
the events in which it has a part, and the facts that tell of it. What is of an earlier time than the scene that tells
it is marked.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator timeline
  annotator timeline Marrow --as-of chapter:12
  annotator timeline --json`,
		ValidArgsFunction: completeFrom(listTerms),
	}
	cmd.Args = arguments(0, unlimited)
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, args []string) (result, error) {
		return readTimeline(ctx, v, strings.Join(args, " "))
	})
}

// timeline is what `annotator timeline` prints.
type timeline struct {
	limited
	Events []timelineEvent   `json:"events"`
	Facts  []exporters.Claim `json:"facts,omitempty"` // of the entry
	name   string            // of the entry; empty: of the story
}

// timelineEvent is an event with those who have a part in it.
type timelineEvent struct {
	ID      int64              `json:"id"`
	Term    string             `json:"term"`
	At      annotator.Position `json:"at"`
	Earlier bool               `json:"earlier,omitempty"`
	Text    string             `json:"text"`
	With    []participant      `json:"with"`
}

type participant struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
}

func readTimeline(ctx context.Context, v *codexView, name string) (*timeline, error) {
	events, _, err := v.Events(ctx, 0)
	if err != nil {
		return nil, err
	}
	t := &timeline{limited: v.limited, Events: []timelineEvent{}}
	if name != "" {
		e, err := v.findEntry(ctx, name)
		if err != nil {
			return nil, err
		}
		t.name = e.Name()
		events = slices.DeleteFunc(events, func(event view.Event) bool {
			return event.ID != e.ID && !slices.Contains(event.With, e.ID)
		})
		t.Facts = toldFacts(e, v.positions.At)
	}
	var ids []int64
	for i := range events {
		ids = append(ids, events[i].With...)
	}
	names, err := v.namesOf(ctx, ids)
	for i := range events {
		e := &events[i]
		shown := timelineEvent{
			ID: e.ID, Term: e.Name(), At: v.positions.At(e.At), Earlier: e.Earlier, With: []participant{},
			Text: codex.WithoutLinks(codex.Gist(e.Entry)),
		}
		for _, id := range e.With {
			shown.With = append(shown.With, participant{id, names(id)})
		}
		t.Events = append(t.Events, shown)
	}
	return t, err
}

// toldFacts returns the facts of an entry that readers are shown, in the order of the story.
func toldFacts(e *annotator.Entry, at func(annotator.Place) annotator.Position) (facts []exporters.Claim) {
	claims := slices.Clone(e.Claims)
	slices.SortStableFunc(claims, codex.CompareTold)
	for i := range claims {
		if codex.Shown(&claims[i]) {
			facts = append(facts, exporters.NewClaim(claims[i], at))
		}
	}
	return facts
}

func (t *timeline) print(w io.Writer) {
	t.printAsOf(w)
	if t.name != "" {
		fmt.Fprintf(w, "%s\n", oneLine(t.name))
	}
	if len(t.Events)+len(t.Facts) == 0 {
		fmt.Fprintln(w, "nothing is told")
	}
	facts, chapter := t.Facts, int64(-1)
	enter := func(at annotator.Position) {
		if at.Thread != chapter {
			chapter = at.Thread
			fmt.Fprintln(w)
			thread := annotator.Thread{ID: chapter, Title: t.titles[chapter]}
			printIndented(w, "-- ", oneLine(view.ChapterLabel(&thread)))
		}
	}
	factsUntil := func(scene int) {
		for len(facts) > 0 && facts[0].From.Scene < scene {
			c := &facts[0]
			enter(c.From)
			printIndented(w, "  ", sceneLabel(c.From.Scene, c.Earlier)+c.Thought()+oneLine(codex.WithoutLinks(c.Text)))
			facts = facts[1:]
		}
	}
	for i := range t.Events {
		e := &t.Events[i]
		factsUntil(e.At.Scene)
		enter(e.At)
		printIndented(w, "* ", sceneLabel(e.At.Scene, e.Earlier)+oneLine(e.Term)+": "+oneLine(e.Text))
		var with []string
		for _, p := range e.With {
			with = append(with, oneLine(p.Term))
		}
		if with != nil {
			printIndented(w, "    ", "with "+strings.Join(with, ", "))
		}
	}
	factsUntil(1 << 30)
}

// sceneLabel begins a line of what a scene tells.
func sceneLabel(scene int, earlier bool) string {
	if earlier {
		return fmt.Sprintf("scene %d, of an earlier time: ", scene)
	}
	return fmt.Sprintf("scene %d: ", scene)
}
