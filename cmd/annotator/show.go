package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newShow(a *app) *cobra.Command {
	var history bool
	cmd := &cobra.Command{
		Use:   "show ENTRY",
		Short: "Show an entry with its facts and quotations",
		Long: longHelp(`
Show an entry: its names and where each is first used, its facts, and the quotations that support them. ENTRY is its
id or any of its names. --json also has the posts of the quotations, and where in them they are. --history
lists every change: when and where in the story it was made, and by whom.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator show "Ysolde Marrow"
  annotator show 12 --history
  annotator show --db book.annotator.db --json Marrow
  annotator show Marrow --as-of scene:40`,
		Args:              arguments(1, unlimited),
		ValidArgsFunction: completeFrom(listTerms),
	}
	cmd.Flags().BoolVar(&history, "history", false, "show every revision")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, args []string) (result, error) {
		return readEntry(ctx, v, strings.Join(args, " "), history)
	})
}

// shownEntry is what show prints.
type shownEntry struct {
	exporters.Entry
	limited
	History []exporters.Change `json:"history,omitempty"` // with --history, oldest first
	// relations that the entry and others have to each other, in the order of the story
	Relations []exporters.Relation `json:"relations,omitempty"`
	Alike     []lookAlike          `json:"look_alikes,omitempty"`
	name      string
	places    map[int64]annotator.Position // of the posts of quotations
	target    *annotator.Entry             // that it was merged into; nil if it was not
}

func readEntry(ctx context.Context, v *codexView, name string, history bool) (*shownEntry, error) {
	e, err := v.findEntry(ctx, name)
	if err != nil {
		return nil, err
	}
	shown := &shownEntry{Entry: exporters.NewEntry(e, v.positions.At), limited: v.limited, name: e.Name()}
	former, err := v.FormerPosts(ctx)
	if err != nil {
		return nil, err
	}
	shown.MarkFormer(former)
	if e.MergedInto != 0 {
		if shown.target, err = v.Entry(ctx, e.MergedInto); err != nil {
			return nil, err
		}
	}
	if shown.places, err = v.placesOf(ctx, &shown.Entry); err != nil {
		return nil, err
	}
	if history {
		revisions, err := v.Revisions(ctx, e.ID)
		if err != nil {
			return nil, err
		}
		shown.History = exporters.NewChanges(revisions, v.positions.At)
	}
	if err := shown.relate(ctx, v); err != nil {
		return nil, err
	}
	shown.Alike, err = lookAlikes(ctx, v.View, "", []annotator.Entry{*e})
	return shown, err
}

// relate sets the relations, from either side.
func (s *shownEntry) relate(ctx context.Context, v *codexView) error {
	ties, err := v.TiesOf(ctx, s.ID)
	var ids []int64
	for i := range ties {
		ids = append(ids, ties[i].Entry, ties[i].Object)
	}
	names, failed := v.namesOf(ctx, ids)
	for i := range ties {
		claim := exporters.NewClaim(ties[i].Claim, v.positions.At)
		s.Relations = append(s.Relations, exporters.NewRelation(ties[i].Entry, &claim, ties[i].Object, names))
	}
	return cmp.Or(err, failed)
}

// printRelations prints the relations of an entry, those that it has before those that others have to it.
func (s *shownEntry) printRelations(w io.Writer) {
	if len(s.Relations) > 0 {
		fmt.Fprintln(w, "\nrelations")
	}
	for i := range s.Relations {
		r := &s.Relations[i]
		of := r.Term
		if r.Entry == s.ID {
			of = ""
		}
		line := codex.Told(of, r.Relation, r.Object)
		line += fmt.Sprintf(" (%d:%d, from %s", r.Entry, r.Claim, sceneOnly(r.From))
		if r.Until != nil {
			line += ", " + codex.EndWords(r.Ended) + " " + sceneOnly(*r.Until)
		}
		printIndented(w, "  ", oneLine(line)+")")
	}
}

// placesOf returns where the posts that an entry quotes are. A post that is in no scene any more is left out.
func (v *codexView) placesOf(ctx context.Context, e *exporters.Entry) (map[int64]annotator.Position, error) {
	places := map[int64]annotator.Position{}
	for i := range e.Claims {
		for _, quoted := range e.Claims[i].Evidence {
			if _, ok := places[quoted.Post]; ok {
				continue
			}
			place, err := v.PlaceOf(ctx, quoted.Post)
			if annotator.KindOf(err) == annotator.NotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			places[quoted.Post] = v.positions.At(place)
		}
	}
	return places, nil
}

func (s *shownEntry) print(w io.Writer) {
	s.printAsOf(w)
	if s.History != nil {
		printHistory(w, s.name, s.History, s.titles)
		return
	}
	if s.target != nil {
		fmt.Fprintf(w, "merged into #%d %s\n", s.target.ID, oneLine(s.target.Name()))
	}
	printEntry(w, &s.Entry, s.titles, s.places)
	s.printRelations(w)
	printLookAlikes(w, s.Alike)
}

