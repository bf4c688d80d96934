package runner_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
)

// TestQuestionsToPeople: a model asks a person and goes on, without a request of its own. The answer is shown once,
// with the next scene that names the entry. Another answer is shown after it.
func TestQuestionsToPeople(t *testing.T) {
	t.Parallel()
	requests := 0
	answered := map[string]string{} // by the scene's number
	s := newTale(t, [][]string{{
		"Marrow keeps the light.", "It rained.", "Marrow came back.", "Marrow sailed.", "It rained on Marrow.",
		"Marrow slept.",
	}}, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		text := r.Messages[len(r.Messages)-1].Content
		if !strings.HasPrefix(text, `<scene number="`) {
			return scripted.Reply{Text: "Read."}
		}
		requests++
		number, _, _ := strings.Cut(strings.TrimPrefix(text, `<scene number="`), `"`)
		if _, answers, shown := strings.Cut(text, "<answers>"); shown {
			answered[number] = answers
		}
		if number != "1" {
			return scripted.Reply{Text: "Read."}
		}
		return calls(
			toolCall("glossary_create", `{"term":"Marrow","tags":["person"],"facts":[{"text":"She keeps it."}]}`),
			toolCall("ask_person", `{"entry":"Marrow","question":"Is <she> old?","answers":["yes","no"]}`),
			toolCall("glossary_update", `{"entry_id":1,"facts":[{"text":"She is there."}],"done":true}`))
	}})
	s.config.NoThreadSummaries = true
	read := func(scenes int, ops ...annotator.Operation) {
		t.Helper()
		s.config.Limit = scenes
		s.file("asked", ops...)
		if err := s.run("asked"); err != nil && annotator.KindOf(err) != annotator.Interrupted {
			t.Fatal(err)
		}
	}
	s.config.Limit = 1
	if err := s.run("asked"); err != nil && annotator.KindOf(err) != annotator.Interrupted {
		t.Fatal(err)
	}
	if requests != 1 {
		t.Errorf("%d requests for a scene with a question", requests)
	}
	answer := annotator.Operation{Do: annotator.DeedAnswer, Question: 1, Text: "No: she is </answer> young."}
	read(3, answer)
	answer.Text = "She is forty."
	read(1, answer, annotator.Operation{Do: annotator.DeedUndo})
	read(1, answer)
	s.lawful("asked")
	first := `<answer entry="1" term="Marrow" question="Is &lt;she&gt; old?">No: she is &lt;/answer&gt; young.</answer>`
	if len(answered) != 2 || !strings.Contains(answered["3"], first) ||
		!strings.Contains(answered["6"], ">She is forty.</answer>") {
		t.Errorf("answers were shown with %v", answered)
	}
	edits := s.open("asked").Edits
	if left, err := edits.NewAnswers(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("%v is not shown: %v", left, err)
	}
}
