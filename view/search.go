package view

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// What a search looks at of a query.
const (
	maxWords     = 12
	maxWordBytes = 64
)

const (
	commonWord = 1_000 // names and claims that make a word common
	fewHits    = 50    // that never do
	maxHits    = 2_000 // names, and claims, with a common word that a search reads: the first in the story
)

// Search returns entries by words in their names and claims. Entries whose name is in the query come first, the longest
// name before others, whatever else they match. Then come the best matches: entries that have all words, or else any of
// them. A word that few have counts for more, and one in a name for more than one in a claim. Common words, such as
// "the", count only where no other word finds anything. Every word is taken literally, so no text is a syntax error.
// Words that FTS5 does not index, as in scripts without spaces, are looked for inside names. A query without a word
// finds everything, by term.
func (g Glossary) Search(ctx context.Context, query annotator.Query) ([]annotator.Entry, error) {
	r := g.Reader()
	found, err := (&search{r}).find(ctx, query)
	if err != nil {
		return nil, err
	}
	entries, err := r.Entries(ctx, found.ids, storage.Whole)
	return storage.InOrder(found.ids, entries), err
}

// Glossary is the glossary inside the transaction of a tool, with the search of a View.
type Glossary struct{ *storage.Glossary }

// search finds entries at a limit.
type search struct{ storage.Reader }

// finding is what a query finds.
type finding struct {
	ids   []int64  // of entries, best first
	total int      // how many without offset and limit
	words []string // as in Page
}

// find returns what a query finds. Nothing after the limit affects the results or their order: all counts are of rows
// within the limit.
func (s *search) find(ctx context.Context, query annotator.Query) (found finding, err error) {
	query.Text = codex.Visible(query.Text)
	words := searchWords(query.Text)
	if len(words) == 0 {
		found.ids, found.total, err = s.listed(ctx, query)
	} else if found.ids, found.words, err = s.ranked(ctx, query, words); err == nil {
		found.total = len(found.ids)
		found.ids = found.ids[min(max(query.Offset, 0), found.total):]
		if query.Limit > 0 {
			found.ids = found.ids[:min(query.Limit, len(found.ids))]
		}
	}
	return found, err
}

// listed returns the entries that the filters let through, by term.
func (s *search) listed(ctx context.Context, query annotator.Query) (ids []int64, total int, err error) {
	clause, args, err := s.filter(query)
	if err != nil {
		return nil, 0, err
	}
	const from = ` FROM value e WHERE `
	count, many := `SELECT count(*)`+from+clause, clause // many finds the first by term without sorting all
	// Without tags, SQLite would read the values of all fields, because that index has all columns.
	if len(query.Tags) == 0 {
		count = `SELECT count(*) FROM value e INDEXED BY value_term WHERE ` + clause
	}
	switch {
	case query.Letter != "":
		args = append(args, query.Letter, query.Letter+string(unicode.MaxRune))
		initial := fmt.Sprintf(` AND e.key BETWEEN ?%d AND ?%d`, len(args)-1, len(args))
		clause, many, count = clause+initial, many+initial, count+initial
	case len(query.Tags) == 1 && len(query.Statuses) == 0: // nearly all entries that have the tag are live
		tag := `v.field = 'tag' AND v.key = ?3 AND ` + s.Limit.InForce("v")
		tagged := ` AND EXISTS (SELECT 1 FROM value v WHERE v.entry_id = e.entry_id AND ` + tag + `)`
		count = `SELECT (SELECT count(*) FROM value v WHERE ` + tag + `) - (SELECT count(*)` + from +
			s.Limit.Gone("e") + tagged + `)`
		many = named(s.Limit, "e") + tagged
	case len(query.Tags) == 0 && len(query.Statuses) > 0: // what has a status has a term
		count = `SELECT count(*) FROM value s INDEXED BY value_status WHERE ` + s.status()
		if _, without := statuses(query); without {
			count = `SELECT (SELECT count(*) FROM value e INDEXED BY value_term
				WHERE e.field = 'term' AND ` + s.Limit.InForce("e") + `) - (` + count + `)`
		} else {
			clause += ` AND e.entry_id IN (SELECT s.entry_id FROM value s WHERE ` + s.status() + `)`
		}
	}
	if err := s.Row(ctx, count, args...).Scan(&total); err != nil || total == 0 {
		return nil, 0, err
	}
	if total > commonWord {
		clause = many
	}
	order, rows := `e.key, e.entry_id`, from
	switch {
	case query.ByAge && query.Offset > commonWord: // the index of terms is smaller than that of entries
		order = `+e.entry_id`
	case query.ByAge: // the first are found without reading all
		order, rows = `a.id`, ` FROM entry a CROSS JOIN value e ON e.entry_id = a.id WHERE `
	}
	args = append(args, max(query.Limit, 0), max(query.Offset, 0))
	ids, err = storage.Rows(ctx, s.Reader, "search the codex", storage.ScanValue[int64],
		fmt.Sprintf(`SELECT e.entry_id%s ORDER BY %s LIMIT iif(?%[3]d > 0, ?%[3]d, -1) OFFSET ?%[4]d`,
			rows+clause, order, len(args)-1, len(args)), args...)
	return ids, total, err
}

