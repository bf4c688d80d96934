package corpus

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"unicode"

	"annotator"
)

// mergedPost is a post of the result.
type mergedPost struct {
	id      int64
	draft   int64 // its id in the draft
	inDraft bool
	isNew   bool // the former corpus does not have it
	isKept  bool // it is of a book before, and stays as it is
}

// mergedThread is a thread of the result.
type mergedThread struct {
	id    int64
	title string // that it gets; empty: it keeps its own
	posts []mergedPost
}

// mergePlan compares a former corpus with a draft.
type mergePlan struct {
	series        Series
	books         []outlineThread // of the books before the one that the draft is of
	former, draft []outlineThread
	sentences     map[uint64]int // the thread of the former corpus that has a sentence; -1 for several
	sizes         [2]int         // bytes of the sentences of the former corpus and of the draft
	shared        int            // bytes of sentences of the draft that the former corpus has
	votes         []map[int]int  // of each thread of the draft: bytes of sentences that only one former thread has

	ids     map[int64]bool // of posts of the result
	threads map[int64]bool // their ids
	next    int64          // an id that no post has, and none after it
	result  []mergedThread
	changes Changes
}

// minSentence is the length from which a sentence counts, in bytes. Shorter ones occur in any story.
const minSentence = 24

func endsSentence(r rune) bool { return r == '\n' || unicode.Is(unicode.STerm, r) }

// planMerge compares a former corpus with a draft, which is the newest book of a series.
func planMerge(ctx context.Context, former, draft string, series Series) (*mergePlan, error) {
	p := &mergePlan{
		series: series, sentences: map[uint64]int{}, ids: map[int64]bool{}, threads: map[int64]bool{},
	}
	books, err := p.booksIn(ctx, former)
	if err != nil {
		return nil, err
	}
	p.former, err = outline(ctx, former, func(thread int, sentence uint64, size int) {
		if thread -= books; thread < 0 {
			return
		}
		p.sizes[0] += size
		if other, known := p.sentences[sentence]; known && other != thread {
			thread = -1
		}
		p.sentences[sentence] = thread
	})
	if err != nil {
		return nil, err
	}
	p.books, p.former = p.former[:books], p.former[books:]
	p.draft, err = outline(ctx, draft, func(thread int, sentence uint64, size int) {
		p.sizes[1] += size
		for len(p.votes) <= thread {
			p.votes = append(p.votes, map[int]int{})
		}
		if in, known := p.sentences[sentence]; known {
			p.shared += size
			p.votes[thread][in] += size
		}
	})
	for len(p.votes) < len(p.draft) {
		p.votes = append(p.votes, map[int]int{})
	}
	if series.Book > 0 {
		for i := range p.draft {
			p.draft[i].title = bookTitle(series.Book, p.draft[i].title)
		}
	}
	return p, err
}

// booksIn counts the threads of a corpus that are of the books before the newest one.
func (p *mergePlan) booksIn(ctx context.Context, path string) (int, error) {
	if p.series.Book == 0 {
		return 0, nil
	}
	db, err := Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	threads, err := db.Threads(ctx)
	last := slices.IndexFunc(threads, func(t annotator.Thread) bool { return t.ID == p.series.Last })
	if err == nil && last < 0 {
		err = annotator.Errorf(annotator.Misused, "the corpus %s is damaged: it has no thread %d", path, p.series.Last)
	}
	return last + 1, err
}

// leastShared is the part of the shorter of two texts that both have if they are of one story.
const leastShared = 4

// sameStory reports whether the draft can be of the same story as the former corpus.
func (p *mergePlan) sameStory() bool { return p.shared*leastShared >= min(p.sizes[0], p.sizes[1]) }

