package offline

import (
	"strings"

	"annotator/internal/chatwire"
)

// answer returns the reply to a request. prompt is a hash of the whole request.
func (m *Model) answer(r *request, prompt uint64) answer {
	w := readWindow(r.messages)
	a := m.task(w, r, prompt)
	a.clip(r.OutputLimit())
	return a
}

func (m *Model) task(w *window, r *request, prompt uint64) answer {
	tools := len(r.offers()) > 0
	switch {
	case asksDecision(w.instruction) || !w.reading && asksDecision(w.system):
		return m.decide(w)
	case strings.Contains(strings.ToLower(w.instruction), "summar"):
		return m.summarise(w, r.OutputLimit())
	case w.reading && !tools:
		return m.annotateInText(w)
	case tools && len(w.scenes) > 0 && !w.answered:
		return m.annotate(w, r, prompt)
	case tools && !strings.Contains(w.instruction, "?"):
		return closeTurn(w)
	}
	return m.reply(w)
}

// clip cuts a text at the caller's limit, as a server does, even inside a word.
func (a *answer) clip(limit int) {
	if limit <= 0 || len(a.calls) > 0 || chatwire.Tokens(len(a.text)) <= limit {
		return
	}
	a.text = a.text[:runeStart(a.text, limit*chatwire.BytesPerToken)]
	a.cut = true
}
