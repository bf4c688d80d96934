package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// groupSize is what a group of headings has.
type groupSize struct {
	name  string
	count int
	agree int   // how many are in the list of contents
	words int   // directly below them
	reach int   // below them up to the next heading of a chapter or part
	sizes []int // of each, up to the next of the group
	level map[int]int
}

// The chapters that a table of contents makes are taken unless they are as few or as long as this.
const (
	fewChapters  = 2
	longChapters = 25_000 // words
)

// choose decides which headings begin chapters.
func (b *book) choose() *outline {
	if b.one && !b.hasChapters() {
		return b.chooseFirst()
	}
	b.listUnnamed()
	byTable := b.chooseAmong(true)
	if byTable != nil && !byTable.poor() {
		return byTable
	}
	b.unlist()
	byHeadings := b.chooseAmong(false)
	if byTable != nil && (byHeadings == nil || len(byHeadings.starts()) <= len(byTable.starts()) ||
		len(byHeadings.starts()) < 3) {
		b.listUnnamed()
		return byTable
	}
	if byHeadings == nil {
		return &outline{book: b, chosen: map[string]bool{}, byPage: true}
	}
	return byHeadings
}

// listUnnamed adds headings at the top of pages to those of the table of contents, if it does not name the page. They
// begin chapters, too.
func (b *book) listUnnamed() {
	level := 0
	named := map[string]bool{}
	for _, n := range b.headings() {
		if n.listed {
			named[n.doc] = true
		}
	}
	for _, n := range b.headings() {
		switch {
		case n.listed:
			level = n.level
		case n.page && level > 0 && !named[n.doc]:
			n.plain, n.level, n.listed = n.level, level, true
		}
	}
}

// unlist undoes listUnnamed.
func (b *book) unlist() {
	for _, n := range b.nodes {
		if n.plain > 0 {
			n.level, n.plain, n.listed = n.plain, 0, false
		}
	}
}

// chooseFirst makes the whole book one chapter, whose title is its first heading.
func (b *book) chooseFirst() *outline {
	o := &outline{book: b, chosen: map[string]bool{}, single: true, first: -1}
	for i, n := range b.nodes {
		if n.kind == heading && n.stays() {
			o.first = i
		}
		if n.hasText() || o.first >= 0 {
			break
		}
	}
	return o
}

// hasChapters reports whether a book has several headings of chapters by their labels.
func (b *book) hasChapters() bool {
	found := 0
	for _, n := range b.headings() {
		if n.head.rank == chapterly {
			found++
		}
	}
	return found > 1
}

// poor reports whether an outline has too few or too long chapters.
func (o *outline) poor() bool {
	starts := o.starts()
	if len(starts) <= fewChapters || o.namesPartsOnly(starts) {
		return true
	}
	var sizes []int
	for k, i := range starts {
		end := len(o.nodes)
		if k+1 < len(starts) {
			end = starts[k+1]
		}
		sizes = append(sizes, o.wordsBetween(i, end))
	}
	slices.Sort(sizes)
	return sizes[len(sizes)/2] > longChapters
}

// namesPartsOnly reports whether all chapters are parts by their wording, and the text has headings of chapters below
// them.
func (o *outline) namesPartsOnly(starts []int) bool {
	chapters := 0
	for _, n := range o.headings() {
		if n.head.rank == chapterly && !n.listed {
			chapters++
		}
	}
	return chapters > len(starts) && !slices.ContainsFunc(starts, func(i int) bool {
		return o.nodes[i].head.rank != container
	})
}

// starts are the headings of chapters that have text.
func (o *outline) starts() []int {
	var all []int
	for i := range o.nodes {
		if o.role(i) != startsChapter {
			continue
		}
		if n := len(all); n > 0 && o.wordsBetween(all[n-1], i) == 0 {
			all = all[:n-1]
		}
		all = append(all, i)
	}
	return all
}

func (b *book) wordsBetween(from, to int) int {
	words := 0
	for _, n := range b.nodes[from:max(from, to)] {
		if n.hasText() {
			words += annotator.CountWords(n.text)
		}
	}
	return words
}

// chooseAmong chooses among the entries of the format's table of contents, or among the headings of the text; nil if
// there are none.
func (b *book) chooseAmong(table bool) *outline {
	groups, total := b.measureGroups(table)
	if len(groups) == 0 {
		return nil
	}
	o := &outline{book: b, fromTable: table, chosen: map[string]bool{}, nested: map[int]bool{}}
	best := chosenLabel(groups, total)
	if best == nil {
		best = chosenGroup(groups)
		best = parentOf(groups, b.above(groups, best))
	}
	o.chosen[best.name] = true
	for level, n := range best.level {
		if n > best.level[o.level] || n == best.level[o.level] && level < o.level {
			o.level = level
		}
	}
	o.admitOthers(best.name)
	o.agreed = best.agree*3 > best.count*2
	return o
}