// align finds the result.
func (p *mergePlan) align() {
	last, numbered := int64(0), false
	for _, t := range slices.Concat(p.books, p.former) {
		p.threads[t.id] = true
		for i := range t.posts {
			p.ids[t.posts[i].id] = true
			last = max(last, t.posts[i].id)
		}
	}
	for i := range p.draft {
		numbered = numbered || p.draft[i].numbered
	}
	if numbered { // the source may use any small number later
		last = max(last, firstVersion)
	}
	p.next = last + 1
	for i := range p.books {
		p.keepThread(&p.books[i])
	}
	pairs := p.pairThreads()
	done := 0
	for i := range p.draft {
		if pairs[i] < 0 {
			continue
		}
		p.removeThreads(done, pairs[i])
		p.addThreads(i, pairs)
		p.mergeThread(&p.former[pairs[i]], &p.draft[i])
		done = pairs[i] + 1
	}
	p.removeThreads(done, len(p.former))
	p.addThreads(len(p.draft), pairs)
}

// firstVersion is where the ids of changed posts begin if the source numbers its posts.
const firstVersion = 1 << 41

// removeThreads adds former threads that the draft does not have.
func (p *mergePlan) removeThreads(from, to int) {
	for i := from; i < to; i++ {
		p.mergeThread(&p.former[i], &outlineThread{})
	}
}

// addThreads adds the threads of the draft directly before one of it that the former corpus does not have.
func (p *mergePlan) addThreads(before int, pairs []int) {
	from := before
	for from > 0 && pairs[from-1] < 0 {
		from--
	}
	for i := from; i < before; i++ {
		p.mergeThread(nil, &p.draft[i])
	}
}

// keepThread adds a thread of a book before.
func (p *mergePlan) keepThread(t *outlineThread) {
	kept := mergedThread{id: t.id, title: t.title}
	for i := range t.posts {
		kept.posts = append(kept.posts, mergedPost{id: t.posts[i].id, isKept: true})
	}
	p.result = append(p.result, kept)
}

// mergeThread adds a thread to the result, with the posts of both corpora. The former one is nil for a new thread.
func (p *mergePlan) mergeThread(former, draft *outlineThread) {
	var old []outlinePost
	if former != nil {
		old = former.posts
	}
	pairs := alignPosts(old, draft.posts)
	var posts []mergedPost
	fresh, gone, had := 0, 0, false
	keep := func(from, to int) {
		for i := from; i < to; i++ {
			posts = append(posts, mergedPost{id: old[i].id})
			if !old[i].former {
				gone, had = gone+1, true
			}
		}
	}
	done := 0
	for i, at := range pairs {
		if at < 0 {
			fresh++
			continue
		}
		keep(done, at)
		posts = p.appendNew(posts, draft, i-fresh, i)
		posts = append(posts, mergedPost{id: old[at].id, draft: draft.posts[i].id, inDraft: true})
		had = had || !old[at].former
		p.changes.NewPosts += fresh
		done = at + 1
		fresh = 0
	}
	keep(done, len(old))
	posts = p.appendNew(posts, draft, len(pairs)-fresh, len(pairs))
	p.changes.NewPosts += fresh
	p.changes.FormerPosts += gone
	isNew := slices.ContainsFunc(posts, func(m mergedPost) bool { return m.isNew })
	switch {
	case len(draft.posts) == 0 && had:
		p.changes.Removed++
	case len(draft.posts) > 0 && !had:
		p.changes.Added++
	case isNew || gone > 0:
		p.changes.Changed++
	}
	p.result = append(p.result, mergedThread{p.threadID(former, draft, posts), draft.title, posts})
}

// appendNew appends new posts of a thread of the draft.
func (p *mergePlan) appendNew(posts []mergedPost, draft *outlineThread, from, to int) []mergedPost {
	for i := from; i < to; i++ {
		id := draft.posts[i].id
		if !draft.numbered || p.ids[id] {
			id, p.next = p.next, p.next+1
		}
		p.ids[id] = true
		posts = append(posts, mergedPost{id: id, draft: draft.posts[i].id, inDraft: true, isNew: true})
	}
	return posts
}

// threadID returns the id of a thread of the result. That of a new thread is its number in the source, else that of its
// first post.
func (p *mergePlan) threadID(former, draft *outlineThread, posts []mergedPost) int64 {
	if former != nil {
		return former.id
	}
	id := draft.id
	if !draft.numbered && len(posts) > 0 {
		id = posts[0].id
	}
	for p.threads[id] {
		id = max(id+1, firstVersion)
	}
	p.threads[id] = true
	return id
}

