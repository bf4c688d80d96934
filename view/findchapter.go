package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/corpus/ingest"
)

// Resolve returns the thread's point for a point that names a chapter or a book, and others as they are. Only chapters
// within the limit exist: the error names no other.
func (v *View) Resolve(ctx context.Context, p Point) (Point, error) {
	if p.Kind != PointChapter && p.Kind != PointBook {
		return p, nil
	}
	chapters, err := v.Chapters(ctx)
	if err != nil {
		return Point{}, err
	}
	if p.Kind == PointBook {
		for i := range slices.Backward(chapters) {
			if int64(chapters[i].book) == p.ID {
				return Point{Kind: PointThread, ID: chapters[i].ID}, nil
			}
		}
		return Point{}, annotator.Errorf(annotator.NotFound, "the story has no book %d", p.ID).
			WithReason(annotator.ReasonUnknownChapter)
	}
	found := chapters.Find(p.Name)
	switch {
	case len(found) == 1:
		return Point{Kind: PointThread, ID: chapters[found[0]].ID}, nil
	case len(found) > 1:
		return Point{}, annotator.Errorf(annotator.Misused, "chapter %s may be any of %d", p.Name, len(found)).
			WithAdvice("name one: %s", chapters.list(found))
	}
	where := ""
	if !v.m.IsZero() {
		where = " up to the limit"
	}
	missing := annotator.Errorf(annotator.NotFound, "the story has no chapter %s%s", p.Name, where)
	if near := chapters.nearest(p.Name); len(near) > 0 {
		return Point{}, missing.WithAdvice("the nearest: %s", chapters.list(near))
	}
	return Point{}, missing.WithReason(annotator.ReasonUnknownChapter)
}

