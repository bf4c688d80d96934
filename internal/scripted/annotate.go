package scripted

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"annotator"
)

const noUpdates = "<codex_updates>[]</codex_updates>"

// Annotate is the default script. It is a pure function of the request.
//
// It answers the last <scene number="N"> among the user messages. The round is the number of assistant messages since
// the scene. Round 0 has two calls of glossary_create. Round 1 has a glossary_search and a glossary_update of an entry
// from round 0. Round 2 ends the turn with text. Some scenes differ, by N modulo 7. For 3 there is only text, for 5
// text with a codex update, for 6 a read_post and then text.
//
// A user message without a scene that asks for a summary or for a curator's decisions gets them. If no tool may be
// called, the reply is text.
func Annotate(r Request) Reply {
	last := r.last(isUser)
	if last < 0 {
		return Reply{Text: "There is nothing to annotate."}
	}
	question := r.Messages[last].Content
	at := r.last(isScene)
	switch {
	case at != last && len(Candidates(question)) > 0:
		return Decide(question, confirm)
	case at != last && BesideDecisions(question) != "":
		return Reply{Text: BesideDecisions(question)}
	case at != last && strings.Contains(strings.ToLower(question), "summar"):
		return Reply{Text: fmt.Sprintf("The story so far fills %d messages.", last)}
	case at < 0:
		return Reply{Text: "There is nothing to annotate."}
	}
	t := turn{scene: parseScene(r.Messages[at].Content), after: r.Messages[at+1:]}
	if !r.MayCall() || len(t.scene.quotes()) == 0 {
		return Reply{Text: noUpdates}
	}
	return t.reply()
}

func isUser(m *Message) bool { return m.Role == annotator.RoleUser }

func isScene(m *Message) bool { return isUser(m) && strings.Contains(m.Content, sceneTag) }

// turn is a scene and the messages after it.
type turn struct {
	scene scene
	after []Message
}

func (t *turn) reply() Reply {
	round := 0
	for i := range t.after {
		if t.after[i].Role == annotator.RoleAssistant {
			round++
		}
	}
	switch variant := t.scene.number % 7; {
	case variant == 5:
		return t.update()
	case variant == 3 || round > 1 || variant == 6 && round > 0:
		return Reply{Text: fmt.Sprintf("Scene %d is read.\n%s", t.scene.number, noUpdates)}
	case variant == 6:
		return Reply{ToolCalls: []annotator.ToolCall{call("read_post",
			map[string]any{"post_id": t.scene.quotes()[0].post})}}
	case round == 0:
		return Reply{ToolCalls: []annotator.ToolCall{t.create(0), t.create(1)}}
	}
	return t.revise()
}

// note returns the n-th finding of the scene, from 0: a unique term, and a sentence to quote.
func (t *turn) note(n int) (term, definition string, q quote) {
	quotes := t.scene.quotes()
	q = quotes[n*(len(quotes)-1)]
	word := longestWord(q.text)
	term = fmt.Sprintf("%s %d%c", word, t.scene.number, 'a'+n)
	return term, fmt.Sprintf("What scene %d calls %q.", t.scene.number, word), q
}

func (t *turn) create(n int) annotator.ToolCall {
	term, definition, q := t.note(n)
	tag := [...]string{"person", "place", "thing"}[t.scene.number%3]
	return call("glossary_create", map[string]any{"term": term, "facts": q.bears(definition), "tags": []string{tag}})
}

// revise searches for the first finding and, if it was created in this turn, adds a fact to it.
func (t *turn) revise() Reply {
	term, _, q := t.note(0)
	calls := []annotator.ToolCall{call("glossary_search", map[string]any{"query": term})}
	if id := t.created(); id != 0 {
		calls = append(calls, call("glossary_update", map[string]any{
			"entry_id": id, "facts": q.bears("It was looked up in the same scene."),
		}))
	}
	return Reply{ToolCalls: calls}
}

// created returns the id of the first entry that a tool created in this turn, or 0.
func (t *turn) created() int64 {
	for i := range t.after {
		var result struct {
			OK    bool `json:"ok"`
			Entry struct {
				ID int64 `json:"id"`
			} `json:"entry"`
		}
		m := &t.after[i]
		if m.Role == annotator.RoleTool && json.Unmarshal([]byte(m.Content), &result) == nil && result.OK &&
			result.Entry.ID != 0 {
			return result.Entry.ID
		}
	}
	return 0
}

// update answers with a finding as text.
func (t *turn) update() Reply {
	term, definition, q := t.note(0)
	updates := []map[string]any{{"term": term, "facts": q.bears(definition), "status": "new"}}
	return Reply{Text: fmt.Sprintf("Scene %d names one thing.\n<codex_updates>%s</codex_updates>", t.scene.number,
		mustJSON(updates))}
}

func call(name string, arguments map[string]any) annotator.ToolCall {
	return annotator.ToolCall{Name: name, Arguments: mustJSON(arguments)}
}

func mustJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // strings and numbers can always be encoded
	}
	return string(text)
}

// attribute returns the number in name="number" in a tag's text; 0 if there is none or it is negative.
func attribute(tag, name string) int64 {
	_, rest, _ := strings.Cut(tag, " "+name+`="`)
	digits, _, _ := strings.Cut(rest, `"`)
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil {
		return 0
	}
	return max(n, 0)
}
