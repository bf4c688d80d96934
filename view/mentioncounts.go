package view

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"
)

// blocks is a query for how often mentions mean the entries ?2 in a block, and in which of its scenes. Its columns are
// entry_id, block, mentions and scenes. An entry and a block may have several rows, one for each name. In the block of
// the limit, it counts only the posts within the limit. A block that the limit cuts is of the thread of the limit: what
// comes between two scenes of a block is of their thread.
func (v *View) blocks() string {
	const columns = `SELECT t.entry_id, t.block, t.mentions, t.scenes FROM json_each(?2) c
		CROSS JOIN mention_count t ON t.entry_id = c.value`
	if v.m.IsZero() {
		return columns + ` WHERE ` + v.r.Limit.Counted("t")
	}
	return fmt.Sprintf(columns+` WHERE t.block < %[1]d AND %[2]s
		UNION ALL SELECT t.entry_id, s.block, count(*), sum(DISTINCT %[5]s)
		FROM json_each(?2) c CROSS JOIN mention t ON t.entry_id = c.value
		CROSS JOIN scene s ON s.ord = t.place / 1000000 CROSS JOIN scene l ON l.ord = s.block
		WHERE t.place BETWEEN 1000000 *
		    (SELECT ord FROM scene WHERE thread_id = %[6]d AND block >= %[1]d ORDER BY ord LIMIT 1)
		  AND %[4]d AND s.block >= %[1]d AND t.meant AND %[3]s GROUP BY t.entry_id, s.block`,
		v.lastScene(), v.r.Limit.Counted("t"), v.visible("t"), v.lastPlace(),
		storage.SceneBit, v.m.thread)
}

// ThreadCount is how often an entry is mentioned in a thread.
type ThreadCount struct {
	Entry  int64
	Thread int64
	Count  int
}

// MentionCounts counts the mentions of entries by thread, ordered by entry and then by story. It omits threads without
// a mention.
func (v *View) MentionCounts(ctx context.Context, entries []int64) ([]ThreadCount, error) {
	return v.MentionCountsIn(ctx, entries, 0, anyScene)
}

// MentionCountsIn is MentionCounts for the threads from one to another, which their orders name.
func (v *View) MentionCountsIn(ctx context.Context, entries []int64,
	first, last annotator.Order,
) (counts []ThreadCount, err error) {
	blocks, err := v.blocksIn(ctx, entries, first, last)
	if err != nil {
		return nil, err
	}
	threads, err := v.threadsOf(ctx, blocks)
	for _, entry := range slices.Sorted(maps.Keys(blocks)) {
		for _, b := range blocks[entry] {
			if n := len(counts); n > 0 && counts[n-1].Entry == entry && counts[n-1].Thread == threads[b.block] {
				counts[n-1].Count += b.mentions
			} else {
				counts = append(counts, ThreadCount{entry, threads[b.block], b.mentions})
			}
		}
	}
	return counts, err
}

// blockCount is how often an entry is mentioned in a block, and in which of its scenes: a bit for each.
type blockCount struct {
	block    annotator.Order
	mentions int
	scenes   uint64
}

// blocksOf returns the blocks that mention entries, by entry, in story order. It reads those of an entry once.
func (v *View) blocksOf(ctx context.Context, entries []int64) (map[int64][]blockCount, error) {
	v.memo.Lock()
	defer v.memo.Unlock()
	var missing []int64
	for _, id := range entries {
		if _, ok := v.memo.blocks[id]; !ok {
			missing = append(missing, id)
		}
	}
	found := map[int64][]blockCount{}
	if len(missing) > 0 {
		read, err := v.readBlocks(ctx, missing, 0, anyScene)
		if err != nil {
			return nil, err
		}
		for _, id := range missing {
			v.memo.blocks[id] = read[id]
		}
	}
	for _, id := range entries {
		if blocks := v.memo.blocks[id]; len(blocks) > 0 {
			found[id] = blocks
		}
	}
	return found, nil
}

// blocksIn is blocksOf for the threads from one to another, which their orders name.
func (v *View) blocksIn(ctx context.Context, entries []int64, first, last annotator.Order,
) (map[int64][]blockCount, error) {
	if first == 0 && last == anyScene {
		return v.blocksOf(ctx, entries)
	}
	if last != anyScene {
		err := v.r.Row(ctx, `SELECT coalesce(max(block), 0) FROM scene WHERE thread_id IN
			(SELECT thread_id FROM thread_state WHERE ord = ?)`, last).Scan(&last)
		if err != nil {
			return nil, sqlite.Wrap(err, "read the scenes in %s", v.db.Path())
		}
	}
	return v.readBlocks(ctx, entries, first, last)
}