// named is a condition on values e that are the term of an entry in the codex.
func named(l storage.Limit, table string) string {
	return fmt.Sprintf(`%[1]s.field = 'term' AND %[2]s AND ?2 IS NOT NULL
		AND %[1]s.entry_id NOT IN (SELECT g.entry_id FROM value g WHERE %[3]s)`, table, l.InForce(table), l.Gone("g"))
}

// statuses returns those of which an entry of a query has one, or has none: an entry without a status is tentative.
func statuses(query annotator.Query) (list []annotator.Status, without bool) {
	if !slices.Contains(query.Statuses, annotator.Tentative) {
		return query.Statuses, false
	}
	for _, status := range []annotator.Status{annotator.Confirmed, annotator.Retired, annotator.Merged} {
		if !slices.Contains(query.Statuses, status) {
			list = append(list, status)
		}
	}
	return list, true
}

// status is a condition on values s that are one of the statuses ?2.
func (s *search) status() string {
	return `s.field = 'status' AND s.key IN (SELECT value FROM json_each(?2)) AND ` + s.Limit.InForce("s")
}

// filter returns a condition on values e that are the term of an entry, and its arguments. The first argument is the
// limit.
func (s *search) filter(query annotator.Query) (clause string, args []any, err error) {
	tags, err := codex.Tags(query.Tags)
	if err != nil {
		return "", nil, err
	}
	wanted, without := statuses(query)
	args = []any{s.Limit.Bound(), storage.List(wanted)}
	clause = named(s.Limit, "e")
	if len(query.Statuses) > 0 {
		has := map[bool]string{false: "EXISTS", true: "NOT EXISTS"}[without]
		clause = `e.field = 'term' AND ` + s.Limit.InForce("e") + ` AND ` + has + `
			(SELECT 1 FROM value s WHERE s.entry_id = e.entry_id AND ` + s.status() + `)`
	}
	for _, tag := range tags {
		args = append(args, tag)
		clause += fmt.Sprintf(` AND e.entry_id IN
			(SELECT entry_id FROM value v WHERE v.field = 'tag' AND v.key = ?%d AND %s)`,
			len(args), s.Limit.InForce("v"))
	}
	return clause, args, nil
}

// ranked returns the entries that match the words and pass the filters, best first, and the words that found them. The
// words are empty if the text was looked for inside names.
func (s *search) ranked(ctx context.Context, query annotator.Query,
	words []string,
) (ids []int64, by []string, err error) {
	rare, err := s.rare(ctx, words)
	if err != nil {
		return nil, nil, err
	}
	for _, by = range [][]string{rare, words} {
		scores, err := s.scores(ctx, query, by)
		if err != nil {
			return nil, nil, err
		}
		if ids, err = s.sorted(ctx, query, scores, rare); err != nil || len(ids) > 0 {
			return ids, by, err
		}
	}
	inside, err := s.inside(ctx, query)
	if err != nil {
		return nil, nil, err
	}
	query.Offset, query.Limit = 0, 0
	ids, err = s.filtered(ctx, query, inside)
	return ids, nil, err
}

