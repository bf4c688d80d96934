package storage

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/sqlite"
)

// What a search looks at of a query.
const (
	maxTerms     = 12
	maxTermBytes = 64
)

// commonWord is the number of entries that make a word common: FTS5 visits every entry with a word to rank it.
const commonWord = 1_000

// byName is the order of entries that no words rank.
const byName = `e.term_normalized, e.id`

// Search returns entries by words in their names and definitions. An entry with exactly that name comes first, then
// the best matches: entries that have all words, or else any of them. Common words, such as "the", count only where
// no other word finds anything. Every word is taken literally, so no text is a syntax error. Words that FTS5 does not
// index, as in scripts without spaces, are looked for inside names. A query without a word finds everything, by term.
func (g *Glossary) Search(ctx context.Context, query annotator.Query) ([]annotator.Entry, error) {
	query.Text = codex.Visible(query.Text)
	terms := searchTerms(query.Text)
	if len(terms) == 0 {
		return g.find(ctx, query, `WHERE true`, byName, "")
	}
	matches, err := g.matches(ctx, terms)
	if err != nil {
		return nil, err
	}
	for _, match := range matches {
		found, err := g.find(ctx, query, `JOIN glossary_fts f ON f.rowid = e.id WHERE glossary_fts MATCH ?1`,
			`e.id NOT IN (SELECT entry_id FROM glossary_alias WHERE name_normalized = ?2), bm25(glossary_fts, 10.0, 5.0, 1.0), e.id`, match)
		if err != nil || len(found) > 0 {
			return found, err
		}
	}
	return g.find(ctx, query, `WHERE e.id IN (SELECT entry_id FROM glossary_alias WHERE instr(name_normalized, ?2) > 0)`, byName, "")
}

// matches returns the FTS5 queries to try, in this order, until one finds something.
func (g *Glossary) matches(ctx context.Context, terms []string) ([]string, error) {
	if len(terms) == 1 {
		return terms, nil
	}
	rare, err := g.rare(ctx, terms)
	if err != nil {
		return nil, err
	}
	anyTerm := strings.Join(terms, " OR ")
	if len(rare) == 0 || len(rare) == len(terms) {
		return []string{strings.Join(terms, " "), anyTerm}, nil
	}
	return []string{strings.Join(rare, " "), strings.Join(rare, " OR "), anyTerm}, nil
}

// rare returns those of the terms that are not common.
func (g *Glossary) rare(ctx context.Context, terms []string) ([]string, error) {
	var entries int
	if err := g.q.QueryRowContext(ctx, `SELECT coalesce(max(id), 0) FROM glossary_entry`).Scan(&entries); err != nil || entries <= commonWord {
		return terms, sqlite.Wrap(err, "search the glossary in %s", g.path)
	}
	var rare []string
	for _, term := range terms {
		var common bool
		err := g.q.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM glossary_fts WHERE glossary_fts MATCH ? LIMIT 1 OFFSET ?)`,
			term, commonWord).Scan(&common)
		if err != nil {
			return nil, sqlite.Wrap(err, "search the glossary in %s", g.path)
		}
		if !common {
			rare = append(rare, term)
		}
	}
	return rare, nil
}

// searchTerms quotes each word for FTS5, once. It omits words without a letter or digit: they would be empty phrases.
func searchTerms(text string) []string {
	var terms []string
	for _, word := range strings.Fields(codex.Clean(text)) {
		if len(word) > maxTermBytes {
			word = strings.ToValidUTF8(word[:maxTermBytes], "")
		}
		term := `"` + strings.ReplaceAll(word, `"`, `""`) + `"`
		if codex.HasWord(word) && len(terms) < maxTerms && !slices.Contains(terms, term) {
			terms = append(terms, term)
		}
	}
	return terms
}

// find returns the entries that clause and filters let through. ?1 is a text, ?2 the query's text as a name.
func (g *Glossary) find(ctx context.Context, query annotator.Query, clause, order, text string) ([]annotator.Entry, error) {
	statuses := query.Statuses
	if len(statuses) == 0 {
		statuses = []annotator.Status{annotator.Tentative, annotator.Confirmed}
	}
	tags, err := codex.Tags(query.Tags)
	if err != nil {
		return nil, err
	}
	clause += ` AND e.status IN (SELECT value FROM json_each(?3))`
	args := []any{text, codex.Normalize(query.Text), jsonList(statuses), max(query.Limit, 0), query.Offset}
	for _, tag := range tags {
		args = append(args, tag)
		clause += fmt.Sprintf(` AND EXISTS (SELECT 1 FROM glossary_tag WHERE entry_id = e.id AND tag = ?%d)`, len(args))
	}
	return g.entries(ctx, clause+` ORDER BY `+order+` LIMIT iif(?4 > 0, ?4, -1) OFFSET ?5`, args...)
}
