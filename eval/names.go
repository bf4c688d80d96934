package eval

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator/context/mention"
)

// Entry is an entry of the codex that is compared.
type Entry struct {
	ID    int64
	Names []string
	Kinds []string
	Facts []Statement
}

// Statement is a fact of the codex.
type Statement struct {
	Entry    int64
	ID       int64 // within the entry
	Term     string
	Text     string
	Kind     string
	Speaker  string
	Quotes   []Quote
	Position string // where the story tells it
	Open     bool   // it holds
	Relation string // what the entry is to Object; empty for none
	Object   string
}

// Quote is a quotation of a statement.
type Quote struct {
	Post int64
	Text string
	Weak bool // it shares no word or name with its statement
}

// pairing says which entries and things are the same, by their names.
type pairing struct {
	gold    *Gold
	entries []Entry
	weights map[string]float64 // of names: how often the story has them; nil: each counts once

	owner map[string]int   // of the names that belong to exactly one thing, which
	names [][]string       // of the entries
	thing []int            // of each entry; -1 for none
	of    map[int][]int    // of each thing, its entries
	holds map[string][]int // of each name, the entries that have it
}

func pair(gold *Gold, entries []Entry, weights map[string]float64) *pairing {
	p := &pairing{
		gold: gold, entries: entries, weights: weights,
		owner: map[string]int{}, of: map[int][]int{}, holds: map[string][]int{},
	}
	shared := map[string]bool{}
	for i := range gold.Entities {
		for _, name := range gold.Entities[i].names() {
			if _, taken := p.owner[name]; taken {
				shared[name] = true
			}
			p.owner[name] = i
		}
	}
	for name := range shared {
		delete(p.owner, name)
	}
	for i := range entries {
		names := comparable(entries[i].Names)
		p.names = append(p.names, names)
		for _, name := range names {
			p.holds[name] = append(p.holds[name], i)
		}
		thing := p.best(names, shared)
		if p.thing = append(p.thing, thing); thing >= 0 {
			p.of[thing] = append(p.of[thing], i)
		}
	}
	return p
}

// weight is how often a name counts. One that the story never writes counts once.
func (p *pairing) weight(name string) float64 { return max(1, p.weights[name]) }

// best returns the thing that most of an entry's names mean; -1 for none. A name that several things share counts only
// if no other name says more.
func (p *pairing) best(names []string, shared map[string]bool) int {
	votes := map[int]float64{}
	for _, name := range names {
		if thing, ok := p.owner[name]; ok {
			votes[thing] += p.weight(name)
		}
	}
	if len(votes) == 0 {
		for i := range p.gold.Entities {
			own := p.gold.Entities[i].names()
			for _, name := range names {
				if shared[name] && slices.Contains(own, name) {
					votes[i]++
				}
			}
		}
	}
	best := -1
	for thing, n := range votes {
		if best < 0 || cmp.Or(cmp.Compare(n, votes[best]), cmp.Compare(best, thing)) > 0 {
			best = thing
		}
	}
	return best
}

// mixes reports whether names of an entry belong to different things: of all its names, or of those that no other entry
// has.
func (p *pairing) mixes(entry int, all bool) bool { return len(p.thingsOf(entry, all)) > 1 }

// thingsOf returns the things to which names of an entry belong, with these names.
func (p *pairing) thingsOf(entry int, all bool) map[int][]string {
	things := map[int][]string{}
	for _, name := range p.names[entry] {
		if thing, ok := p.owner[name]; ok && (all || len(p.holds[name]) == 1) {
			things[thing] = append(things[thing], name)
		}
	}
	return things
}

// Merge is an entry whose names belong to different things.
type Merge struct {
	Entry  int64               `json:"entry"`
	Things map[string][]string `json:"things"` // by name, with the names of the entry that belong to each
}

// WrongMerges returns the entries whose names belong to different things.
func WrongMerges(gold *Gold, entries []Entry) (merges []Merge) {
	p := pair(gold, entries, nil)
	for i := range entries {
		m := Merge{entries[i].ID, map[string][]string{}}
		for thing, names := range p.thingsOf(i, true) {
			m.Things[gold.Entities[thing].Name] = names
		}
		if len(m.Things) > 1 {
			merges = append(merges, m)
		}
	}
	return merges
}