// printEntry prints an entry for people, in the order in which it is read. It opens with who or what it is and what it
// is now. The other facts follow by thread, with the given titles. A quotation has its place if that is not the fact's.
func printEntry(w io.Writer, e *exporters.Entry, titles view.Titles, places map[int64]annotator.Position) {
	at := &chapters{titles: titles, entered: -1}
	title, locked := e.Term, ""
	if e.Disambiguator != "" {
		title += " (" + e.Disambiguator + ")"
	}
	if e.Locked {
		locked = ", locked"
	}
	fmt.Fprintf(w, "%s  #%d, %s%s, %s\n", oneLine(title), e.ID, e.Status, locked,
		annotator.Quantity(e.Revisions, "revision"))
	if len(e.Tags) > 0 {
		printIndented(w, "tags: ", oneLine(strings.Join(e.Tags, ", ")))
	}
	fmt.Fprintf(w, "first: %s\n", at.enter(e.First))
	fmt.Fprintf(w, "last: %s\n", at.enter(e.Last))
	if len(e.Aliases) > 0 {
		fmt.Fprintln(w, "\nnames")
	}
	for _, a := range e.Aliases {
		printIndented(w, "  ", oneLine(a.Name)+", from "+at.enter(a.From))
	}
	reading := e.Reading(titles)
	printClaims := func(claims []exporters.Claim) {
		for i := range claims {
			printClaim(w, e.ID, &claims[i], at, places)
		}
	}
	printClaims(reading.Opening)
	if e.Present != nil {
		fmt.Fprintln(w)
		printIndented(w, "", oneLine(codex.WithoutLinks(e.Present.Text)))
		printIndented(w, "  ", "as of "+at.within(e.Present.AsOf))
	}
	for _, p := range reading.Passages {
		if p.Chapter != "" {
			at.entered = p.Claims[0].From.Thread
		}
		for _, heading := range []string{p.Chapter, p.As} {
			if heading != "" {
				fmt.Fprintln(w)
				printIndented(w, "-- ", oneLine(heading))
			}
		}
		printClaims(p.Claims)
	}
}

// chapters writes positions for people. One names its chapter only if the lines above are of another one.
type chapters struct {
	titles  view.Titles
	entered int64 // the thread of the lines above
}

// enter writes where a line is.
func (c *chapters) enter(p annotator.Position) string {
	label := c.within(p)
	c.entered = p.Thread
	return label
}

// within writes another position of the line.
func (c *chapters) within(p annotator.Position) string {
	if p.Thread == c.entered {
		return sceneOnly(p)
	}
	return oneLine(c.titles.Label(p))
}

// sceneOnly writes a position without its chapter.
func sceneOnly(p annotator.Position) string {
	if p.Scene == 0 {
		return view.Titles(nil).Label(p)
	}
	return fmt.Sprintf("scene %d", p.Scene)
}

func printClaim(w io.Writer, entry int64, c *exporters.Claim, at *chapters,
	places map[int64]annotator.Position,
) {
	about := fmt.Sprintf("%d:%d, %s", entry, c.ID, c.Kind)
	if source := c.Source(); source != "" {
		about += " by " + oneLine(source)
	}
	if c.State {
		about += ", a state"
	}
	if c.Earlier {
		about += ", of an earlier time"
	}
	about += ", from " + at.enter(c.From)
	if c.Doubted {
		about += ", perhaps out of date"
	}
	if c.Until != nil {
		about += ", " + codex.EndWords(c.Ended) + " " + at.within(*c.Until)
	}
	text := oneLine(codex.WithoutLinks(c.Text))
	saysItself := len(c.Evidence) == 1 && isQuotation(c.Text, c.Evidence[0].Quote)
	if saysItself {
		text = "\"" + strings.Trim(text, quotationMarks) + "\""
	}
	fmt.Fprintln(w)
	printIndented(w, "", c.Thought()+text)
	printIndented(w, "  ", about)
	for _, v := range c.Evidence {
		weak := ""
		if v.Weak {
			weak = " (weak: it lacks words of the fact)"
		}
		if v.Former {
			weak += " (" + exporters.FormerText + ")"
		}
		var parts []string
		if place, ok := places[v.Post]; ok && place.Scene != c.From.Scene {
			parts = append(parts, at.within(place))
		}
		if !saysItself {
			parts = append(parts, fmt.Sprintf("\"%s\"", oneLine(v.Quote)))
		}
		if len(parts) > 0 || weak != "" {
			printIndented(w, "  ", strings.TrimSpace(strings.Join(parts, ": ")+weak))
		}
	}
}

const quotationMarks = `"“”`

// isQuotation reports whether the text of a fact is its quotation.
func isQuotation(text, quote string) bool {
	text = codex.WithoutLinks(text)
	return strings.Trim(oneLine(text), quotationMarks) == strings.Trim(oneLine(quote), quotationMarks)
}

// printHistory prints a line for each change.
func printHistory(w io.Writer, name string, changes []exporters.Change, titles view.Titles) {
	fmt.Fprintf(w, "%s\n\n", oneLine(name))
	rows := make([][]string, len(changes))
	for i, c := range changes {
		place := titles.Label(c.At)
		if c.Seen > c.At.Scene {
			place += fmt.Sprintf(", seen from scene %d", c.Seen)
		}
		rows[i] = []string{
			localTime(c.Time.UnixMilli()), place, string(c.Actor), string(c.Field), oldToNew(c.Old, c.New),
		}
	}
	printTable(w, rows)
}

func oldToNew(before, after string) string {
	const width = 90
	switch {
	case before == "":
		return "+ " + shorten(after, width)
	case after == "":
		return "- " + shorten(before, width)
	}
	return shorten(before, width/2) + " -> " + shorten(after, width/2)
}