// readBlocks reads the blocks from one to another. One row for each entry takes less time than one for each block.
func (v *View) readBlocks(ctx context.Context, entries []int64, first, last annotator.Order,
) (map[int64][]blockCount, error) {
	found := map[int64][]blockCount{}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var text string
		if err := rows.Scan(&entry, &text); err != nil {
			return err
		}
		blocks, err := parseBlocks(text)
		found[entry] = blocks
		return err
	}, `SELECT entry_id, group_concat(block || ' ' || mentions || ' ' || scenes, ' ') FROM (`+v.blocks()+`)
		WHERE block BETWEEN ?3 AND ?4 GROUP BY entry_id`,
		v.r.Limit.Bound(), storage.List(entries), first, last)
	return found, sqlite.Wrap(err, "count the mentions in %s", v.db.Path())
}

// parseBlocks reads blocks as readBlocks gets them, and adds up those of one block.
func parseBlocks(text string) (blocks []blockCount, err error) {
	fields := strings.Fields(text)
	number := func(i int) int64 {
		n, failed := strconv.ParseInt(fields[i], 10, 64)
		err = cmp.Or(err, failed)
		return n
	}
	for i := 0; i+2 < len(fields); i += 3 {
		blocks = append(blocks, blockCount{
			annotator.Order(number(i)), int(number(i + 1)), uint64(number(i + 2)), //nolint:gosec // a set of bits
		})
	}
	slices.SortStableFunc(blocks, func(a, b blockCount) int { return cmp.Compare(a.block, b.block) })
	sums := blocks[:0]
	for _, b := range blocks {
		if n := len(sums); n > 0 && sums[n-1].block == b.block {
			sums[n-1].mentions += b.mentions
			sums[n-1].scenes |= b.scenes
		} else {
			sums = append(sums, b)
		}
	}
	return sums, err
}

// EntryCount is an entry with a count.
type EntryCount struct {
	Entry int64
	Count int
}

func scanEntryCount(rows *sql.Rows, c *EntryCount) error { return rows.Scan(&c.Entry, &c.Count) }

// MostMentioned returns the entries with the most mentions, at most limit of them. It counts those of entries that have
// the most in the whole story, until no other can have more within the limit.
func (v *View) MostMentioned(ctx context.Context, limit int) ([]EntryCount, error) {
	var most []EntryCount
	for counted, next := 0, 2*limit; ; counted, next = counted+next, max(limit, counted/2) {
		likely, err := v.everMentioned(ctx, counted, next)
		if err != nil {
			return nil, err
		}
		more, err := readAll(ctx, v, "count the mentions", scanEntryCount, `SELECT entry_id, sum(mentions)
			FROM (`+v.blocks()+`) GROUP BY entry_id`, v.r.Limit.Bound(), storage.List(ids(likely)))
		if err != nil {
			return nil, err
		}
		most = append(most, more...)
		slices.SortFunc(most, compareCounts)
		most = most[:min(limit, len(most))]
		if len(likely) < next || len(most) == limit && compareCounts(most[limit-1], likely[next-1]) <= 0 {
			return most, nil
		}
	}
}

// everMentioned returns the entries with the most mentions in the whole story. Within a limit, none has more.
func (v *View) everMentioned(ctx context.Context, offset, limit int) ([]EntryCount, error) {
	return readAll(ctx, v, "count the mentions", scanEntryCount, `SELECT entry_id, mentions FROM mention_total
		ORDER BY mentions DESC, entry_id LIMIT ? OFFSET ?`, limit, offset)
}

func ids(counts []EntryCount) []int64 {
	list := make([]int64, len(counts))
	for i := range counts {
		list[i] = counts[i].Entry
	}
	return list
}

// compareCounts puts the higher counts first.
func compareCounts(a, b EntryCount) int {
	return cmp.Or(b.Count-a.Count, cmp.Compare(a.Entry, b.Entry))
}

// Appearing returns the entries that some consecutive scenes mention, those with the most mentions first, at most limit
// of them.
func (v *View) Appearing(ctx context.Context, first, last annotator.Order, limit int) ([]EntryCount, error) {
	return readAll(ctx, v, "count the mentions", scanEntryCount, `SELECT m.entry_id, count(*) FROM mention m
		WHERE m.place BETWEEN ?2 AND ?3 AND m.meant AND `+v.visible("m")+` AND `+v.r.Limit.Live("m.entry_id")+`
		GROUP BY m.entry_id ORDER BY 2 DESC, m.entry_id LIMIT ?4`, v.r.Limit.Bound(),
		annotator.PlaceAt(first, 0), annotator.PlaceAt(last+1, 0)-1, limit)
}

// sceneSet is a set of scenes: by block, a bit for each.
type sceneSet map[annotator.Order]uint64

func (s sceneSet) len() int { return s.shared(s) }

// shared returns the number of scenes that two sets have in common.
func (s sceneSet) shared(other sceneSet) (n int) {
	for block, scenes := range s {
		n += bits.OnesCount64(scenes & other[block])
	}
	return n
}