// pairThreads returns the former thread of each thread of the draft, or -1. They are in the same order in both.
func (p *mergePlan) pairThreads() []int {
	byID, byTitle := map[int64]int{}, map[string]int{}
	for i, t := range p.former {
		byID[t.id] = i
		if _, known := byTitle[t.title]; known || t.title == "" {
			byTitle[t.title] = -1
			continue
		}
		byTitle[t.title] = i
	}
	pairs, weights := make([]int, len(p.draft)), make([]int, len(p.draft))
	for i := range p.draft {
		t := &p.draft[i]
		pairs[i] = -1
		delete(p.votes[i], -1)
		for _, in := range slices.Sorted(maps.Keys(p.votes[i])) {
			if n := p.votes[i][in]; n > weights[i] {
				pairs[i], weights[i] = in, n
			}
		}
		if at, known := byTitle[t.title]; pairs[i] < 0 && known && at >= 0 {
			pairs[i], weights[i] = at, 1
		}
		if at, known := byID[t.id]; t.numbered && known && p.former[at].numbered {
			pairs[i], weights[i] = at, 1+weights[i]
		}
	}
	keepAscending(pairs, weights)
	return pairs
}

// alignPosts returns the former post of each post of the draft, or -1. They are in the same order in both. Of posts
// with the same key, the first is paired with the first, and so on.
func alignPosts(former, draft []outlinePost) []int {
	at := map[[16]byte][]int{}
	for i := range former {
		at[former[i].key] = append(at[former[i].key], i)
	}
	pairs, weights := make([]int, len(draft)), make([]int, len(draft))
	for i := range draft {
		pairs[i], weights[i] = -1, 1
		if same := at[draft[i].key]; len(same) > 0 {
			pairs[i], at[draft[i].key] = same[0], same[1:]
		}
	}
	keepAscending(pairs, weights)
	return pairs
}

// keepAscending sets numbers to -1, so that the others ascend and their weights have the greatest sum. Negative numbers
// do not count.
func keepAscending(numbers, weights []int) {
	type chain struct{ weight, last int } // last is the index of its last number; -1 for none
	// best is a Fenwick tree over the numbers: the heaviest chain that ends with a number up to an index.
	best := make([]chain, slices.Max(append(numbers, 0))+2)
	for i := range best {
		best[i].last = -1
	}
	before := make([]int, len(numbers))
	heaviest := chain{last: -1}
	for i, n := range numbers {
		if n < 0 {
			continue
		}
		c := chain{last: -1}
		for k := n; k > 0; k -= k & -k {
			if best[k].weight > c.weight {
				c = best[k]
			}
		}
		before[i] = c.last
		c = chain{c.weight + weights[i], i}
		for k := n + 1; k < len(best); k += k & -k {
			if c.weight > best[k].weight {
				best[k] = c
			}
		}
		if c.weight > heaviest.weight {
			heaviest = c
		}
	}
	keep := make([]bool, len(numbers))
	for i := heaviest.last; i >= 0; i = before[i] {
		keep[i] = true
	}
	for i := range numbers {
		if !keep[i] {
			numbers[i] = -1
		}
	}
}

// sourceIDs returns the numbers that the source gives to posts of a thread.
func (db *DB) sourceIDs(ctx context.Context, thread int64) (map[int64]int64, error) {
	origins, err := db.Origins(ctx, thread)
	numbers := map[int64]int64{}
	for id, o := range origins {
		if o.ID != 0 {
			numbers[id] = o.ID
		}
	}
	return numbers, err
}

// String describes the changes in a sentence.
func (c Changes) String() string {
	var parts []string
	for _, part := range []struct {
		n    int
		what string
	}{{c.Added, "added"}, {c.Changed, "changed"}, {c.Removed, "removed"}} {
		if part.n > 0 {
			parts = append(parts, annotator.Quantity(part.n, "chapter")+" "+part.what)
		}
	}
	text := cmp.Or(strings.Join(parts, ", "), "no text is new or gone")
	if c.NewPosts > 0 {
		text += "; " + annotator.Quantity(c.NewPosts, "post") + " to read"
	}
	if c.FormerPosts > 0 {
		text += "; the former text of " + annotator.Quantity(c.FormerPosts, "post") + " is kept"
	}
	return text
}
