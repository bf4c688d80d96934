package scripted

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"annotator"
)

// Style is a script that notes one to three findings of each scene, with a form of edits. It answers other questions
// like Annotate. Each is a pure function of the request.
type Style struct {
	Done     bool // the last edit of a reply declares the scene done, if the tools have an argument for it
	Single   bool // one call a reply
	Careless bool // every third edit is refused, and correct in the next reply
	Remark   bool // replies with calls also have a line of text
}

// Annotate is the script.
func (s Style) Annotate(r Request) Reply {
	last, at := r.last(isUser), r.last(isScene)
	if at < 0 || at != last || !r.MayCall() {
		return Annotate(r)
	}
	t := turn{scene: parseScene(r.Messages[at].Content), after: r.Messages[at+1:]}
	edits := s.edits(&t)
	if len(edits) == 0 {
		return Reply{Text: fmt.Sprintf("Scene %d is read.", t.scene.number)}
	}
	if s.Single {
		edits = edits[:1]
	}
	if s.Done && takesDone(r.Tools) {
		sayDone(&edits[len(edits)-1])
	}
	reply := Reply{ToolCalls: edits}
	if s.Remark {
		reply.Text = fmt.Sprintf("Of scene %d I note this.", t.scene.number)
	}
	return reply
}

// Terms returns the names of the findings of a scene, given its message.
func (s Style) Terms(message string) (terms []string) {
	t := turn{scene: parseScene(message)}
	for n := range t.findings() {
		term, _, _ := t.finding(n)
		terms = append(terms, term)
	}
	return terms
}

// findings is the number of findings of the scene.
func (t *turn) findings() int { return 1 + int(t.scene.number*7/5)%3 }

// finding returns the n-th of them, from 0: a unique term, a text about it, and a sentence to quote.
func (t *turn) finding(n int) (term, definition string, q quote) {
	quotes := t.scene.quotes()
	q = quotes[n%len(quotes)]
	term = fmt.Sprintf("%s %d%c", longestWord(q.text), t.scene.number, 'p'+n)
	return term, fmt.Sprintf("What scene %d tells of number %d.", t.scene.number, n), q
}

// edits returns the calls for the remaining findings.
func (s Style) edits(t *turn) (calls []annotator.ToolCall) {
	for n := range t.findings() {
		term, definition, q := t.finding(n)
		made := func(m Message) bool {
			return m.Role == annotator.RoleTool && bytes.Contains([]byte(m.Content), []byte(`"ok":true`)) &&
				bytes.Contains([]byte(m.Content), []byte(term))
		}
		switch {
		case slices.ContainsFunc(t.after, made):
		case s.Careless && len(t.after) == 0 && (int(t.scene.number)+n)%3 == 0:
			calls = append(calls, call("glossary_update", map[string]any{
				"entry_id": 1_000_000 + n,
				"facts":    q.bears(definition),
			}))
		default:
			calls = append(calls, call("glossary_create", map[string]any{
				"term": term, "facts": q.bears(definition),
				"tags": []string{"object"},
			}))
		}
	}
	return calls
}

// takesDone reports whether the tools have an argument that ends the scene. Those of earlier versions have none.
func takesDone(tools []annotator.ToolDefinition) bool {
	return slices.ContainsFunc(tools,
		func(t annotator.ToolDefinition) bool { return bytes.Contains(t.Schema, []byte(`"done"`)) })
}

func sayDone(c *annotator.ToolCall) {
	var arguments map[string]any
	if err := json.Unmarshal([]byte(c.Arguments), &arguments); err != nil {
		panic(err) // it was encoded here
	}
	arguments["done"] = true
	c.Arguments = mustJSON(arguments)
}
