package eval

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode"

	"annotator/codex"
)

// unit is one of the things that a figure is about: what it adds to the numerator and the denominator. A unit of an F
// measure has the numerators of precision and recall.
type unit struct{ part, recall, whole float64 }

// Figure is a share, or a mean, with the interval of 95 % that a bootstrap over its units gives. Whole is 0 if there is
// nothing to count.
type Figure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Part  float64 `json:"part"`
	Whole float64 `json:"whole"`

	units []unit
	of    func(sum unit) float64 // the value
}

// resamples is how often the bootstrap draws. Its seed is fixed, so that a figure is always the same.
const resamples = 1000

func share(sum unit) float64 { return sum.part / sum.whole }

// fMeasure is the harmonic mean of precision and recall.
func fMeasure(sum unit) float64 {
	return 2 * sum.part * sum.recall / ((sum.part + sum.recall) * sum.whole)
}

func figure(name string, units []unit) Figure { return newFigure(name, units, share) }

func newFigure(name string, units []unit, of func(unit) float64) Figure {
	total := sum(units, func(i int) int { return i })
	f := Figure{Name: name, Part: total.part, Whole: total.whole, units: units, of: of}
	if total.part == 0 {
		return f
	}
	f.Value = of(total)
	random := rand.New(rand.NewPCG(1, uint64(len(units))))
	drawn := make([]float64, resamples)
	for i := range drawn {
		if s := sum(units, func(int) int { return random.IntN(len(units)) }); s.part > 0 {
			drawn[i] = of(s)
		}
	}
	slices.Sort(drawn)
	f.Low, f.High = drawn[resamples*25/1000], drawn[resamples*975/1000-1]
	return f
}

// sum adds as many units as there are, each the one that pick selects.
func sum(units []unit, pick func(int) int) (total unit) {
	for i := range units {
		u := units[pick(i)]
		total = unit{total.part + u.part, total.recall + u.recall, total.whole + u.whole}
	}
	return total
}

// Pool returns the figures of several stories together. A story is a unit, so the interval is that for other stories of
// their kind.
func Pool(stories [][]Figure) (pooled []Figure) {
	units := map[string][]unit{}
	var first []Figure // of each name
	for _, figures := range stories {
		for _, f := range figures {
			if _, known := units[f.Name]; !known {
				first = append(first, f)
			}
			units[f.Name] = append(units[f.Name], sum(f.units, func(i int) int { return i }))
		}
	}
	for _, f := range first {
		pooled = append(pooled, newFigure(f.Name, units[f.Name], f.of))
	}
	return pooled
}

// one is a unit that counts if it is so.
func one(so bool) unit {
	if so {
		return unit{part: 1, whole: 1}
	}
	return unit{whole: 1}
}

// Compare returns the figures of a codex's entries. The weights say how often the story has each name, as Counter has
// counted. Without them, each name counts once, and what depends on them is left out.
func Compare(gold *Gold, entries []Entry, weights map[string]float64) []Figure {
	p := pair(gold, entries, weights)
	figures := p.recall()
	figures = append(figures, p.ofEntries()...)
	figures = append(figures, p.ofNames()...)
	figures = append(figures, p.ofFacts()...)
	return append(figures, p.ofRelations()...)
}

// tie is a relation of the codex, with the names of its two sides in the form in which they are compared.
type tie struct {
	relation string
	from, to []string
}

