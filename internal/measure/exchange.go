package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/internal/scripted"
)

// exchange is a recorded exchange of a run with a model that gave definitions whole, each with one quotation: for each request
// what was new in it, the reply, and the codex that came of it.
type exchange struct {
	requests []string // what was new in each
	turns    map[int]*recordedTurn
	results  map[string]bool   // by the id of a call: whether it was done
	bearing  map[string]string // by entry and quotation: the sentence that the quotation hangs on in the recorded codex
	output   int               // tokens of all replies to scenes
	asked    int               // requests for scenes
}

// recordedTurn is what the model wrote of a scene.
type recordedTurn struct {
	posts   []int64
	calls   []recordedCall
	closing string
}

type recordedCall struct {
	Name      string
	Arguments recordedArguments
	refused   bool
}

type recordedArguments struct {
	Query      string   `json:"query,omitempty"`
	EntryID    int64    `json:"entry_id,omitempty"`
	Term       string   `json:"term,omitempty"`
	Definition string   `json:"definition,omitempty"`
	Tags       []string `json:"tags,omitempty"`
	Aliases    []string `json:"aliases,omitempty"`
	Status     string   `json:"status,omitempty"`
	Quote      string   `json:"quote,omitempty"`
	PostID     int64    `json:"post_id,omitempty"`
	Kind       string   `json:"kind,omitempty"`
}

var (
	shownScene = regexp.MustCompile(`<scene number="(\d+)"`)
	shownPost  = regexp.MustCompile(`<post id="(\d+)"`)
	toolResult = regexp.MustCompile(`(?m)^--- tool (\w+)\n\{"ok":(true|false)`)
)

