package view

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/internal/sqlite"
	"annotator/storage"

	"golang.org/x/text/unicode/norm"
)

// Tie is a claim of a live entry that has a relation.
type Tie struct {
	Entry  int64           // that has the claim
	Claim  annotator.Claim // without its evidence
	Object int64           // the live entry that the object names; 0 for none
}

// Ties returns the first relations of live entries that readers are shown, in the order of the story. It reports
// whether there are more than a limit. A limit of 0 is none.
func (v *View) Ties(ctx context.Context, limit int) (ties []Tie, more bool, err error) {
	err = v.related(ctx, `instr(v.json, '"relation":"')`, `v.id`, func(t *Tie) bool {
		if codex.Shown(&t.Claim) {
			ties = append(ties, *t)
		}
		return limit == 0 || len(ties) <= limit
	})
	if err != nil {
		return nil, false, err
	}
	if more = limit > 0 && len(ties) > limit; more {
		ties = ties[:limit]
	}
	return ties, more, v.findObjects(ctx, &ties)
}

// related yields claims with a relation or a state until yield returns false. Their objects are not looked up.
func (v *View) related(ctx context.Context, which, order string, yield func(*Tie) bool) error {
	done := errors.New("enough")
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		t, err := scanTie(rows)
		if err == nil && !yield(&t) {
			err = done
		}
		return err
	}, `SELECT v.entry_id, v.set_by, v.json FROM value v INDEXED BY value_related
		WHERE v.field = 'claim' AND (instr(v.json, '"relation":"') OR instr(v.json, '"state":true')) AND `+which+`
		AND v.id < ?2 AND `+v.r.Limit.InForce("v")+` AND `+v.r.Limit.Live("v.entry_id")+` ORDER BY `+order,
		v.r.Limit.Bound(), v.r.Limit.End())
	if errors.Is(err, done) {
		return nil
	}
	return sqlite.Wrap(err, "read the relations in %s", v.db.Path())
}

func scanTie(rows *sql.Rows) (t Tie, err error) {
	var claim string
	if err := rows.Scan(&t.Entry, &t.Claim.Revision, &claim); err != nil {
		return t, err
	}
	return t, json.Unmarshal([]byte(claim), &t.Claim)
}

// findObjects looks the objects of ties up. A tie of an entry to itself is left out. The others get the order of the
// story.
func (v *View) findObjects(ctx context.Context, ties *[]Tie) error {
	texts := make([]string, len(*ties))
	for i := range *ties {
		texts[i] = (*ties)[i].Claim.Object
	}
	names, err := v.directory(ctx, texts)
	if err != nil {
		return err
	}
	for i := range *ties {
		(*ties)[i].Object = names.Find(texts[i])
	}
	*ties = slices.DeleteFunc(*ties, func(t Tie) bool { return t.Object == t.Entry })
	slices.SortFunc(*ties, func(a, b Tie) int {
		return cmp.Or(cmp.Compare(a.Claim.From, b.Claim.From), cmp.Compare(a.Entry, b.Entry),
			cmp.Compare(a.Claim.ID, b.Claim.ID))
	})
	return nil
}