// scenesOf returns the scenes that mention entries, by entry.
func (v *View) scenesOf(ctx context.Context, entries ...int64) (map[int64]sceneSet, error) {
	found := map[int64]sceneSet{}
	blocks, err := v.blocksOf(ctx, entries)
	for id, list := range blocks {
		found[id] = sceneSet{}
		for _, b := range list {
			found[id][b.block] = b.scenes
		}
	}
	return found, err
}

// Pair is two entries with the number of the scenes that mention both.
type Pair struct {
	A, B      int64
	Scenes    int
	Threads   []int64 // of these scenes, in story order
	Closeness float64 // 0 to 1: the share of these in the scenes of each, their geometric mean
}

// Together returns the pairs of entries that some scene mentions together, in the order of the list.
func (v *View) Together(ctx context.Context, entries []int64) ([]Pair, error) {
	scenes, err := v.scenesOf(ctx, entries...)
	if err != nil {
		return nil, err
	}
	blocks, err := v.blocksOf(ctx, entries)
	if err != nil {
		return nil, err
	}
	threads, err := v.threadsOf(ctx, blocks)
	var pairs []Pair
	for i, a := range entries {
		for _, b := range entries[i+1:] {
			p := Pair{A: a, B: b}
			for _, of := range blocks[a] {
				n := bits.OnesCount64(of.scenes & scenes[b][of.block])
				if at := len(p.Threads); n > 0 && (at == 0 || p.Threads[at-1] != threads[of.block]) {
					p.Threads = append(p.Threads, threads[of.block])
				}
				p.Scenes += n
			}
			if p.Scenes > 0 {
				p.Closeness = float64(p.Scenes) / math.Sqrt(float64(scenes[a].len()*scenes[b].len()))
				pairs = append(pairs, p)
			}
		}
	}
	return pairs, err
}

// threadsOf returns the threads of some blocks.
func (v *View) threadsOf(ctx context.Context, blocks map[int64][]blockCount) (map[annotator.Order]int64, error) {
	threads := map[annotator.Order]int64{}
	for _, list := range blocks {
		for _, b := range list {
			threads[b.block] = 0
		}
	}
	err := v.r.Each(ctx, func(rows *sql.Rows) error {
		var block annotator.Order
		var thread int64
		err := rows.Scan(&block, &thread)
		threads[block] = thread
		return err
	}, `SELECT s.ord, s.thread_id FROM json_each(?) c CROSS JOIN scene s ON s.ord = c.value`,
		storage.List(slices.Sorted(maps.Keys(threads))))
	return threads, sqlite.Wrap(err, "read the scenes in %s", v.db.Path())
}

// fewScenes is the number of scenes of which all mentions are read to count companions. The scenes of an entry that has
// more are compared block by block.
const fewScenes = 200

// Companions returns the entries that share the most scenes with an entry, with the number of these scenes. It returns
// at most limit entries.
func (v *View) Companions(ctx context.Context, entry int64, limit int) ([]EntryCount, error) {
	scenes, err := v.scenesOf(ctx, entry)
	if err != nil {
		return nil, err
	}
	if scenes[entry].len() > fewScenes {
		return v.companionsOfMany(ctx, entry, scenes[entry], limit)
	}
	return readAll(ctx, v, "count the mentions", scanEntryCount, `SELECT o.entry_id, count(DISTINCT o.place / 1000000)
		FROM (SELECT DISTINCT m.place / 1000000 AS n FROM mention m
		    WHERE m.entry_id = ?2 AND m.meant AND `+v.visible("m")+`) s
		  CROSS JOIN mention o ON o.place BETWEEN s.n * 1000000 AND s.n * 1000000 + 999999
		WHERE o.entry_id <> ?2 AND o.meant AND `+v.visible("o")+` GROUP BY o.entry_id
		ORDER BY 2 DESC, o.entry_id LIMIT ?3`,
		v.r.Limit.Bound(), entry, limit)
}

// companionsOfMany compares an entry with the others, in the order of their mentions. An entry shares at most as many
// scenes as it has mentions. So it stops when enough entries share more scenes than the next one has mentions.
func (v *View) companionsOfMany(ctx context.Context, entry int64, scenes sceneSet,
	limit int,
) (best []EntryCount, err error) {
	for compared, next := 0, 8*limit; ; compared, next = compared+next, 8*next {
		others, err := v.everMentioned(ctx, compared, next)
		if err != nil {
			return nil, err
		}
		sets, err := v.scenesOf(ctx, ids(others)...)
		if err != nil {
			return nil, err
		}
		for other, set := range sets {
			if n := set.shared(scenes); n > 0 && other != entry {
				best = append(best, EntryCount{other, n})
			}
		}
		slices.SortFunc(best, compareCounts)
		best = best[:min(limit, len(best))]
		if len(others) < next || len(best) == limit && compareCounts(best[limit-1], others[next-1]) <= 0 {
			return best, nil
		}
	}
}
