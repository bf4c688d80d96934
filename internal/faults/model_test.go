package faults_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/scripted"
	"annotator/policy"
	"annotator/tools"
)

// keepsGlossary is a script that notes two findings of each odd scene and then improves one of them. It notes one
// finding of each even scene. It depends only on the results of its tools, so repeated requests lead to the same codex.
func keepsGlossary(r scripted.Request) scripted.Reply {
	switch question := r.Messages[len(r.Messages)-1].Content; {
	case strings.Contains(question, ofSummary) && !strings.Contains(question, ofCurator):
		if told := scripted.Recap(question); told != "" {
			return scripted.Reply{Text: told}
		}
		return scripted.Reply{Text: summary(question)}
	case strings.Contains(question, ofCurator):
		return scripted.Decide(question, func(scripted.Candidate) map[string]any {
			return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
		})
	}
	w := findWork(&r)
	todo, intent := w.creations(), "PROPOSE"
	if todo == nil {
		todo, intent = w.revisions(), "REVISE"
	}
	if todo != nil && r.Tools != nil && r.Tools[0].Name == policy.SelectIntent && w.intent != intent {
		todo = []annotator.ToolCall{toolcall(policy.SelectIntent,
			map[string]any{"intent": intent, "justification": "The scene calls for it."})}
	}
	if todo == nil || !r.MayCall() {
		return scripted.Reply{Text: fmt.Sprintf("Scene %d is read — «gelesen», 読んだ.", w.scene)}
	}
	return scripted.Reply{ToolCalls: todo}
}

// Texts that occur only in the auxiliary questions.
const (
	ofSummary = "write a summary for your own later use"
	ofCurator = "judge the candidates below"
)

// summary answers with each of the requested elements.
func summary(question string) (text string) {
	for _, element := range []string{"cumulative", "chunk"} {
		if strings.Contains(question, "<"+element+">") {
			text += fmt.Sprintf("<%[1]s>The lantern burned while the warden slept.</%[1]s>\n", element)
		}
	}
	return text
}

// work is the current scene, and the results of its tools.
type work struct {
	scene, post int
	intent      string // the declared one, if it is required
	answers     []finding
}

// finding is an entry of an answer, with the numbers of its known facts.
type finding struct {
	ID    int64
	Term  string
	facts []int64
}

func findWork(r *scripted.Request) work {
	var w work
	for i := range r.Messages {
		text := r.Messages[i].Content
		if _, scene, ok := strings.Cut(text, `<scene number="`); ok && r.Messages[i].Role == annotator.RoleUser {
			_, post, _ := strings.Cut(scene, `<post id="`)
			w = work{scene: leadingNumber(scene), post: leadingNumber(post)}
		}
		if r.Messages[i].Role == annotator.RoleTool {
			w.readResult(text)
		}
	}
	return w
}

// readResult reads the result of a tool. An entry that existed before is treated like a new one.
func (w *work) readResult(text string) {
	var answer struct {
		OK           bool
		Intent       string
		Entry        finding
		Added, Known []int64
		Error        struct {
			Code  string
			Entry finding
		}
	}
	_ = json.Unmarshal([]byte(text), &answer) // if it is not, it has no information
	switch {
	case answer.OK && answer.Intent != "":
		w.intent = answer.Intent
	case answer.OK:
		answer.Entry.facts = append(answer.Added, answer.Known...)
		w.answers = append(w.answers, answer.Entry)
	case answer.Error.Code == tools.Duplicate:
		w.answers = append(w.answers, answer.Error.Entry)
	}
}

func leadingNumber(text string) (n int) {
	_, _ = fmt.Sscanf(text, "%d", &n)
	return n
}

func (w *work) creations() (todo []annotator.ToolCall) {
	for _, thing := range []string{"Lantern", "Warden"}[:1+w.scene%2] {
		term := fmt.Sprintf("%s %d", thing, w.scene)
		if w.kept(term, 0) == nil {
			todo = append(todo, toolcall("glossary_create", map[string]any{
				"term": term, "facts": []any{w.fact(theDefinition)}, "tags": []string{"thing"},
			}))
		}
	}
	return todo
}

func (w *work) revisions() []annotator.ToolCall {
	lantern := w.kept(fmt.Sprintf("Lantern %d", w.scene), 0)
	if w.scene%2 == 0 || w.kept(lantern.Term, 2) != nil {
		return nil
	}
	return []annotator.ToolCall{toolcall("glossary_update", map[string]any{
		"entry_id": lantern.ID, "facts": []any{w.fact(theAddition)},
	})}
}

func (w *work) fact(text string) map[string]any {
	return map[string]any{"text": text, "quote": theQuote, "post_id": w.post}
}

const (
	theDefinition = "It is in room 1."
	theAddition   = "It was looked at again."
	theQuote      = "burned in room 1"
)

// kept returns the entry of a term that is in the codex and has a fact with a number; 0 for any fact.
func (w *work) kept(term string, fact int64) *finding {
	for i := range w.answers {
		if a := &w.answers[i]; a.Term == term && (fact == 0 || slices.Contains(a.facts, fact)) {
			return a
		}
	}
	return nil
}

func toolcall(name string, arguments map[string]any) annotator.ToolCall {
	text, _ := json.Marshal(arguments) // strings and numbers can always be encoded
	return annotator.ToolCall{Name: name, Arguments: string(text)}
}