// rare returns those of the words that are not common; all if every one is. In a short story a word is common if it is
// much more frequent than another one of the query.
func (s *search) rare(ctx context.Context, words []string) ([]string, error) {
	if len(words) == 1 {
		return words, nil
	}
	counts, least := make([]int, len(words)), commonWord
	for i, word := range words {
		err := s.Row(ctx, `SELECT
			(SELECT count(*) FROM (`+s.rows(names)+`)) + (SELECT count(*) FROM (`+s.rows(claims)+`))`,
			s.Limit.Bound(), storage.Phrase(word), s.Limit.End(), commonWord+1).Scan(&counts[i])
		if err != nil {
			return nil, err
		}
		if counts[i] > 0 {
			least = min(least, counts[i])
		}
	}
	var rare []string
	for i, word := range words {
		if counts[i] <= min(commonWord, max(fewHits, 8*least)) {
			rare = append(rare, word)
		}
	}
	if len(rare) == 0 {
		return words, nil
	}
	return rare, nil
}

// The full-text indexes.
const (
	names  = "glossary_fts_name"
	claims = "glossary_fts_claim"
)

// rows is a query for the rows of an index that have a term and are within the limit: the first ?4 in the story.
func (s *search) rows(index string) string {
	return `SELECT v.* FROM ` + index + ` f CROSS JOIN value v ON v.id = f.rowid
		WHERE ` + index + ` MATCH ?2 AND f.rowid < ?3
		AND ` + s.Limit.Known("v") + ` ORDER BY f.rowid LIMIT ?4`
}

// score is how well an entry matches.
type score struct {
	words  int     // how many of the words it has
	rare   float64 // a sum over these, to which a rare word adds much more than a common one
	weight float64
}

// scores returns the entries that pass the filters and have all words, else those that have any.
func (s *search) scores(ctx context.Context, query annotator.Query, words []string) (map[int64]score, error) {
	all := map[int64]score{}
	for _, word := range words {
		hits, err := s.hits(ctx, storage.Phrase(word))
		if err != nil {
			return nil, err
		}
		rarity := 1 / math.Log(math.E+float64(len(hits)))
		rare := math.Log(1 + maxHits/float64(1+len(hits)))
		for _, h := range hits {
			of := all[h.entry]
			all[h.entry] = score{of.words + 1, of.rare + rare, of.weight + rarity*h.weight()}
		}
	}
	var whole, parts []int64
	for id, found := range all {
		if found.words == len(words) {
			whole = append(whole, id)
		} else {
			parts = append(parts, id)
		}
	}
	for _, ids := range [][]int64{whole, parts} {
		passed, err := s.filtered(ctx, query, ids)
		if err != nil {
			return nil, err
		}
		if len(passed) > 0 {
			found := map[int64]score{}
			for _, id := range passed {
				found[id] = all[id]
			}
			return found, nil
		}
	}
	return nil, nil
}

// hit is an entry that has a term.
type hit struct {
	entry  int64
	name   float64 // the share of the term in the words of a name, of the name where it is largest; 0 if no name has it
	claims float64 // that have it
}

// weight is how much the hit says about the entry: a name that consists of the term the most.
func (h *hit) weight() float64 {
	weight := h.claims / (h.claims + 2)
	if h.name > 0 {
		weight += 3 + 6*h.name
	}
	return weight
}

// hits returns the entries of which a name or a claim that holds has a term. The index has a claim's first version.
// Most claims have no other.
func (s *search) hits(ctx context.Context, term string) ([]hit, error) {
	scan := func(rows *sql.Rows, h *hit) error { return rows.Scan(&h.entry, &h.name) }
	hits, err := storage.Rows(ctx, s.Reader, "search the codex", scan,
		`SELECT v.entry_id, max(1.0 / (1 + length(v.key) - length(replace(v.key, ' ', ''))))
		FROM (`+s.rows(names)+`) v WHERE `+s.Limit.InForce("v")+` GROUP BY v.entry_id`,
		s.Limit.Bound(), term, s.Limit.End(), maxHits)
	if err != nil {
		return nil, err
	}
	at := make(map[int64]int, len(hits))
	for i := range hits {
		at[hits[i].entry] = i
	}
	err = s.Each(ctx, func(rows *sql.Rows) error {
		var h hit
		err := rows.Scan(&h.entry, &h.claims)
		if i, named := at[h.entry]; named {
			hits[i].claims = h.claims
		} else {
			hits = append(hits, h)
		}
		return err
	}, `SELECT v.entry_id, count(*) FROM (`+s.rows(claims)+`) v WHERE v.holds AND `+s.Limit.InForce("v")+`
		OR EXISTS (SELECT 1 FROM value w
		  WHERE w.entry_id = v.entry_id AND w.field = 'claim' AND w.key = v.key AND w.holds
		  AND `+s.Limit.InForce("w")+`) GROUP BY v.entry_id`,
		s.Limit.Bound(), term, s.Limit.End(), maxHits)
	return hits, err
}

