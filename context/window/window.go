// Package window folds the journal into what the model sees: the turns that have not left the window, each rendered once, as
// encoded bytes that only grow at their end. It is a pure function of the rows it is given, so that a resumed run and a
// snapshot see what was seen then, byte for byte.
package window

import (
	"encoding/json"
	"slices"

	"annotator"
)

// Encoder renders a group of messages for a wire: one message, or the tool results that answer one reply.
type Encoder func(group []annotator.Message) ([]byte, error)

// Window is the context between the system prompt and the next reply.
type Window struct {
	encode  Encoder
	history []byte
	turns   []Turn
	group   []annotator.Message // rows that are not rendered yet: a reply may get calls, results belong together
	shown   map[int64]showing
}

// Turn is a scene in the window with all that followed from it.
type Turn struct {
	ID     int64
	Tokens int // estimate
	start  int // of its messages in the history
}

type showing struct {
	turn     int64
	revision int64
}

// New returns an empty window.
func New(encode Encoder) *Window {
	return &Window{encode: encode, shown: map[int64]showing{}}
}

// Add folds a row of the journal. Rows come in the journal's order; a turn's first row begins it.
func (w *Window) Add(row *annotator.Trace) error {
	if row.Turn == 0 || row.Kind == annotator.TraceUpdate {
		return nil
	}
	if row.Kind == annotator.TraceCall {
		reply := &w.group[len(w.group)-1]
		reply.ToolCalls = append(reply.ToolCalls, annotator.ToolCall{ID: row.CallID, Name: row.Tool, Arguments: object(row.Arguments)})
		w.turns[len(w.turns)-1].Tokens += row.Tokens
		return nil
	}
	message := message(row)
	if len(w.group) > 0 && (message.Role != annotator.RoleTool || w.group[0].Role != annotator.RoleTool) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.turns) == 0 || w.turns[len(w.turns)-1].ID != row.Turn {
		w.turns = append(w.turns, Turn{ID: row.Turn, start: len(w.history)})
	}
	w.group = append(w.group, message)
	w.turns[len(w.turns)-1].Tokens += row.Tokens
	for _, s := range row.Shows {
		w.shown[s.Entry] = showing{turn: row.Turn, revision: s.Revision}
	}
	return nil
}

func message(row *annotator.Trace) annotator.Message {
	m := annotator.Message{Role: annotator.RoleUser, Content: row.Content}
	switch row.Kind {
	case annotator.TraceReply:
		m.Role, m.Reasoning = annotator.RoleAssistant, row.Reasoning
	case annotator.TraceClose:
		m.Role = annotator.RoleAssistant
	case annotator.TraceResult:
		m.Role, m.ToolCallID = annotator.RoleTool, row.CallID
	}
	return m
}

// object keeps arguments that are no JSON object from being sent again: servers refuse the whole request for them.
func object(arguments string) string {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(arguments), &fields); err != nil || fields == nil {
		return "{}"
	}
	return arguments
}

func (w *Window) flush() error {
	if len(w.group) == 0 {
		return nil
	}
	encoded, err := w.encode(w.group)
	if err != nil {
		return err
	}
	if len(w.history) > 0 {
		w.history = append(w.history, ',')
	}
	w.history = append(w.history, encoded...)
	w.group = w.group[:0]
	return nil
}

// History returns the encoded messages, joined by commas. Within an epoch each result begins with the one before. It
// must be called when a request can be sent: with every call of the last reply answered. The bytes are the window's own.
func (w *Window) History() ([]byte, error) {
	err := w.flush()
	return w.history, err
}

// Turns returns the turns in the window, oldest first.
func (w *Window) Turns() []Turn { return w.turns }

// Tokens estimates the history.
func (w *Window) Tokens() int {
	total := 0
	for i := range w.turns {
		total += w.turns[i].Tokens
	}
	return total
}

// Shows reports whether the window shows an entry as of the given revision.
func (w *Window) Shows(entry, revision int64) bool {
	s, ok := w.shown[entry]
	return ok && s.revision == revision
}

// Drop takes the turns up to and including through out of the window, as a compaction row says.
func (w *Window) Drop(through int64) error {
	return w.remove(func(turn int64) bool { return turn <= through })
}

// DropTurn takes a single turn out of the window, as a quarantine does.
func (w *Window) DropTurn(turn int64) error {
	return w.remove(func(t int64) bool { return t == turn })
}

func (w *Window) remove(gone func(turn int64) bool) error {
	if err := w.flush(); err != nil {
		return err
	}
	var history []byte
	var turns []Turn
	for i, turn := range w.turns {
		if gone(turn.ID) {
			continue
		}
		end := len(w.history)
		if i+1 < len(w.turns) {
			end = w.turns[i+1].start
		}
		messages := slices.Clone(w.history[turn.start:end])
		if len(messages) > 0 && messages[0] == ',' {
			messages = messages[1:]
		}
		turn.start = len(history)
		if len(history) > 0 {
			history = append(history, ',')
		}
		history = append(history, messages...)
		turns = append(turns, turn)
	}
	w.history, w.turns = history, turns
	for entry, s := range w.shown {
		if gone(s.turn) {
			delete(w.shown, entry)
		}
	}
	return nil
}
