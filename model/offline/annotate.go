package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"annotator"
)

// The tools that the model knows how to call.
const (
	toolCreate = "glossary_create"
	toolUpdate = "glossary_update"
)

// maxCreates and maxUpdates bound the calls of one reply. A scene of 2,000 words introduces 17 names on average.
const (
	maxCreates = 24
	maxUpdates = 12
)

// minReply is how many tokens of the caller's limit are reserved for text other than arguments.
const minReply = 16

// fact is a sentence of a post with that post as its evidence.
type fact struct {
	Text   string `json:"text"`
	Quote  string `json:"quote"`
	PostID int64  `json:"post_id"`
}

// arguments has the fields of both tools' arguments, and of an element of codex updates.
type arguments struct {
	Term    string   `json:"term,omitempty"`
	EntryID int64    `json:"entry_id,omitempty"`
	Status  string   `json:"status,omitempty"` // of an element
	Facts   []fact   `json:"facts"`
	Tags    []string `json:"tags,omitempty"`
	Aliases []string `json:"aliases,omitempty"`
	Done    bool     `json:"done,omitempty"` // the last edit of a scene
}

// proposal is a possible call and its weight.
type proposal struct {
	tool      string
	arguments arguments
	weight    int
}

// propose returns the changes to the glossary that a scene suggests, best first.
func propose(lex *lexicon, s *scene, known []entry) []proposal {
	r := newReader(lex, bodies(s.posts))
	g := newGlossary(lex, known)
	var all []proposal
	for _, n := range r.names(r.mentions()) {
		if p, ok := proposeName(r, s, g, n); ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b proposal) int { return cmp.Compare(b.weight, a.weight) })
	return all
}

// proposeName returns the change for one name: a new entry, a new alias of an entry, or nothing.
func proposeName(r *reader, s *scene, g *glossary, n *name) (proposal, bool) {
	switch e, found := g.find(n); {
	case e != nil:
		return update(r, s, g, n, e)
	case found || !r.accepts(n):
		return proposal{}, false
	}
	return create(r, s, n), true
}

func create(r *reader, s *scene, n *name) proposal {
	at, quote := r.bestSentence(n.mentions)
	return proposal{toolCreate, arguments{
		Term: n.term, Facts: []fact{{definition(quote), quote, s.posts[at].id}}, Tags: []string{r.tag(n)},
		Aliases: n.aliases(),
	}, len(n.mentions) + 2*len(n.tokens) + 2*n.titled}
}

// update adds new forms of the name to an entry, and as a fact a sentence with one of them.
func update(r *reader, s *scene, g *glossary, n *name, e *entry) (proposal, bool) {
	fresh := slices.DeleteFunc(slices.Clone(n.written), g.has)
	if len(fresh) == 0 {
		return proposal{}, false
	}
	shown := slices.DeleteFunc(slices.Clone(n.mentions), func(m mention) bool {
		return !slices.Contains(fresh, collapse(r.texts[m.text].in(m.span)))
	})
	at, quote := r.bestSentence(shown)
	return proposal{toolUpdate, arguments{
		EntryID: e.ID, Facts: []fact{{definition(quote), quote, s.posts[at].id}}, Aliases: fresh,
	}, len(shown)}, true
}

// annotate answers a scene with the calls that fit the caller's limit, or with a text if there are none.
func (m *Model) annotate(w *window, r *request, prompt uint64) (text string, calls []annotator.ToolCall) {
	offered := r.offers()
	room := r.OutputLimit() - minReply
	if offered[toolIntent] {
		room -= len(declarations) * declarationTokens
	}
	left := map[string]int{toolCreate: maxCreates, toolUpdate: maxUpdates}
	var edits []proposal
	for _, p := range propose(m.lex, &w.scenes[len(w.scenes)-1], w.entries) {
		if left[p.tool] == 0 || !offered[p.tool] {
			continue
		}
		call := annotator.ToolCall{Name: p.tool, Arguments: annotator.EncodeJSON(p.arguments)}
		if r.OutputLimit() > 0 && callTokens(&call) > room {
			continue
		}
		room -= callTokens(&call)
		left[p.tool]--
		edits = append(edits, p)
	}
	if len(edits) == 0 {
		return "No new entries in this scene.\n" + noUpdates, nil
	}
	calls = callsOf(edits, offered[toolIntent])
	for i := range calls {
		calls[i].ID = callID(prompt, i)
	}
	return "", calls
}

// callsOf returns the calls for edits. If intents are declared, they are grouped by tool. The last call marks the scene
// as done.
func callsOf(edits []proposal, declaring bool) (calls []annotator.ToolCall) {
	if declaring {
		slices.SortStableFunc(edits, func(a, b proposal) int { return cmp.Compare(a.tool, b.tool) })
	}
	edits[len(edits)-1].arguments.Done = true
	for i, e := range edits {
		if declaring && (i == 0 || edits[i-1].tool != e.tool) {
			calls = append(calls, declaration(e.tool))
		}
		calls = append(calls, annotator.ToolCall{Name: e.tool, Arguments: annotator.EncodeJSON(e.arguments)})
	}
	return calls
}

// annotateInText answers a scene with codex updates for new entries. It is used if no tool may be called.
func (m *Model) annotateInText(w *window) string {
	updates := []arguments{}
	for _, p := range propose(m.lex, &w.scenes[len(w.scenes)-1], w.entries) {
		if p.tool == toolCreate && len(updates) < maxCreates {
			p.arguments.Status = "new"
			updates = append(updates, p.arguments)
		}
	}
	// Marshal, unlike chatwire.JSON, escapes < and >, so that text of the story cannot end the block.
	block, _ := json.Marshal(updates)
	return fmt.Sprintf("%d new entries in this scene.\n<codex_updates>%s</codex_updates>", len(updates), block)
}

// noUpdates ends each text about a scene whose changes were made by tools.
const noUpdates = "<codex_updates>[]</codex_updates>"

// closeTurn returns the text after the results of the calls.
func closeTurn(w *window) string {
	var noted []string
	for _, r := range w.results {
		if r.OK && r.Entry != nil && !slices.Contains(noted, r.Entry.Term) {
			noted = append(noted, r.Entry.Term)
		}
	}
	if len(noted) == 0 {
		return "Nothing was noted.\n" + noUpdates
	}
	return "Noted: " + strings.Join(noted, ", ") + ".\n" + noUpdates
}