// ofRelations returns the share of the list's relations that the codex has as relations, from either side. The second
// figure is that of those in words of the list. A list without relations has no figures.
func (p *pairing) ofRelations() []Figure {
	var ties []tie
	for i := range p.entries {
		for _, s := range p.entries[i].Facts {
			if s.Relation != "" {
				ties = append(ties, tie{s.Relation, p.names[i], comparable([]string{s.Object})})
			}
		}
	}
	var joined, worded []unit
	for _, want := range p.gold.Relations {
		a, b := p.namesOf(want.A), p.namesOf(want.B)
		joins, says := false, false
		for _, t := range ties {
			if meet(t.from, a) && meet(t.to, b) || meet(t.from, b) && meet(t.to, a) {
				joins = true
				says = says || sharesWord(t.relation, want.Relation) ||
					sharesWord(inverse(t.relation), want.Relation)
			}
		}
		joined, worded = append(joined, one(joins)), append(worded, one(says))
	}
	if joined == nil {
		return nil
	}
	return []Figure{
		figure("relations of the list, as relations of the codex", joined), figure("– in words of the list", worded),
	}
}

// namesOf returns the names of a thing of the list, given by one of them, and those of the entries that it has.
func (p *pairing) namesOf(thing string) []string {
	all := comparable([]string{thing})
	for i := range p.gold.Entities {
		if own := p.gold.Entities[i].names(); meet(all[:min(1, len(all))], own) {
			all = append(all, own...)
			for _, e := range p.of[i] {
				all = append(all, p.names[e]...)
			}
		}
	}
	return all
}

// meet reports whether two lists have a name in common.
func meet(a, b []string) bool {
	return slices.ContainsFunc(a, func(name string) bool { return slices.Contains(b, name) })
}

// sharesWord reports whether two relations have a word of more than three letters in common, or their only word.
func sharesWord(a, b string) bool {
	other := words(b)
	return slices.ContainsFunc(words(a), func(word string) bool {
		return slices.Contains(other, word) && (len(word) > 3 || len(other) == 1)
	})
}

// recall returns the shares of things with an entry, by importance.
func (p *pairing) recall() (figures []Figure) {
	by := map[string][]unit{}
	var order []string
	var all, perThing, perPerson []unit
	for i := range p.gold.Entities {
		importance := p.gold.Entities[i].Importance
		if by[importance] == nil {
			order = append(order, importance)
		}
		found := one(len(p.of[i]) > 0)
		by[importance], all = append(by[importance], found), append(all, found)
		if n := len(p.of[i]); n > 0 {
			perThing = append(perThing, unit{part: float64(n), whole: 1})
			if kindOf(p.gold.Entities[i].Kind) == "person" {
				perPerson = append(perPerson, perThing[len(perThing)-1])
			}
		}
	}
	figures = append(figures, figure("things with an entry", all))
	for _, importance := range order {
		if importance != "" {
			figures = append(figures, figure("– "+importance, by[importance]))
		}
	}
	return append(figures, figure("entries a thing", perThing), figure("entries a person", perPerson))
}

// kinds are the words by which lists and codices name the same kind.
var kinds = map[string]string{
	"character": "person", "people": "person", "per": "person", "location": "place", "loc": "place", "gpe": "place",
	"fac": "place", "facility": "place", "organization": "group", "organisation": "group", "org": "group",
	"faction": "group", "item": "object", "thing": "object", "artifact": "object", "veh": "object",
	"animal": "creature",
}

func kindOf(word string) string {
	word = strings.ToLower(word)
	return cmp.Or(kinds[word], word)
}

func (p *pairing) ofEntries() []Figure {
	var listed, mixed, alone, contradicting, tagged, people, unknown []unit
	for i := range p.entries {
		thing := p.thing[i]
		listed = append(listed, one(thing >= 0))
		if len(p.names[i]) > 1 {
			mixed, alone = append(mixed, one(p.mixes(i, true))), append(alone, one(p.mixes(i, false)))
			contradicting = append(contradicting, one(titlesContradict(p.names[i])))
		}
		isKind := func(kind string) bool {
			return slices.ContainsFunc(p.entries[i].Kinds, func(k string) bool { return kindOf(k) == kind })
		}
		unknown = append(unknown, one(isKind("unknown")))
		if thing < 0 || p.gold.Entities[thing].Kind == "" {
			continue
		}
		kind := kindOf(p.gold.Entities[thing].Kind)
		tagged = append(tagged, one(isKind(kind)))
		if kind == "person" {
			people = append(people, one(isKind(kind)))
		}
	}
	figures := []Figure{
		figure("entries that are things of the list", listed),
		figure("wrong merges, of entries with several names", mixed),
		figure("– by names that no other entry has", alone),
		figure("contradicting titles, of entries with several names", contradicting),
		figure("right kinds", tagged), figure("right kinds of people", people),
		figure("entries of unknown kind", unknown),
	}
	if p.weights == nil {
		return figures
	}
	var once []unit
	for _, names := range p.names {
		n := 0.0
		for _, name := range names {
			n += p.weights[name]
		}
		once = append(once, one(n <= 1))
	}
	return append(figures, figure("entries named at most once", once))
}