// TiesOf returns the relations of some entries: those that they have, then those that others have to them.
func (v *View) TiesOf(ctx context.Context, entries ...int64) ([]Tie, error) {
	names, err := v.Names(ctx, entries...)
	if err != nil {
		return nil, err
	}
	var spelled []string
	for _, list := range names {
		for _, name := range list {
			spelled = append(spelled, name, strings.ToLower(name), strings.ToUpper(name))
		}
	}
	for _, name := range slices.Clone(spelled) {
		spelled = append(spelled, norm.NFD.String(name), norm.NFC.String(name))
	}
	scan := func(rows *sql.Rows, t *Tie) (err error) { *t, err = scanTie(rows); return err }
	columns := `SELECT v.entry_id, v.set_by, v.json FROM `
	where := ` WHERE v.field = 'claim' AND instr(v.json, '"relation":"') AND ` + v.r.Limit.InForce("v") + `
		AND ` + v.r.Limit.Live("v.entry_id")
	ties, err := readAll(ctx, v, "read the relations", scan,
		columns+`json_each(?2) e CROSS JOIN value v INDEXED BY value_relation
		ON v.entry_id = e.value`+where+` UNION `+columns+`json_each(?3) o CROSS JOIN value v INDEXED BY value_object
		ON lower(v.json ->> 'object') = lower(o.value)`+where,
		v.r.Limit.Bound(), storage.List(entries), storage.List(spelled))
	if err != nil {
		return nil, err
	}
	ties = slices.DeleteFunc(ties, func(t Tie) bool { return !codex.Shown(&t.Claim) })
	if err := v.findObjects(ctx, &ties); err != nil {
		return nil, err
	}
	isOwn := func(t Tie) bool { return slices.Contains(entries, t.Entry) }
	ties = slices.DeleteFunc(ties, func(t Tie) bool { return !isOwn(t) && !slices.Contains(entries, t.Object) })
	slices.SortStableFunc(ties, func(a, b Tie) int {
		switch {
		case isOwn(a) == isOwn(b):
			return 0
		case isOwn(a):
			return -1
		}
		return 1
	})
	return ties, err
}

// directory returns the live entries that some texts name.
func (v *View) directory(ctx context.Context, texts []string) (*codex.Directory, error) {
	keys := make([]string, len(texts))
	for i, text := range texts {
		keys[i] = codex.Normalize(text)
	}
	slices.Sort(keys)
	keys = slices.Compact(keys)
	names := codex.NewDirectory()
	part := func(field string) string {
		return `SELECT v.entry_id, v.field = 'term', v.key FROM json_each(?2) k CROSS JOIN value v
			ON v.field = '` + field + `' AND v.key = k.value WHERE ` + v.r.Limit.InForce("v") + `
			AND ` + v.r.Limit.Live("v.entry_id")
	}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var isFull bool
		var name string
		err := rows.Scan(&entry, &isFull, &name)
		names.Add(entry, name, isFull)
		return err
	}, part("term")+` UNION ALL `+part("alias"), v.r.Limit.Bound(), storage.List(keys))
	return names, sqlite.Wrap(err, "read the names in %s", v.db.Path())
}

// Matter is what a claim leaves open, or has settled.
type Matter struct {
	Sort    codex.Matter
	Entry   *annotator.Entry // without its claims
	Claim   annotator.Claim
	Object  int64            // the live entry that the claim's object names; 0 for none
	Settled *annotator.Claim // that took its place; nil for none

	entry int64
}

// Standing returns what is open in the story, sort by sort, each in the order of the story. Promises, conflicts and
// questions that are settled are among it. It reports whether there is more than a limit for each sort. Then it has the
// newest. A limit of 0 is none.
func (v *View) Standing(ctx context.Context, limit int) (matters []Matter, more bool, err error) {
	const looked = 25 // facts with a relation or a state, for each matter of a limit
	counts, seen, sorts := map[codex.Matter]int{}, 0, codex.Matters()
	err = v.related(ctx, `true`, `v.id DESC`, func(t *Tie) bool {
		seen++
		if more = limit > 0 && seen > looked*limit; more {
			return false
		}
		if sort := matterOf(&t.Claim); sort != "" {
			counts[sort]++
			if limit > 0 && counts[sort] > limit {
				more = true
			} else {
				matters = append(matters, Matter{Sort: sort, entry: t.Entry, Claim: t.Claim})
			}
		}
		return true
	})
	if err != nil {
		return nil, false, err
	}
	for _, n := range counts {
		more = more || limit > 0 && n > limit
	}
	slices.SortStableFunc(matters, func(a, b Matter) int {
		return cmp.Or(slices.Index(sorts, a.Sort)-slices.Index(sorts, b.Sort), cmp.Compare(a.Claim.From, b.Claim.From),
			cmp.Compare(a.entry, b.entry), cmp.Compare(a.Claim.Ord, b.Claim.Ord))
	})
	return matters, more, v.fillMatters(ctx, matters)
}

