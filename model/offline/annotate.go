package offline

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"annotator"
	"annotator/codex/identity"
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
	Text     string `json:"text"`
	Quote    string `json:"quote"`
	PostID   int64  `json:"post_id"`
	Identity bool   `json:"identity,omitempty"` // it tells who or what the entry is
}

// closing says that a fact of an entry gives way to a fact of the same call.
type closing struct {
	Fact  int64  `json:"fact"`
	By    int    `json:"by"`
	Ended string `json:"ended"`
}

// arguments has the fields of both tools' arguments, and of an element of codex updates.
type arguments struct {
	Term    string    `json:"term,omitempty"`
	EntryID int64     `json:"entry_id,omitempty"`
	Status  string    `json:"status,omitempty"` // of an element
	Facts   []fact    `json:"facts,omitempty"`
	Close   []closing `json:"close,omitempty"`
	Tags    []string  `json:"tags,omitempty"`
	Aliases []string  `json:"aliases,omitempty"`
	Drop    []string  `json:"drop_aliases,omitempty"`
	Done    bool      `json:"done,omitempty"` // the last edit of a scene
}

// proposal is a possible call and its weight.
type proposal struct {
	tool      string
	arguments arguments
	weight    int
}

// propose returns the changes to the glossary that the last scene of a window suggests, best first.
func (m *Model) propose(w *window) []proposal {
	b, g := m.read(w.scenes), newGlossary(w.entries)
	scene := len(b.scenes) - 1
	var all []proposal
	for _, gr := range b.groups(g, scene) {
		p, ok := proposal{}, false
		switch len(gr.entries) {
		case 0:
			p, ok = b.create(g, gr)
		case 1:
			p, ok = b.update(g, gr, gr.entries[0], scene)
		}
		if ok {
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b proposal) int { return cmp.Compare(b.weight, a.weight) })
	return all
}

// minMentions is how often the scenes of a window have to mention a thing that gets an entry, unless one tells of it.
const minMentions = 2

// create returns a new entry for a thing that was met before, or that a sentence defines. A place or a group is met
// again, or is none.
func (b *book) create(g *glossary, gr *group) (proposal, bool) {
	kind := b.kindOf(gr.names)
	sentences, count := b.sentences(gr.names, kind), gr.mentions()
	told := kind != tagPlace && kind != tagGroup && count > 0 && sentences[0].score >= toldScore
	if count < minMentions && !told {
		return proposal{}, false
	}
	p := proposal{tool: toolCreate, weight: count}
	p.arguments.Term = gr.term(b)
	p.arguments.Aliases = append(g.free(gr.forms(p.arguments.Term)), (&entry{}).lacks(gr.shared)...)
	if kind != "" {
		p.arguments.Tags = []string{kind}
	}
	p.arguments.Facts = g.choose(sentences, firstFacts, 0)
	if len(p.arguments.Facts) == 0 {
		p.arguments.Facts = []fact{sentences[0].fact()}
	}
	for _, f := range p.arguments.Facts {
		g.tells(f.Text, -1)
	}
	return p, true
}

func (s *sentence) fact() fact { return fact{Text: s.text, Quote: s.quote, PostID: s.post} }

// choose returns the best sentences, at most limit of them, which the entry may have. Only the best one opens it.
func (g *glossary) choose(sentences []sentence, limit int, entry int64) (facts []fact) {
	for i := range sentences {
		s := &sentences[i]
		if s.score < fillScore || len(facts) == limit {
			break
		}
		told := func(f fact) bool { return f.Text == s.text }
		if g.takes(s, entry) && !slices.ContainsFunc(facts, told) {
			f := s.fact()
			f.Identity = len(facts) == 0 && s.defines()
			facts = append(facts, f)
		}
	}
	return facts
}

// update adds to an entry the names that it lacks, and changes its kind if the scenes show another. In the first scene
// of a thread that names it, its facts are chosen again, and where it is first defined.
func (b *book) update(g *glossary, gr *group, e *entry, scene int) (proposal, bool) {
	p := proposal{tool: toolUpdate, arguments: arguments{EntryID: e.ID}, weight: gr.mentions()}
	a := &p.arguments
	a.Aliases = e.allows(append(g.free(gr.forms("")), e.lacks(gr.shared)...))
	a.Drop = gr.lost
	if term := gr.term(b); b.better(term, e) {
		a.Term = term
	}
	kind := cmp.Or(b.kindOf(gr.names), e.kind())
	known := b.names[identity.Read(e.names()[0]).Key()] != nil
	if kind != e.kind() && (known || e.kind() == "") { // a short name alone may be a namesake's
		a.Tags = e.tagsWith(kind)
	}
	if few := len(e.facts) > 0 && len(e.facts) < firstFacts; few || b.due(gr, scene) || b.opens(gr, e, kind, scene) {
		b.define(g, gr, e, kind, a)
	}
	return p, len(a.Aliases)+len(a.Drop)+len(a.Facts)+len(a.Tags) > 0 || a.Term != ""
}

