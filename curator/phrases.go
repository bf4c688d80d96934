package curator

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/context/prompt"
)

// How much a question asks about phrases.
const (
	maxPhrases   = 10 // phrases
	phraseTokens = 25 // of the reply, for each
	phraseLike   = 3  // entries with similar names that one is shown with
	maxOwners    = 4  // entries that share a phrase
)

// phrase is what the story keeps calling something, and no name of an entry.
type phrase struct {
	mention.Phrase
	At     annotator.Place // of its first occurrence
	Sample string          // the words around that

	similar []string // the names of entries, as the question shows them
}

// phrases are those of a question that asks whose names they are.
type phrases []phrase

// duePhrases returns the phrases that a question asks about, with the names of similar entries. They are the same for
// all questions of one thread's end, until an answer is stored or a name changes.
func (c *Curator) duePhrases(ctx context.Context) (phrases, error) {
	if c.Tasks&Names == 0 {
		return nil, nil
	}
	index, err := c.Names.Index(ctx)
	if err != nil {
		return nil, err
	}
	if c.due.known && c.due.changes == index.Changes() {
		return c.due.list, nil
	}
	list, err := c.recurring(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		list = nil
	}
	for i := range list {
		ids := index.Similar(0, []string{list[i].Text}, phraseLike)
		entries, err := c.entries(ctx, ids)
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			list[i].similar = append(list[i].similar, strings.TrimSpace(prompt.Names(entries[id])))
		}
	}
	c.due = foundPhrases{list: list, changes: index.Changes(), known: true}
	return list, nil
}

// foundPhrases are phrases that were looked for.
type foundPhrases struct {
	list    phrases
	changes int  // of the index of names
	known   bool // they were looked for
}

// recurring returns what the story has kept calling things since the last question about that, without the phrases that
// were asked about before.
func (c *Curator) recurring(ctx context.Context) (phrases, error) {
	answers, err := c.Records.Phrases(ctx)
	if err != nil {
		return nil, err
	}
	asked, now := map[string]bool{}, c.Scene.Order
	var since annotator.Order
	for i := range answers {
		since = max(since, answers[i].Scene)
		for _, a := range answers[i].Answers {
			asked[a.Key] = true
		}
	}
	if since >= now {
		return nil, nil
	}
	scenes, err := c.recentScenes(ctx, since)
	if err != nil {
		return nil, err
	}
	index, usage, err := c.Names.Words(ctx, c.Scene.Order)
	if err != nil {
		return nil, err
	}
	texts := textsOf(scenes)
	found := index.Recurring(texts, usage, func(key string) bool { return asked[key] }, maxPhrases)
	list := make(phrases, len(found))
	for i, p := range found {
		scene := &scenes[p.Scene]
		list[i] = phrase{
			Phrase: p, At: annotator.PlaceAt(scene.Order, rankAt(scene.Posts, p.Start)),
			Sample: sample(texts[p.Scene], p.Start),
		}
	}
	return list, nil
}

// shown returns the element with the phrases.
func (p phrases) shown() string {
	var text strings.Builder
	text.WriteString("<phrases>\n")
	for i := range p {
		fmt.Fprintf(&text, "<phrase text=\"%s\" scenes=\"%d\"", prompt.Escape(p[i].Text), p[i].Scenes)
		if len(p[i].similar) > 0 {
			fmt.Fprintf(&text, " similar=\"%s\"", strings.Join(p[i].similar, "; "))
		}
		fmt.Fprintf(&text, ">%s</phrase>\n", prompt.Escape(p[i].Sample))
	}
	text.WriteString("</phrases>")
	return text.String()
}

var nameTag = regexp.MustCompile(`(?s)<name\s+of="([^"<>]*)"[^<>]*>([^<>]*)</name>`)

// read returns whose name each phrase is by a reply, by its key, and the rest of the reply. Of two answers about a
// phrase the first counts.
func (p phrases) read(reply string) (owners map[string]string, rest string) {
	owners = map[string]string{}
	for _, match := range nameTag.FindAllStringSubmatch(reply, -1) {
		said := mention.PhraseKey(annotator.Unescape(match[2]))
		at := slices.IndexFunc(p, func(asked phrase) bool { return mention.PhraseKey(asked.Text) == said })
		if at < 0 {
			continue
		}
		if _, twice := owners[p[at].Key]; !twice {
			owners[p[at].Key] = annotator.Unescape(match[1])
		}
	}
	return owners, nameTag.ReplaceAllString(reply, "")
}

// answer is what the answers of a reply about phrases change.
type answer struct {
	record    *annotator.Phrases // nil if no phrase was asked about
	revisions []annotator.Revision
}

// names returns what a reply about phrases changes: each is a name of its owners from its first occurrence on. An entry
// that another decision of the same reply has changed gets no name, and the phrase is asked about again.
func (c *Curator) names(
	ctx context.Context, p phrases, owners map[string]string, changed map[int64]bool,
) (a answer, err error) {
	if len(p) == 0 {
		return a, nil
	}
	a.record = &annotator.Phrases{Scene: c.Scene.Order}
	entries, revisions := map[int64]*annotator.Entry{}, map[int64][]annotator.Revision{}
	for i := range p {
		ids, err := c.owners(ctx, owners[p[i].Key], entries)
		if err != nil {
			return a, err
		}
		if slices.ContainsFunc(ids, func(id int64) bool { return changed[id] }) {
			continue
		}
		given := annotator.PhraseAnswer{Key: p[i].Key}
		for _, id := range ids {
			e := entries[id]
			named, err := revised(e, codex.Edit{
				Actor: annotator.ActorCurator, At: max(p[i].At, e.First), Aliases: []string{p[i].Text},
			})
			if err == nil {
				given.Entries, revisions[id] = append(given.Entries, id), append(revisions[id], named...)
			}
		}
		a.record.Answers = append(a.record.Answers, given)
	}
	for _, id := range slices.Sorted(maps.Keys(revisions)) {
		a.revisions = append(a.revisions, revisions[id]...)
	}
	return a, nil
}

var separators = regexp.MustCompile(`[;,\s]+`)

// owners returns the live entries that an answer names, by their ids, or by names that only one of them has. It adds
// them to entries.
func (c *Curator) owners(ctx context.Context, of string, entries map[int64]*annotator.Entry) (ids []int64, err error) {
	var wanted []int64
	list := separators.Split(strings.TrimSpace(of), -1)
	if slices.ContainsFunc(list, func(id string) bool { _, err := strconv.ParseInt(id, 10, 64); return err != nil }) {
		list = strings.Split(of, ";") // terms may have spaces and commas
	}
	for _, name := range list[:min(len(list), maxOwners)] {
		name = strings.TrimSpace(name)
		if id, err := strconv.ParseInt(name, 10, 64); err == nil {
			wanted = append(wanted, id)
			continue
		}
		named, err := c.Entries.Named(ctx, name)
		if err != nil {
			return nil, err
		}
		if len(named) == 1 {
			wanted = append(wanted, named[0].ID)
		}
	}
	if err := c.readMore(ctx, entries, wanted); err != nil {
		return nil, err
	}
	for _, id := range wanted {
		if e := entries[id]; e != nil && e.Status.Live() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, nil
}