// readExchange reads NNNN.request.txt, NNNN.reply.json and codex.json of a folder.
func readExchange(folder string) (*exchange, error) {
	x := &exchange{turns: map[int]*recordedTurn{}, results: map[string]bool{}, bearing: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(folder, "*.reply.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("there are no replies in %s: %w", folder, err)
	}
	scene := 0
	for _, file := range files {
		request, err := os.ReadFile(strings.TrimSuffix(file, "reply.json") + "request.txt")
		if err != nil {
			return nil, err
		}
		x.requests = append(x.requests, string(request))
		for _, found := range toolResult.FindAllStringSubmatch(string(request), -1) {
			x.results[found[1]] = found[2] == "true"
		}
		if at := bytes.LastIndex(request, []byte("<scene number=")); at >= 0 {
			scene, _ = strconv.Atoi(shownScene.FindStringSubmatch(string(request[at:]))[1])
			if x.turns[scene] == nil {
				x.turns[scene] = &recordedTurn{posts: postsIn(string(request[at:]))}
			}
		}
		if err := x.readReply(file, x.turns[scene], bytes.Contains(request, []byte(`"tool_choice": "none"`))); err != nil {
			return nil, err
		}
	}
	x.markRefused()
	return x, x.readCodex(filepath.Join(folder, "codex.json"))
}

// markRefused marks the calls that were refused. The id of a call begins with the number of its turn, which is that of its
// scene, and grows with each call.
func (x *exchange) markRefused() {
	ids := slices.Sorted(maps.Keys(x.results))
	for n, t := range x.turns {
		turn, at := fmt.Sprintf("%06s", strconv.FormatInt(int64(n), 36)), 0
		for _, id := range ids {
			if strings.HasPrefix(id, turn) && at < len(t.calls) {
				t.calls[at].refused = !x.results[id]
				at++
			}
		}
	}
}

// postsIn returns the ids of the posts of the scene that a text begins with.
func postsIn(text string) (ids []int64) {
	text, _, _ = strings.Cut(text, "</scene>")
	for _, found := range shownPost.FindAllStringSubmatch(text, -1) {
		id, _ := strconv.ParseInt(found[1], 10, 64)
		ids = append(ids, id)
	}
	return ids
}

// readReply adds a reply to the turn that it belongs to. That to a question belongs to none.
func (x *exchange) readReply(file string, t *recordedTurn, question bool) error {
	encoded, err := os.ReadFile(file)
	if err != nil || t == nil || question {
		return err
	}
	var reply struct {
		Content string
		Calls   []recordedCall `json:"tool_calls"`
	}
	if err := json.Unmarshal(encoded, &reply); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	size := len(reply.Content)
	for i := range reply.Calls {
		size += len(reply.Calls[i].Name) + len(annotator.EncodeJSON(reply.Calls[i].Arguments))
	}
	x.asked, x.output = x.asked+1, x.output+tokensOf(size)
	t.calls = append(t.calls, reply.Calls...)
	if len(reply.Calls) == 0 {
		t.closing = reply.Content
	}
	return nil
}

// readCodex reads which sentence each quotation hangs on.
func (x *exchange) readCodex(file string) error {
	encoded, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var export struct {
		Entries []struct {
			ID     int64
			Claims []struct {
				Text     string
				Evidence []struct{ Quote string }
			}
		}
	}
	if err := json.Unmarshal(encoded, &export); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for _, e := range export.Entries {
		for _, c := range e.Claims {
			for _, evidence := range c.Evidence {
				x.bearing[bearingKey(e.ID, evidence.Quote)] = plainText(c.Text)
			}
		}
	}
	return nil
}

func bearingKey(entry int64, quote string) string {
	return fmt.Sprint(entry, " ", codex.Normalize(quote))
}

func plainText(sentence string) string { return strings.Join(strings.Fields(sentence), " ") }

// convertedFact is a fact of a call in the new form.
type convertedFact struct {
	Text   string `json:"text"`
	Quote  string `json:"quote,omitempty"`
	PostID int64  `json:"post_id,omitempty"` // only where the scene does not have it
	Kind   string `json:"kind,omitempty"`
}

type convertedClose struct {
	Fact int64 `json:"fact"`
}

// convertedArguments are those of a call in the new form.
type convertedArguments struct {
	EntryID int64            `json:"entry_id,omitempty"`
	Term    string           `json:"term,omitempty"`
	Facts   []convertedFact  `json:"facts,omitempty"`
	Close   []convertedClose `json:"close,omitempty"`
	Aliases []string         `json:"aliases,omitempty"`
	Tags    []string         `json:"tags,omitempty"`
	Status  string           `json:"status,omitempty"`
	Done    bool             `json:"done,omitempty"`
}

// convertedEntry is an entry as the converted calls make it.
type convertedEntry struct {
	term    string
	shown   []string         // the sentences that the model was shown: those of the calls that were done
	open    []string         // the facts that hold
	numbers map[string]int64 // of all facts
	names   []string
	tags    []string
	status  string
	closed  []string
}

// converter turns calls with whole definitions into such with facts. It adds no word and moves no quotation: a sentence
// that the model saw in the entry is left out, one that it saw and does not repeat is closed, and a fact whose sentence has
// no quotation in the recorded codex has none. Calls that were refused are converted, too.
type converter struct {
	*exchange
	entries []*convertedEntry // by id, from 1
	facts   int               // that are new
	quoted  int               // of these
	moved   int               // quotations that hang on no sentence of the recorded codex, and are left out
	edits   int               // facts, closings, names, tags and statuses
}

// convert returns the replies to each scene: a search by itself, and all edits in one that says that the scene is done.
func (x *exchange) convert() (*converter, map[int][]scripted.Reply) {
	c, replies := &converter{exchange: x}, map[int][]scripted.Reply{}
	scenes := make([]int, 0, len(x.turns))
	for n := range x.turns {
		scenes = append(scenes, n)
	}
	slices.Sort(scenes)
	for _, n := range scenes {
		var edits []annotator.ToolCall
		t := x.turns[n]
		for i := range t.calls {
			call := &t.calls[i]
			if call.Name == "glossary_search" {
				search := annotator.ToolCall{Name: call.Name, Arguments: annotator.EncodeJSON(call.Arguments)}
				replies[n] = append(replies[n], scripted.Reply{ToolCalls: []annotator.ToolCall{search}})
			} else if a, changes := c.edit(t, call); changes {
				edits = append(edits, annotator.ToolCall{Name: call.Name, Arguments: annotator.EncodeJSON(a)})
			}
		}
		if len(edits) > 0 {
			last := &edits[len(edits)-1]
			last.Arguments = strings.TrimSuffix(last.Arguments, "}") + `,"done":true}`
			replies[n] = append(replies[n], scripted.Reply{ToolCalls: edits})
		}
	}
	return c, replies
}

// edit converts a call that changes an entry. It reports whether anything is left of it.
func (c *converter) edit(t *recordedTurn, call *recordedCall) (convertedArguments, bool) {
	a := &call.Arguments
	var e *convertedEntry
	converted := convertedArguments{}
	if call.Name == "glossary_create" {
		e = &convertedEntry{term: a.Term, numbers: map[string]int64{}, names: []string{a.Term}}
		c.entries = append(c.entries, e)
		converted.Term, a.EntryID = a.Term, int64(len(c.entries))
	} else {
		e, converted.EntryID = c.entries[a.EntryID-1], a.EntryID
		if a.Term != "" && a.Term != e.term {
			converted.Term, e.term = a.Term, a.Term
			e.names = append(e.names, a.Term)
			c.edits++
		}
	}
	for _, alias := range a.Aliases {
		if !slices.Contains(e.names, alias) {
			e.names, converted.Aliases = append(e.names, alias), append(converted.Aliases, alias)
			c.edits++
		}
	}
	if a.Tags != nil && !slices.Equal(a.Tags, e.tags) {
		converted.Tags, e.tags = a.Tags, a.Tags
		c.edits++
	}
	if a.Status != "" && a.Status != e.status {
		converted.Status, e.status = a.Status, a.Status
		c.edits++
	}
	c.tell(t, e, a, call.refused, &converted)
	empty := converted.Term == "" && len(converted.Facts)+len(converted.Close)+len(converted.Aliases)+len(converted.Tags) == 0 && converted.Status == ""
	return converted, !empty
}

// tell converts the definition and the quotation of a call.
func (c *converter) tell(t *recordedTurn, e *convertedEntry, a *recordedArguments, refused bool, converted *convertedArguments) {
	if a.Definition == "" {
		return
	}
	var sentences []string
	for _, s := range codex.Sentences(a.Definition) {
		sentences = append(sentences, plainText(s))
	}
	bears := c.bearing[bearingKey(a.EntryID, a.Quote)]
	if a.Quote != "" && !slices.Contains(sentences, bears) {
		bears = ""
		c.moved++
	}
	var added []convertedFact
	for _, s := range sentences {
		f := convertedFact{Text: s}
		if a.Kind != string(annotator.Narrated) {
			f.Kind = a.Kind
		}
		if s == bears {
			f.Quote = a.Quote
			if !slices.Contains(t.posts, a.PostID) {
				f.PostID = a.PostID
			}
		}
		switch open := slices.Contains(e.open, s); {
		case open && f.Quote != "":
			f.Kind = "" // it keeps its own
			converted.Facts = append(converted.Facts, f)
		case !open && !slices.Contains(e.shown, s):
			converted.Facts, added = append(converted.Facts, f), append(added, f)
		}
	}
	for _, s := range e.shown {
		if at := slices.Index(e.open, s); at >= 0 && !slices.Contains(sentences, s) {
			converted.Close = append(converted.Close, convertedClose{e.numbers[s]})
			e.open, e.closed = slices.Delete(e.open, at, at+1), append(e.closed, s)
			c.edits++
		}
	}
	c.number(t, e, a, added)
	if !refused {
		e.shown = sentences
	}
}

// number gives new facts the numbers that the program gives them: by their places, then in their order.
func (c *converter) number(t *recordedTurn, e *convertedEntry, a *recordedArguments, added []convertedFact) {
	last := len(t.posts) - 1
	place := func(f convertedFact) int {
		if at := slices.Index(t.posts, a.PostID); f.Quote != "" && at >= 0 {
			return at
		}
		return last
	}
	slices.SortStableFunc(added, func(a, b convertedFact) int { return place(a) - place(b) })
	for _, f := range added {
		c.facts, c.edits = c.facts+1, c.edits+1
		if f.Quote != "" {
			c.quoted++
		}
		e.numbers[f.Text], e.open = int64(len(e.numbers)+1), append(e.open, f.Text)
	}
}