// better reports whether a term tells more than that of an entry: a full name more than one word.
func (b *book) better(term string, e *entry) bool {
	own, other := identity.Read(e.names()[0]), identity.Read(term)
	full := func(n *identity.Name) bool { return len(n.Words) > 1 && n.Title == "" || n.Office }
	n := b.names[other.Key()]
	return term != "" && e.Term == e.names()[0] && !full(own) && full(other) && (n == nil || n.forms[term] > 1)
}

// opens reports whether a sentence of a scene defines an entry, and none of its facts does.
func (b *book) opens(gr *group, e *entry, kind string, scene int) bool {
	best := 0
	for _, n := range gr.names {
		for _, p := range slices.Backward(n.places) {
			if p.scene != scene {
				break
			}
			best = max(best, b.sentence(p, kind).score)
		}
	}
	return best >= definingScore && !slices.ContainsFunc(e.facts, func(f heldFact) bool {
		return b.lex.rate(f.text, e.names(), kind) >= definingScore
	})
}

// settled is how many scenes of the thread in which an entry was made name it before its facts are chosen again.
const settled = 4

// due reports whether the facts of a thing are chosen again in a scene: in the first one of a thread that names it. In
// the first thread that names it, they are chosen again once it has told more.
func (b *book) due(gr *group, scene int) bool {
	before, earlier := map[int]bool{}, false
	for _, n := range gr.names {
		for _, p := range n.places {
			switch {
			case b.scenes[p.scene].thread != b.scenes[scene].thread:
				earlier = true
			case p.scene != scene:
				before[p.scene] = true
			}
		}
	}
	return earlier && len(before) == 0 || !earlier && len(before) == settled-1
}

// define adds the best sentences of the window to an entry. Facts that are worse give way to them, once there are more
// than maxFacts. A sentence opens the entry if it defines it better than all others do.
func (b *book) define(g *glossary, gr *group, e *entry, kind string, a *arguments) {
	held := slices.Clone(e.facts)
	for i := range held {
		held[i].score = b.lex.rate(held[i].text, e.names(), kind)
	}
	slices.SortStableFunc(held, func(x, y heldFact) int { return cmp.Compare(x.score, y.score) })
	best := leastScore
	if len(held) > 0 {
		best = held[len(held)-1].score
	}
	for _, s := range b.sentences(gr.names, kind) {
		has := func(h heldFact) bool { return h.text == s.text }
		switch {
		case s.score < fillScore || len(a.Facts) == firstFacts:
			return
		case slices.ContainsFunc(held, has) || !g.takes(&s, e.ID):
			continue
		case len(e.facts)+len(a.Facts) < firstFacts:
		case s.score < leastScore:
			return
		case s.defines() && len(e.facts)+len(a.Facts)-len(a.Close) < maxFacts:
		case len(held) > 0 && held[0].score < s.score:
		default:
			return
		}
		f := s.fact()
		f.Identity = s.defines() && s.score > best
		best = max(best, s.score)
		a.Facts = append(a.Facts, f)
		if len(held) > 0 && held[0].score < min(s.score, leastScore) ||
			len(e.facts)+len(a.Facts)-len(a.Close) > maxFacts && len(held) > 0 {
			a.Close = append(a.Close, closing{held[0].number, len(a.Facts), "confirmed"})
			held = held[1:]
		}
	}
}

// glued reports whether a name is two names that a sentence has side by side, each far more frequent.
func (b *book) glued(n *name) bool {
	written := strings.Fields(n.written()[0])
	for i := 1; i < len(written); i++ {
		one := b.names[identity.Read(strings.Join(written[:i], " ")).Key()]
		other := b.names[identity.Read(strings.Join(written[i:], " ")).Key()]
		if one == nil || other == nil {
			continue
		}
		share := 20
		if len(one.Words)+len(other.Words) > 2 {
			share = 4 // neither is a first name with its surname
		}
		if len(n.places)*share < min(len(one.places), len(other.places)) {
			return true
		}
	}
	return false
}

// familyOnly reports whether a last name is said of a family only: the Marrow place.
func (b *book) familyOnly(n *name) bool {
	return n.family == len(n.places) && slices.ContainsFunc(b.byWord[n.Words[0]], func(other *name) bool {
		return len(other.Words) > 1 && other.Words[len(other.Words)-1] == n.Words[0]
	})
}

// accepts reports whether a name has enough evidence not to be another capitalised word.
func (b *book) accepts(n *name) bool {
	if b.glued(n) || b.familyOnly(n) {
		return false
	}
	if len(n.Words) > 1 || n.Title != "" {
		return n.inside > 0 || n.titled > 0 || !b.ordinary(n.Words[0])
	}
	only := strings.ToLower(normal(n.written()[0]))
	switch {
	case b.lex.alone[only] || b.lex.isTitle(only) || utf8.RuneCountInString(only) == 1:
		return false
	case n.inside == 0 || b.lower[only] >= n.inside:
		return false
	}
	return !b.lex.generic(only) || n.inside > 1
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
	needsKind := r.requires(toolCreate, "tags")
	for _, p := range m.propose(w) {
		// What has no kind yet waits for one. Often it is only a word with a capital.
		if left[p.tool] == 0 || !offered[p.tool] || needsKind && p.tool == toolCreate && p.arguments.Tags == nil {
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
	for _, p := range m.propose(w) {
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