// String is a line such as "#12: wren, old wick (Wren Tallow); vane (Orrin Vane)".
func (m Merge) String() string {
	var parts []string
	for _, thing := range slices.Sorted(maps.Keys(m.Things)) {
		parts = append(parts, strings.Join(m.Things[thing], ", ")+" ("+thing+")")
	}
	return fmt.Sprintf("#%d: %s", m.Entry, strings.Join(parts, "; "))
}

// Titles that only men, or only women, bear, as names write them in the form in which they are compared.
const (
	male = " mr mister sir lord uncle brother father master king prince duke baron count monsieur m monseigneur " +
		"abbé don señor signor signore herr onkel oncle tío zio conte barone господин дядя князь граф барон "
	female = " mrs mistress miss ms lady madam aunt sister mother queen princess duchess baroness countess madame " +
		"mme mademoiselle mlle doña señora señorita signora signorina donna contessa frau fräulein tante tía zia " +
		"госпожа тётя княгиня княжна графиня баронесса "
)

// titlesContradict reports whether names have titles of both men and women in front of other words.
func titlesContradict(names []string) bool {
	var man, woman bool
	for _, name := range names {
		title, rest, _ := strings.Cut(name, " ")
		title = " " + strings.TrimSuffix(title, ".") + " "
		man = man || rest != "" && strings.Contains(male, title)
		woman = woman || rest != "" && strings.Contains(female, title)
	}
	return man && woman
}

// item is a name of the gold list with the thing and the entry that it means.
type item struct {
	thing  int
	entry  int // unique to the name where no entry has it
	weight float64
}

// items returns the names that belong to exactly one thing. A name of several entries means the one that is most about
// its thing, else the first.
func (p *pairing) items() (items []item) {
	next := len(p.entries)
	for i := range p.gold.Entities {
		for _, name := range p.gold.Entities[i].names() {
			if thing, ok := p.owner[name]; !ok || thing != i {
				continue
			}
			entry := next
			if holders := p.holds[name]; len(holders) > 0 {
				entry = holders[max(0, slices.IndexFunc(holders, func(h int) bool { return p.thing[h] == i }))]
			} else {
				next++
			}
			items = append(items, item{i, entry, p.weight(name)})
		}
	}
	return items
}

// bCubed returns precision and recall of names by B³ (Bagga and Baldwin 1998), weighted by how often the story has
// them. A unit is a name; those of f have both.
func bCubed(items []item) (precision, recall, f []unit) {
	things, entries, both := map[int]float64{}, map[int]float64{}, map[[2]int]float64{}
	for _, i := range items {
		things[i.thing] += i.weight
		entries[i.entry] += i.weight
		both[[2]int{i.thing, i.entry}] += i.weight
	}
	for _, i := range items {
		common := both[[2]int{i.thing, i.entry}]
		pure, whole := i.weight*common/entries[i.entry], i.weight*common/things[i.thing]
		precision = append(precision, unit{part: pure, whole: i.weight})
		recall = append(recall, unit{part: whole, whole: i.weight})
		f = append(f, unit{pure, whole, i.weight})
	}
	return precision, recall, f
}

// Counter counts how often a story has the names of a list and of a codex.
type Counter struct {
	index *mention.Index
	names []string // by the ids of the index, from 1
	count map[string]float64
}

// NewCounter returns a counter of names.
func NewCounter(gold *Gold, entries []Entry) *Counter {
	c := &Counter{index: mention.New(), count: map[string]float64{}}
	var all []string
	for i := range gold.Entities {
		all = append(all, gold.Entities[i].names()...)
	}
	for i := range entries {
		all = append(all, comparable(entries[i].Names)...)
	}
	slices.Sort(all)
	c.names = slices.Compact(all)
	for i, name := range c.names {
		c.index.SetNames(int64(i+1), []string{name})
	}
	return c
}

// Add counts the names in a text.
func (c *Counter) Add(text string) {
	for _, o := range c.index.Occurrences(text) {
		c.count[c.names[o.ID-1]]++
	}
}

// Weights returns the counts, by name.
func (c *Counter) Weights() map[string]float64 { return c.count }