// measureGroups measures the groups of headings, and counts the words of the book.
func (b *book) measureGroups(table bool) ([]*groupSize, int) {
	byName := map[string]*groupSize{}
	var groups []*groupSize
	var below, reaching *groupSize
	total := 0
	for _, n := range b.nodes {
		switch {
		case !n.stays():
		case n.kind == heading && n.listed == table:
			g := byName[n.group()]
			if g == nil {
				g = &groupSize{name: n.group(), level: map[int]int{}}
				byName[g.name], groups = g, append(groups, g)
			}
			g.count++
			if n.agrees || n.title != nil && n.title.agrees {
				g.agree++
			}
			g.level[n.level]++
			g.sizes = append(g.sizes, 0)
			below = g
			if n.head.rank == chapterly || n.head.rank == container || n.head.kind == namedHeading || n.listed {
				reaching = g
			}
		case n.kind == paragraph:
			words := annotator.CountWords(n.text)
			total += words
			if below != nil {
				below.words += words
			}
			if reaching != nil {
				reaching.reach += words
			}
			for _, g := range groups {
				g.sizes[len(g.sizes)-1] += words
			}
		}
	}
	return groups, total
}

// chosenLabel is the label of chapters that contain most of the book; nil if there is none. CHAPTER, LETTER, ACT and
// their kind win whatever their level.
func chosenLabel(groups []*groupSize, total int) *groupSize {
	var best *groupSize
	for _, g := range groups {
		if words().Ranks[headingKind(g.name)] == chapterly && (best == nil || g.reach > best.reach) {
			best = g
		}
	}
	if best == nil || best.reach*5 < total*2 || best.count < 2 && best.reach*5 < total*4 {
		return nil
	}
	return best
}

// sensibleChapter is how many words a chapter has at least as a rule.
const sensibleChapter = 150

// chosenGroup is the group that most words hang on, if its chapters are of a sensible length.
func chosenGroup(groups []*groupSize) *groupSize {
	score := func(g *groupSize) float64 {
		median := g.median()
		value := float64(g.words) + 1
		if median < sensibleChapter {
			value *= (float64(median) + 1) / sensibleChapter
		}
		if g.count < 2 || g.name == "named" {
			value /= 1000
		}
		switch {
		case words().Ranks[headingKind(g.name)] == sectional:
			value /= 2
		case g.name == "titled", g.name == "agrees": // a title is more evidence than a number
			value *= 1.5
		}
		return value
	}
	return slices.MaxFunc(groups, func(x, y *groupSize) int { return cmp.Compare(score(x), score(y)) })
}

// Chapters of a level are sections if they are short and those of the level above are not long.
const (
	shortSection = 250  // words
	longParent   = 6000 // words
)

// parentOf returns the group one level higher if a group has sections rather than chapters.
func parentOf(groups []*groupSize, best *groupSize) *groupSize {
	level, ok := strings.CutPrefix(best.name, "level")
	if !ok || best.median() >= shortSection {
		return best
	}
	n, _ := strconv.Atoi(level)
	for _, g := range groups {
		if g.name == "level"+strconv.Itoa(n-1) && g.count > 1 && g.median() <= longParent && best.count >= 2*g.count {
			return g
		}
	}
	return best
}

// median returns the median size of the sections of a group.
func (g *groupSize) median() int {
	slices.Sort(g.sizes)
	return g.sizes[(len(g.sizes)-1)/2]
}

// above finds the headings with a title below each of which the numbers of a group begin anew: the numbers are sections
// then.
func (b *book) above(groups []*groupSize, numbers *groupSize) *groupSize {
	if numbers.name != "number" {
		return numbers
	}
	restarts, below := 0, map[string]int{}
	previous := -1
	for i, n := range b.headings() {
		if n.listed {
			continue
		}
		if n.group() == numbers.name && n.head.number == 1 {
			if restarts++; previous >= 0 && b.next(previous) == i {
				below[b.nodes[previous].group()]++
			}
		}
		previous = i
	}
	for _, g := range groups {
		if (g.name == "titled" || g.name == "agrees") && restarts > 1 && below[g.name] == restarts {
			return g
		}
	}
	return numbers
}

// admitOthers finds the headings with other labels that also begin chapters. Letters before the first chapter do; the
// acts of a play within a chapter do not.
func (o *outline) admitOthers(best string) {
	at := o.ofGroup(best)
	o.opens = at[0]
	for i, n := range o.headings() {
		if n.head.rank != chapterly || n.group() == best || n.listed {
			continue
		}
		k, _ := slices.BinarySearch(at, i)
		within := k > 0 && (k == len(at) || o.nodes[at[k]].head.number == o.nodes[at[k-1]].head.number+1)
		o.nested[i] = n.level > o.level || n.level == 0 && within
	}
}
