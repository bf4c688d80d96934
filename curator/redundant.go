package curator

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/context/prompt"
)

// How much a question asks about entries that may be redundant.
const (
	maxRedundant    = 40    // entries
	redundantShown  = 3_000 // tokens of them
	redundantTokens = 24    // of the reply, for each
	maxNew          = 200   // new entries that are looked at while the story goes on
	maxSlight       = 4     // facts of an entry that is asked about
	maxNear         = 40    // entries with which one of them is compared
	maxDoubles      = 2     // of these that are shown with it
)

// redundant are the entries of a question that may be worth none of their own.
type redundant struct {
	list    []doubtful
	through int64 // the newest entry that was looked at
	shown   string
}

// doubtful is an entry that may be worth none of its own.
type doubtful struct {
	*annotator.Entry
	doubles []*annotator.Entry // that may be the same thing
}

// dueRedundant returns the slight entries since the last such question that bring little, or may be the same thing as
// another one. They are a reason to ask only if no later question follows. It returns nil for none.
func (c *Curator) dueRedundant(ctx context.Context) (*redundant, error) {
	if c.Tasks&Redundant == 0 {
		return nil, nil
	}
	before, err := c.Before(ctx)
	if err != nil {
		return nil, err
	}
	newest := maxNew
	if c.Final {
		newest = -1 // all
	}
	ids, err := c.New.Unlooked(ctx, before, maxSlight, newest)
	if err != nil || len(ids) == 0 {
		return nil, err
	}
	compared := comparison{Curator: c, known: map[int64]*openFacts{}}
	if compared.index, err = c.Names.Index(ctx); err != nil {
		return nil, err
	}
	q := &redundant{}
	for _, id := range ids {
		d, doubt, err := compared.doubt(ctx, id)
		if err != nil {
			return nil, err
		}
		if doubt && !c.addDoubtful(q, d) {
			break
		}
		q.through = id
	}
	if len(q.list) == 0 {
		return nil, nil
	}
	return q, nil
}

// without returns the entries that the question is not about.
func (q *redundant) without(open []annotator.UndecidedEntry) []annotator.UndecidedEntry {
	if q == nil {
		return open
	}
	return slices.DeleteFunc(slices.Clone(open), func(u annotator.UndecidedEntry) bool {
		return slices.ContainsFunc(q.list, func(d doubtful) bool { return d.ID == u.Entry })
	})
}

// addDoubtful adds an entry to a question, if there is room for it.
func (c *Curator) addDoubtful(q *redundant, d doubtful) bool {
	larger := &redundant{list: append(slices.Clip(q.list), d), through: q.through}
	larger.render()
	if len(larger.list) > maxRedundant || c.Window.Count(larger.shown) > redundantShown {
		return false
	}
	*q = *larger
	return true
}

// comparison compares new entries with those that rest on the same posts.
type comparison struct {
	*Curator
	index *mention.Index
	known map[int64]*openFacts
}

// read returns the facts of entries that are there.
func (c *comparison) read(ctx context.Context, ids []int64) (list []*openFacts, err error) {
	entries := map[int64]*annotator.Entry{}
	unread := slices.DeleteFunc(slices.Clone(ids), func(id int64) bool { return c.known[id] != nil })
	if err := c.readMore(ctx, entries, unread); err != nil {
		return nil, err
	}
	for id, e := range entries {
		c.known[id] = factsOf(c.index, e)
	}
	for _, id := range ids {
		if c.known[id] != nil {
			list = append(list, c.known[id])
		}
	}
	return list, nil
}

// doubt reports whether an entry may be worth none of its own, and shows it with older ones that may be the same thing.
func (c *comparison) doubt(ctx context.Context, id int64) (d doubtful, doubt bool, err error) {
	ids, err := c.New.Near(ctx, id, maxNear)
	if err != nil {
		return d, false, err
	}
	near, err := c.read(ctx, append([]int64{id}, ids...))
	if err != nil || len(near) == 0 || near[0].entry.ID != id {
		return d, false, err
	}
	own, near := near[0], near[1:]
	d.Entry = own.entry
	for _, o := range near {
		if o.entry.ID < id && len(d.doubles) < maxDoubles && mayBeOne(own, o) {
			d.doubles = append(d.doubles, o.entry)
		}
	}
	if own.state {
		return d, len(d.doubles) > 0, nil
	}
	slight, err := c.alone(ctx, own.entry)
	return d, slight || len(d.doubles) > 0, err
}

