package main

import (
	"context"
	"fmt"
	"io"

	"annotator/codex"
	"annotator/exporters"

	"github.com/spf13/cobra"
)

func newStanding(a *app) *cobra.Command {
	var sort string
	cmd := &cobra.Command{
		Use:   "standing",
		Short: "List where things stand: promises, conflicts, questions",
		Long: longHelp(`
List what the story has left open: promises, conflicts, who knows what, questions, and other states that hold, each with
the quotations that say so. Promises, conflicts and questions that are settled are listed with the fact that settled
them. The first word of a fact's relation says what sort it is of.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator standing
  annotator standing --sort promise --as-of chapter:12
  annotator standing --json`,
	}
	sorts := []string{""}
	for _, m := range codex.Matters() {
		sorts = append(sorts, string(m))
	}
	wordFlag(cmd.Flags(), &sort, "sort", sorts, "", "only this `SORT`: promise, conflict, knowledge, question or state")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, _ []string) (result, error) {
		return readStanding(ctx, v, codex.Matter(sort))
	})
}

// standing is what `annotator standing` prints.
type standing struct {
	limited
	Matters []matter `json:"matters"`
	asked   codex.Matter
}

// matter is what a fact leaves open, or has settled.
type matter struct {
	Sort codex.Matter `json:"sort"`
	exporters.Relation
	Text     string               `json:"text"`
	Settled  string               `json:"settled,omitempty"` // the fact that took its place
	Evidence []exporters.Evidence `json:"evidence"`
}

func readStanding(ctx context.Context, v *codexView, sort codex.Matter) (*standing, error) {
	found, _, err := v.Standing(ctx, 0)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for i := range found {
		ids = append(ids, found[i].Object, found[i].Entry.ID)
	}
	names, err := v.namesOf(ctx, ids)
	s := &standing{limited: v.limited, Matters: []matter{}, asked: sort}
	for i := range found {
		m := &found[i]
		if sort != "" && m.Sort != sort {
			continue
		}
		claim := exporters.NewClaim(m.Claim, v.positions.At)
		shown := matter{
			Sort: m.Sort, Relation: exporters.NewRelation(m.Entry.ID, &claim, m.Object, names),
			Text: codex.WithoutLinks(claim.Text), Evidence: claim.Evidence,
		}
		if m.Settled != nil {
			shown.Settled = codex.WithoutLinks(m.Settled.Text)
		}
		s.Matters = append(s.Matters, shown)
	}
	return s, err
}

// namesOf returns the full names of entries by their ids.
func (v *codexView) namesOf(ctx context.Context, ids []int64) (func(int64) string, error) {
	entries, err := v.Headings(ctx, ids)
	return exporters.NamesOf(entries), err
}

// matterHeadings are the headings of the sorts.
var matterHeadings = map[codex.Matter]string{ //nolint:gochecknoglobals // a constant
	codex.Promise: "promises", codex.Conflict: "conflicts", codex.Knowledge: "who knows what",
	codex.Question: "questions", codex.OpenState: "states",
}

func (s *standing) print(w io.Writer) {
	const most = 40 // states, the newest
	s.printAsOf(w)
	if len(s.Matters) == 0 {
		fmt.Fprintln(w, "nothing is open")
	}
	for _, sort := range codex.Matters() {
		var of []*matter
		for i := range s.Matters {
			if s.Matters[i].Sort == sort {
				of = append(of, &s.Matters[i])
			}
		}
		if len(of) == 0 {
			continue
		}
		fmt.Fprintf(w, "\n%s\n", matterHeadings[sort])
		if more := len(of) - most; more > 0 && s.asked == "" && sort == codex.OpenState {
			fmt.Fprintf(w, "  %d older ones are left out; --sort state lists all\n", more)
			of = of[more:]
		}
		for _, m := range of {
			s.printMatter(w, m)
		}
	}
}

func (s *standing) printMatter(w io.Writer, m *matter) {
	about := fmt.Sprintf("%d:%d, since %s", m.Entry, m.Claim, s.at(m.From))
	if m.Until != nil {
		about += ", " + codex.EndWords(m.Ended) + " " + s.at(*m.Until)
	}
	fmt.Fprintln(w)
	printIndented(w, "  ", oneLine(m.Term)+": "+oneLine(m.Text))
	printIndented(w, "    ", about)
	if m.Settled != "" {
		printIndented(w, "    ", "then: "+oneLine(m.Settled))
	}
	for _, v := range m.Evidence {
		printIndented(w, "    ", fmt.Sprintf("post %d: \"%s\"", v.Post, oneLine(v.Quote)))
	}
}