// fillMatters sets the entries, objects, quotations and successors of matters.
func (v *View) fillMatters(ctx context.Context, matters []Matter) error {
	var ids []int64
	var texts []string
	var wanted []string // entry/claim, of the claims themselves and of those that took their place
	for i := range matters {
		m := &matters[i]
		ids, texts = append(ids, m.entry), append(texts, m.Claim.Object)
		wanted = append(wanted, fmt.Sprint(m.entry, " ", m.Claim.ID), fmt.Sprint(m.entry, " ", m.Claim.ReplacedBy))
	}
	entries, err := v.Headings(ctx, ids)
	if err != nil {
		return err
	}
	names, err := v.directory(ctx, texts)
	if err != nil {
		return err
	}
	claims, evidence, err := v.parts(ctx, wanted)
	for i := range matters {
		m := &matters[i]
		m.Entry, m.Object = entries[m.entry], names.Find(m.Claim.Object)
		m.Claim.Evidence = evidence[[2]int64{m.entry, m.Claim.ID}]
		m.Settled = claims[[2]int64{m.entry, m.Claim.ReplacedBy}]
	}
	return err
}

// parts returns claims and their quotations by entry and number, each wanted as "entry claim".
func (v *View) parts(ctx context.Context, wanted []string) (
	claims map[[2]int64]*annotator.Claim, evidence map[[2]int64][]annotator.Evidence, err error,
) {
	claims, evidence = map[[2]int64]*annotator.Claim{}, map[[2]int64][]annotator.Evidence{}
	err = v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var field annotator.Field
		var text string
		if err := rows.Scan(&entry, &field, &text); err != nil {
			return err
		}
		if field == annotator.FieldClaim {
			claim := new(annotator.Claim)
			err := json.Unmarshal([]byte(text), claim)
			claims[[2]int64{entry, claim.ID}] = claim
			return err
		}
		var quoted annotator.Evidence
		err := json.Unmarshal([]byte(text), &quoted)
		of := [2]int64{entry, quoted.Claim}
		evidence[of] = append(evidence[of], quoted)
		return err
	}, `WITH wanted (entry, claim) AS (SELECT DISTINCT CAST(substr(value, 1, instr(value, ' ')) AS INTEGER),
		  substr(value, instr(value, ' ') + 1) FROM json_each(?2))
		SELECT v.entry_id, v.field, v.json FROM wanted w CROSS JOIN value v INDEXED BY value_entry
		  ON v.entry_id = w.entry AND v.field = 'claim' AND v.key = w.claim WHERE `+v.r.Limit.InForce("v")+`
		UNION SELECT v.entry_id, v.field, v.json FROM wanted w CROSS JOIN value v INDEXED BY value_entry
		  ON v.entry_id = w.entry AND v.field = 'evidence' AND v.key > w.claim || '/' AND v.key < w.claim || '0'
		WHERE `+v.r.Limit.InForce("v"), v.r.Limit.Bound(), storage.List(wanted))
	return claims, evidence, sqlite.Wrap(err, "read what is open in %s", v.db.Path())
}

// matterOf returns what a claim leaves open or has settled; empty for nothing.
func matterOf(c *annotator.Claim) codex.Matter {
	sort := codex.MatterOf(c)
	canSettle := sort == codex.Promise || sort == codex.Conflict || sort == codex.Question
	if !codex.Shown(c) || c.Until != 0 && (!canSettle || c.Ended != annotator.EndOver) {
		return ""
	}
	return sort
}

// Event is an event of the story.
type Event struct {
	*annotator.Entry
	At      annotator.Place // of its first fact
	Earlier bool            // all that is told of it is of an earlier time than the scenes that tell it
	With    []int64         // live entries that its facts name, in their order; guesses and sayings do not count
}