func (p *pairing) ofNames() []Figure {
	var found []unit
	for i := range p.gold.Entities {
		if len(p.of[i]) == 0 {
			continue
		}
		for _, name := range p.gold.Entities[i].names() {
			found = append(found, one(slices.ContainsFunc(p.of[i], func(e int) bool {
				return slices.Contains(p.names[e], name)
			})))
		}
	}
	precision, recall, both := bCubed(p.items())
	return []Figure{
		figure("names of things with an entry", found), figure("names B³: precision", precision),
		figure("names B³: recall", recall), newFigure("names B³: F", both, fMeasure),
	}
}

func (p *pairing) ofFacts() []Figure {
	var quoted, borne []unit
	quotes := map[int64][][]string{} // of all statements, by post
	for i := range p.entries {
		for _, s := range p.entries[i].Facts {
			quoted = append(quoted, one(len(s.Quotes) > 0))
			for _, q := range s.Quotes {
				borne = append(borne, one(!q.Weak))
				quotes[q.Post] = append(quotes[q.Post], words(q.Text))
			}
		}
	}
	figures := []Figure{
		figure("facts with a quotation", quoted), figure("quotations with words of their fact", borne),
	}
	var all []unit
	by, order := map[string][]unit{}, []string{}
	for i := range p.gold.Entities {
		e := &p.gold.Entities[i]
		for _, f := range e.Facts {
			if f.Quote == "" || f.Post == 0 {
				continue
			}
			wanted := words(f.Quote)
			u := one(slices.ContainsFunc(quotes[f.Post], func(q []string) bool { return overlap(q, wanted) }))
			if all = append(all, u); by[e.Importance] == nil {
				order = append(order, e.Importance)
			}
			by[e.Importance] = append(by[e.Importance], u)
		}
	}
	if all == nil {
		return figures
	}
	figures = append(figures, figure("facts of the list whose words are quoted", all))
	for _, importance := range order {
		if importance != "" {
			figures = append(figures, figure("– of "+importance+" things", by[importance]))
		}
	}
	return figures
}

func words(text string) []string {
	return strings.FieldsFunc(codex.Normalize(text), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// overlap reports whether two quotations have a run of words in common that is at least half of the shorter.
func overlap(a, b []string) bool {
	longest := 0
	runs := make([]int, len(b)+1) // runs[j]: of the words that end at a[i-1] and b[j-1]
	for i := range a {
		for j := len(b); j > 0; j-- {
			if a[i] != b[j-1] {
				runs[j] = 0
				continue
			}
			runs[j] = runs[j-1] + 1
			longest = max(longest, runs[j])
		}
	}
	return longest > 0 && 2*longest >= min(len(a), len(b))
}

// String is a line of the table that people read.
func (f Figure) String() string {
	if f.Whole == 0 {
		return fmt.Sprintf("%-52s    –", f.Name)
	}
	return fmt.Sprintf("%-52s %.3f  [%.3f, %.3f]  %g of %g", f.Name, f.Value, f.Low, f.High, round(f.Part),
		round(f.Whole))
}

func round(x float64) float64 { return float64(int(x*10+.5)) / 10 }