// alone reports whether only one scene tells of an entry. All facts are of it. One scene at most mentions the entry. No
// fact of another scene has a link to it. Those of the scene that makes an entry often do: they tell of it.
func (c *Curator) alone(ctx context.Context, e *annotator.Entry) (bool, error) {
	isLater := func(claim annotator.Claim) bool { return claim.Until == 0 && claim.From.Order() != e.First.Order() }
	if slices.ContainsFunc(e.Claims, isLater) {
		return false, nil
	}
	scenes, err := c.New.Scenes(ctx, e.ID, 2)
	if err != nil || scenes > 1 {
		return false, err
	}
	texts, err := c.New.Linking(ctx, e.ID, names(e), e.First.Order())
	if err != nil {
		return false, err
	}
	for _, text := range texts {
		for _, link := range codex.Links(text) {
			if (&Candidate{Entry: *e}).hasName(link) {
				return false, nil
			}
		}
	}
	return true, nil
}

// tells reports whether an entry has a fact by the same words of a post as another fact, whose text says what it does.
func tells(e *annotator.Entry, fact *annotator.Claim, says func(text string) bool) bool {
	return slices.ContainsFunc(e.Claims, func(c annotator.Claim) bool {
		return c.Until == 0 && overlap(fact.Evidence, c.Evidence) && says(c.Text)
	})
}

func overlap(a, b []annotator.Evidence) bool {
	return slices.ContainsFunc(a, func(one annotator.Evidence) bool {
		return slices.ContainsFunc(b, func(other annotator.Evidence) bool {
			return one.Post == other.Post && one.Start < other.End && other.Start < one.End
		})
	})
}

// openFacts are the facts of an entry that hold, with what they name in which scene.
type openFacts struct {
	entry  *annotator.Entry
	open   []*annotator.Claim
	state  bool // one of them describes a state
	naming map[namedIn]bool
}

// namedIn is an entry that a fact of a scene names.
type namedIn struct {
	scene annotator.Order
	entry int64
}

func factsOf(index *mention.Index, e *annotator.Entry) *openFacts {
	f := &openFacts{entry: e, naming: map[namedIn]bool{}}
	for i := range e.Claims {
		claim := &e.Claims[i]
		if claim.Until != 0 {
			continue
		}
		f.open, f.state = append(f.open, claim), f.state || claim.State
		for _, match := range index.Find(codex.LinkNames(claim.Text)) {
			if match.ID != e.ID {
				f.naming[namedIn{claim.From.Order(), match.ID}] = true
			}
		}
	}
	return f
}

// mayBeOne reports whether two entries may be one thing, whatever their names are. Both or neither are people. Half of
// the quotations of the smaller one overlap those of the other. Half of what its facts name is named there in the same
// scenes. Without such quotations, they name mostly the same.
func mayBeOne(a, b *openFacts) bool {
	isPerson := func(f *openFacts) bool { return slices.Contains(f.entry.Tags, "person") }
	if isPerson(a) != isPerson(b) || apart(a.entry, b.entry) != "" {
		return false
	}
	if len(b.open) < len(a.open) {
		a, b = b, a
	}
	shared := 0
	for _, fact := range a.open {
		if slices.ContainsFunc(b.open, func(c *annotator.Claim) bool { return overlap(fact.Evidence, c.Evidence) }) {
			shared++
		}
	}
	both, fewer, all := 0, min(len(a.naming), len(b.naming)), len(a.naming)+len(b.naming)
	for named := range a.naming {
		if b.naming[named] {
			both++
		}
	}
	quotes := shared > 0 && 2*shared >= len(a.open)
	return both > 0 && quotes && 2*both >= fewer || both > 1 && 2*both >= all-both
}

// render writes the entries with their facts. Those that may be the same thing stand with their ids and terms.
func (q *redundant) render() {
	var text strings.Builder
	text.WriteString("<redundant>\n")
	for _, d := range q.list {
		near := ""
		for _, o := range d.doubles {
			near += fmt.Sprintf("; %d %s", o.ID, o.Name())
		}
		if near != "" {
			near = fmt.Sprintf(" near=%q", prompt.Escape(near[2:]))
		}
		fmt.Fprintf(&text, "<entry id=\"%d\" term=\"%s\"%s>\n", d.ID, prompt.Escape(d.Name()), near)
		for _, line := range codex.FactLines(d.Entry) {
			text.WriteString(prompt.Fact(annotator.Clip(line, quoteLength, cutMark)) + "\n")
		}
		text.WriteString("</entry>\n")
	}
	text.WriteString("</redundant>")
	q.shown = text.String()
}

// fold is what an answer says of an entry that is worth none of its own.
type fold struct {
	entry  int64
	action Action // Drop or Merge
	id     int64  // of the entry that takes its place; 0: it is called by the name
	name   string
}

