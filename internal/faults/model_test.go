package faults_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"annotator"
	"annotator/model/scripted"
)

// diligent is a model that keeps two findings of each odd scene and then one of them better, and keeps one finding of each
// even scene. It goes by what its tools have answered, so it ends up with the same codex whatever it had to be asked again.
func diligent(r scripted.Request) scripted.Reply {
	w := findWork(&r)
	todo := w.creations()
	if todo == nil {
		todo = w.betterings()
	}
	if todo == nil || !r.MayCall() {
		return scripted.Reply{Text: fmt.Sprintf("Scene %d is read — «gelesen», 読んだ.", w.scene)}
	}
	return scripted.Reply{ToolCalls: todo}
}

// work is the scene at hand, and what has been answered since.
type work struct {
	scene, post int
	answers     []finding
}

// finding is an entry as an answer shows it.
type finding struct {
	ID               int64
	Term, Definition string
}

func findWork(r *scripted.Request) work {
	var w work
	for i := range r.Messages {
		text := r.Messages[i].Content
		if _, scene, ok := strings.Cut(text, `<scene number="`); ok && r.Messages[i].Role == annotator.RoleUser {
			_, post, _ := strings.Cut(scene, `<post id="`)
			w = work{scene: leadingNumber(scene), post: leadingNumber(post)}
		}
		var answer struct {
			OK    bool
			Entry finding
		}
		if r.Messages[i].Role == annotator.RoleTool && json.Unmarshal([]byte(text), &answer) == nil && answer.OK {
			w.answers = append(w.answers, answer.Entry)
		}
	}
	return w
}

func leadingNumber(text string) (n int) {
	_, _ = fmt.Sscanf(text, "%d", &n)
	return n
}

func (w *work) creations() (todo []annotator.ToolCall) {
	for _, thing := range []string{"Lantern", "Warden"}[:1+w.scene%2] {
		term := fmt.Sprintf("%s %d", thing, w.scene)
		if w.kept(term, "") == nil {
			todo = append(todo, toolcall("glossary_create", map[string]any{
				"term": term, "definition": theDefinition, "tags": []string{"thing"}, "quote": theQuote, "post_id": w.post,
			}))
		}
	}
	return todo
}

func (w *work) betterings() []annotator.ToolCall {
	lantern := w.kept(fmt.Sprintf("Lantern %d", w.scene), "")
	if w.scene%2 == 0 || w.kept(lantern.Term, theAddition) != nil {
		return nil
	}
	return []annotator.ToolCall{toolcall("glossary_update", map[string]any{
		"entry_id": lantern.ID, "definition": theDefinition + " " + theAddition, "quote": theQuote, "post_id": w.post,
	})}
}

const (
	theDefinition = "It is in room 1."
	theAddition   = "It was looked at again."
	theQuote      = "burned in room 1"
)

// kept returns the entry of a term that is known to be in the codex, where its definition has the given words.
func (w *work) kept(term, words string) *finding {
	for i := range w.answers {
		if a := &w.answers[i]; a.Term == term && strings.Contains(a.Definition, words) {
			return a
		}
	}
	return nil
}

func toolcall(name string, arguments map[string]any) annotator.ToolCall {
	text, _ := json.Marshal(arguments) // strings and numbers can always be encoded
	return annotator.ToolCall{Name: name, Arguments: string(text)}
}