// Find returns the indices of the chapters with a name, in story order. A name is the number of a heading: "20", "XX",
// or "II.5" where parts repeat numbers. It may be the rank in the story: "#20". Otherwise it is a title, in quotation
// marks if it could be a number. The beginning of a title or some of its words are enough.
func (c Chapters) Find(name string) []int {
	if n, err := strconv.Atoi(strings.TrimPrefix(name, "#")); err == nil && strings.HasPrefix(name, "#") {
		if n < 1 || n > len(c) {
			return nil
		}
		return []int{n - 1}
	}
	title, quoted := unquote(name)
	if !quoted {
		if found := c.numbered(numbersOf(name)); len(found) > 0 {
			return found
		}
	}
	key := titleKey(title)
	for _, matches := range []func(title string) bool{
		func(title string) bool { return title == key },
		func(title string) bool { return strings.HasPrefix(title, key) },
		func(title string) bool { return strings.Contains(title, " "+key) },
	} {
		found := c.where(func(of *Chapter) bool { return key != "" && slices.ContainsFunc(of.keys, matches) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func (c Chapters) where(matches func(*Chapter) bool) (found []int) {
	for i := range c {
		if matches(&c[i]) {
			found = append(found, i)
		}
	}
	return found
}

// numbersOf reads numbers with dots between them; nil for anything else.
func numbersOf(name string) (numbers []int) {
	for text := range strings.SplitSeq(name, ".") {
		n := ingest.ReadNumber(text)
		if n == 0 {
			return nil
		}
		numbers = append(numbers, n)
	}
	return numbers
}

// numbered returns the chapters with a number, within parts with the numbers before it. Among headings of several
// kinds, a number means those of the lowest rank.
func (c Chapters) numbered(numbers []int) []int {
	if len(numbers) == 0 {
		return nil
	}
	exact := c.where(func(of *Chapter) bool { return len(numbers) > 1 && slices.Equal(of.path, numbers) })
	if len(exact) > 0 {
		return exact
	}
	found := c.where(func(of *Chapter) bool { return endsWith(of.path, numbers) })
	least := 0
	if len(found) > 0 {
		least = slices.MinFunc(found, func(a, b int) int { return cmp.Compare(c[a].rank, c[b].rank) })
	}
	return slices.DeleteFunc(found, func(i int) bool { return c[i].rank > c[least].rank })
}

// endsWith reports whether a path ends with the last of some numbers, and has the others before it, in their order.
func endsWith(path, numbers []int) bool {
	last, above := len(numbers)-1, 0
	if len(path) == 0 || path[len(path)-1] != numbers[last] {
		return false
	}
	for _, n := range path[:len(path)-1] {
		if above < last && n == numbers[above] {
			above++
		}
	}
	return above == last
}

// Name returns the shortest name by which Find finds only the chapter with an index.
func (c Chapters) Name(i int) string {
	var names []string
	if path := c[i].path; len(path) > 0 {
		whole := strings.Trim(strings.ReplaceAll(fmt.Sprint(path), " ", "."), "[]")
		names = append(names, strconv.Itoa(path[len(path)-1]), whole)
	}
	names = append(names, `"`+strings.Join(strings.Fields(c[i].Title), " ")+`"`)
	for _, name := range names {
		if found := c.Find(name); len(found) == 1 && found[0] == i {
			return name
		}
	}
	return "#" + strconv.Itoa(i+1)
}

// Point returns the point at the end of the chapter with an index, by its name.
func (c Chapters) Point(i int) Point { return Point{Kind: PointChapter, Name: c.Name(i)} }

// maxListed is how many chapters an error names.
const maxListed = 5

// list writes chapters as points, with their titles.
func (c Chapters) list(which []int) string {
	var items []string
	for _, i := range which[:min(len(which), maxListed)] {
		item := c.Point(i).String()
		if title := strings.Join(strings.Fields(c[i].Title), " "); title != "" && !strings.HasSuffix(item, `"`) {
			item += " (" + title + ")"
		}
		items = append(items, item)
	}
	if more := len(which) - maxListed; more > 0 {
		items = append(items, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(items, ", ")
}

// nearest returns the few chapters whose numbers, or else titles, are most like a name. They are in story order.
func (c Chapters) nearest(name string) []int {
	const few = 3
	ordinal, isOrdinal := strings.CutPrefix(name, "#")
	numbers, title := numbersOf(ordinal), pairsOf(name)
	distances := map[int]float64{}
	for i := range c {
		path := c[i].path
		switch {
		case isOrdinal && len(numbers) == 1:
			distances[i] = float64(abs(i + 1 - numbers[0]))
		case len(numbers) == 0 && c[i].likeness(title) > minLikeness:
			distances[i] = -c[i].likeness(title)
		case len(numbers) > 0 && len(path) > 0:
			distances[i] = float64(maxDistance*c[i].rank + abs(path[len(path)-1]-numbers[len(numbers)-1]))
		}
	}
	found := slices.SortedFunc(maps.Keys(distances), func(a, b int) int {
		return cmp.Or(cmp.Compare(distances[a], distances[b]), cmp.Compare(a, b))
	})
	found = found[:min(len(found), few)]
	slices.Sort(found)
	return found
}

const (
	maxDistance = 10_000 // of two numbers of headings
	minLikeness = 0.6
)

func abs(n int) int { return max(n, -n) }

// pairsOf counts the pairs of neighbouring letters of a title.
func pairsOf(title string) map[[2]rune]int {
	letters := []rune(titleKey(title))
	pairs := map[[2]rune]int{}
	for i := 1; i < len(letters); i++ {
		pairs[[2]rune{letters[i-1], letters[i]}]++
	}
	return pairs
}

// likeness returns how much of a name a title of the chapter has, from 0 to 1, in pairs of letters.
func (c *Chapter) likeness(name map[[2]rune]int) (most float64) {
	for _, key := range c.keys {
		common, all, title := 0, 0, pairsOf(key)
		for pair, n := range name {
			common, all = common+min(n, title[pair]), all+n
		}
		if all > 0 {
			most = max(most, float64(common)/float64(all))
		}
	}
	return most
}