var (
	foldTag = regexp.MustCompile(`<(drop|same)\b([^<>]*)>(?:\s*</(?:drop|same)>)?`)
	// attribute matches an attribute of an element of an answer.
	attribute = regexp.MustCompile(`(\w+)\s*=\s*"([^"<>]*)"`)
)

// read returns what a reply says of the entries that were asked about, whether it says anything of them, and the rest.
// An answer that leaves less than a third of several counts for nothing: it has mistaken the question, or follows the
// orders of a fact.
func (q *redundant) read(reply string) (folds []fold, answered bool, rest string) {
	if q == nil {
		return nil, false, reply
	}
	for _, tag := range foldTag.FindAllStringSubmatch(reply, -1) {
		answered = true
		f := fold{action: Drop}
		if tag[1] == "same" {
			f.action = Merge
		}
		for _, field := range attribute.FindAllStringSubmatch(tag[2], -1) {
			value := strings.TrimSpace(annotator.Unescape(field[2]))
			id, err := strconv.ParseInt(value, 10, 64)
			switch {
			case field[1] == "entry":
				f.entry = id
			case field[1] != "into" && field[1] != "as":
			case err == nil:
				f.id = id
			default:
				f.name = value
			}
		}
		asked := slices.ContainsFunc(q.list, func(d doubtful) bool { return d.ID == f.entry })
		twice := slices.ContainsFunc(folds, func(g fold) bool { return g.entry == f.entry })
		if asked && !twice && (f.id != 0 || codex.HasWord(f.name)) {
			folds = append(folds, f)
		}
	}
	if len(folds) > 2 && 3*len(folds) > 2*len(q.list) {
		folds = nil
	}
	return folds, answered, foldTag.ReplaceAllString(reply, "")
}

// note is the note of a question about redundant entries that brought no answer.
func (q *redundant) note() string {
	return fmt.Sprintf("The curator gave no usable answer about %d entries that may be redundant.", len(q.list))
}

// dropped returns what an answer changes about redundant entries, after other revisions of it, and for each the record
// that it was asked about. What cannot be carried out is left out: the entry stays as it is.
func (c *Curator) dropped(
	ctx context.Context, q *redundant, folds []fold, others []annotator.Revision, at annotator.Place,
) (revisions []annotator.Revision, done []folded, err error) {
	if q == nil {
		return nil, nil, nil
	}
	all, changed := slices.Clip(others), changedBy(others)
	for _, d := range q.list {
		record := Decision{Action: AskRedundant, Through: q.through, Thread: c.Scene.Thread.ID}
		all = append(all, (&Candidate{Entry: *d.Entry}).record(record, at))
		i := slices.IndexFunc(folds, func(f fold) bool { return f.entry == d.ID })
		if i < 0 || changed[d.ID] {
			continue
		}
		target, why, err := c.find(ctx, folds[i].id, folds[i].name)
		if err != nil {
			return nil, nil, err
		}
		if why != nil || changed[target.ID] || folds[i].action == Merge && c.unfit(d.Entry, target) != nil {
			continue
		}
		made, decision, err := c.fold(ctx, d.Entry, target, folds[i].action, all, at)
		if err != nil {
			return nil, nil, err
		}
		if all = append(all, made...); len(made) > 0 {
			done = append(done, folded{d.Entry, decision})
		}
	}
	return all[len(others):], done, nil
}

// folded is an entry that was dropped or merged, as it was, and the decision.
type folded struct {
	*annotator.Entry
	Decision
}

// fold returns the revisions that drop or merge an entry, after other revisions; none if the codex refuses it. A
// dropped entry keeps the facts of which the other one has half: the answer says that these are told there.
func (c *Curator) fold(
	ctx context.Context, source, target *annotator.Entry, action Action, others []annotator.Revision,
	at annotator.Place,
) ([]annotator.Revision, Decision, error) {
	d := Decision{
		Action: action, Target: target.ID, Thread: c.Scene.Thread.ID,
		Reason: fmt.Sprintf("It is told of in entry %d.", target.ID),
	}
	_, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return nil, d, err
	}
	candidate := &Candidate{Entry: after(source, others), Similar: []annotator.Entry{after(target, others)}}
	if action == Drop {
		e, to := &candidate.Entry, &candidate.Similar[0]
		for i := range e.Claims {
			claim := &e.Claims[i]
			resumes := func(text string) bool { return mention.Resumes(claim.Text, e, text, to, usage) }
			if claim.Until == 0 && !tells(to, claim, resumes) {
				d.Moved = append(d.Moved, claim.ID)
			}
		}
	}
	revisions, err := candidate.Revisions(d, at)
	if err != nil {
		return nil, d, nil //nolint:nilerr // the codex refuses it, and the entry stays
	}
	return revisions, d, nil
}