// filtered returns those of some entries that pass the filters, by term.
func (s *search) filtered(ctx context.Context, query annotator.Query, ids []int64) ([]int64, error) {
	clause, args, err := s.filter(query)
	if err != nil {
		return nil, err
	}
	slices.Sort(ids)
	args = append(args, storage.List(ids))
	return storage.Rows(ctx, s.Reader, "search the codex", storage.ScanValue[int64],
		fmt.Sprintf(`SELECT e.entry_id FROM json_each(?%d) c CROSS JOIN value e ON e.entry_id = c.value
		WHERE %s ORDER BY e.key, e.entry_id`, len(args), clause), args...)
}

// sorted returns the entries by their scores, after those that the query names. These may have no score, because they
// lack another word of the query.
func (s *search) sorted(ctx context.Context, query annotator.Query, scores map[int64]score,
	rare []string,
) ([]int64, error) {
	named, err := s.called(ctx, query.Text, rare)
	if err != nil {
		return nil, err
	}
	passed, err := s.filtered(ctx, query, slices.Collect(maps.Keys(named)))
	if err != nil {
		return nil, err
	}
	if scores == nil {
		scores = map[int64]score{}
	}
	for _, id := range passed {
		if _, found := scores[id]; !found {
			scores[id] = score{}
		}
	}
	return slices.SortedFunc(maps.Keys(scores), func(a, b int64) int {
		return cmp.Or(named[b]-named[a], cmp.Compare(scores[b].rare, scores[a].rare),
			cmp.Compare(scores[b].weight, scores[a].weight), cmp.Compare(a, b))
	}), nil
}

// maxNameWords is the maximum number of words of a name that is looked for inside a query.
const maxNameWords = 6

// called returns the entries that a query names: "who is the king of Bohemia" names the King of Bohemia. For each it
// gives the number of the words of the longest name. Inside a longer query, a name of one word must be a rare word.
func (s *search) called(ctx context.Context, text string, rare []string) (map[int64]int, error) {
	words := strings.Fields(codex.Normalize(text))
	lengths := map[string]int{strings.Join(words, " "): len(words)}
	add := func(name string, n int) { lengths[strings.TrimFunc(name, unicode.IsPunct)] = n }
	for _, word := range rare {
		add(codex.Normalize(word), 1)
	}
	for from := range words {
		for n := 2; n <= maxNameWords && from+n <= len(words); n++ {
			add(strings.Join(words[from:from+n], " "), n)
		}
	}
	named := map[int64]int{}
	err := s.Each(ctx, func(rows *sql.Rows) error {
		var entry int64
		var key string
		err := rows.Scan(&entry, &key)
		named[entry] = max(named[entry], lengths[key])
		return err
	}, `SELECT v.entry_id, v.key FROM json_each(?2) c CROSS JOIN value v ON v.field = 'alias' AND v.key = c.value
		WHERE `+s.Limit.InForce("v"), s.Limit.Bound(), storage.List(slices.Collect(maps.Keys(lengths))))
	return named, err
}

// inside returns the entries with a text inside a name.
func (s *search) inside(ctx context.Context, query annotator.Query) ([]int64, error) {
	return storage.Rows(ctx, s.Reader, "search the codex", storage.ScanValue[int64],
		`SELECT DISTINCT v.entry_id FROM value v
		WHERE v.field = 'alias' AND instr(v.key, ?2) > 0 AND `+s.Limit.InForce("v"),
		s.Limit.Bound(), codex.Normalize(query.Text))
}

// searchWords returns each word of a query once. It omits words without a letter or digit: they would be empty phrases.
func searchWords(text string) (words []string) {
	for _, word := range strings.Fields(codex.Clean(text)) {
		if len(word) > maxWordBytes {
			word = strings.ToValidUTF8(word[:maxWordBytes], "")
		}
		if codex.HasWord(word) && len(words) < maxWords && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return words
}