// Events returns the events of the story, in the order in which they are told, and whether there are more than a limit.
// Then it has the newest; a limit of 0 is none.
func (v *View) Events(ctx context.Context, limit int) (events []Event, more bool, err error) {
	most := -1
	if limit > 0 {
		most = limit + 1
	}
	ids, err := readAll(ctx, v, "read the events", storage.ScanValue[int64], `SELECT v.entry_id FROM value v
		WHERE v.field = 'tag' AND v.key IN (SELECT value FROM json_each(?2)) AND `+v.r.Limit.InForce("v")+`
		AND `+v.r.Limit.Live("v.entry_id")+` GROUP BY v.entry_id ORDER BY max(v.id) DESC LIMIT ?3`, v.r.Limit.Bound(),
		storage.List(codex.EventTags()), most)
	if more = limit > 0 && len(ids) > limit; more {
		ids = ids[:limit]
	}
	if err != nil || len(ids) == 0 {
		return nil, false, err
	}
	entries, err := v.EntriesByID(ctx, ids)
	if err != nil {
		return nil, false, err
	}
	names, index, err := v.namesIn(ctx, entries)
	for _, id := range ids {
		if event, told := newEvent(entries[id], names, index); told {
			events = append(events, event)
		}
	}
	slices.SortFunc(events, func(a, b Event) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.ID, b.ID)) })
	return events, more, err
}

// namesIn returns the names that the facts of entries may have: of what they link or are about, and of all that their
// scenes mention.
func (v *View) namesIn(ctx context.Context, entries map[int64]*annotator.Entry) (
	names *codex.Directory, index *mention.Index, err error,
) {
	var texts []string
	var scenes []annotator.Order
	for _, e := range entries {
		for i := range e.Claims {
			c := &e.Claims[i]
			texts, scenes = append(append(texts, c.Object), codex.Links(c.Text)...), append(scenes, c.From.Order())
		}
	}
	if names, err = v.directory(ctx, texts); err != nil {
		return nil, nil, err
	}
	slices.Sort(scenes)
	mentioned, err := v.MentionedIn(ctx, slices.Compact(scenes))
	if err != nil {
		return nil, nil, err
	}
	known, err := v.Names(ctx, append(mentioned, slices.Collect(maps.Keys(entries))...)...)
	index = mention.New()
	for id, list := range known {
		index.SetNames(id, list)
	}
	return names, index, err
}

// newEvent returns an entry as an event. It reports whether a fact tells of it.
func newEvent(e *annotator.Entry, names *codex.Directory, index *mention.Index) (event Event, told bool) {
	event = Event{Entry: e, Earlier: true}
	add := func(id int64) {
		if id != 0 && id != e.ID && !slices.Contains(event.With, id) {
			event.With = append(event.With, id)
		}
	}
	claims, _ := codex.InOrder(e)
	for i := range claims {
		c := &claims[i]
		if !codex.Shown(c) || c.Ended == annotator.EndRefuted {
			continue
		}
		if !told || c.From < event.At {
			event.At = c.From
		}
		told, event.Earlier = true, event.Earlier && c.Earlier
		if c.Kind == annotator.Inferred || c.Kind == annotator.Claimed {
			continue
		}
		for _, name := range append(codex.Links(c.Text), c.Object) {
			add(names.Find(name))
		}
		for of := range ownersOf(index, codex.WithoutLinks(c.Text)) {
			add(of)
		}
	}
	return event, told
}

// ownersOf yields the entries that a text names, each name of a single one.
func ownersOf(index *mention.Index, text string) func(yield func(int64) bool) {
	found := index.Occurrences(text)
	return func(yield func(int64) bool) {
		for i, o := range found {
			isSame := func(other mention.Occurrence) bool {
				return other.ID != o.ID && other.Start == o.Start && other.End == o.End
			}
			if slices.ContainsFunc(found, isSame) || i > 0 && o.Start < found[i-1].End && o.Start > found[i-1].Start {
				continue
			}
			if !yield(o.ID) {
				return
			}
		}
	}
}
