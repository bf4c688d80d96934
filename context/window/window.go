// Package window folds the journal into what the model sees: the turns that have not left the window, each rendered once, as
// encoded bytes that only grow at their end. It is a pure function of the rows it is given, so that a resumed run and a
// snapshot see what was seen then, byte for byte.
package window

import (
	"cmp"
	"encoding/json"

	"annotator"
	"annotator/context/tokens"
)

// Encoder renders a group of messages for a wire: one message, or the tool results that answer one reply.
type Encoder func(group []annotator.Message) ([]byte, error)

// Window is the context between the system prompt and the next reply.
type Window struct {
	encode  Encoder
	fold    annotator.WindowState
	memory  tokens.Size // of what stands before the turns
	history []byte
	turns   []Turn
	group   []annotator.Message // rows that are not rendered yet: a reply may get calls, results belong together
	shown   map[int64]int64     // by entry: the revision it was last shown at
}

// Turn is a scene in the window with all that followed from it.
type Turn struct {
	ID     int64
	Size   tokens.Size
	Strips tokens.Size // of it: what taking its thinking out would save
	Cuts   tokens.Size // of it: what cutting its long replies would save
	start  int         // of its messages in the history
}

// acknowledged is what the assistant says by rule to the memory, so that roles alternate.
const acknowledged = "I have the story so far in mind."

// New returns a window without turns, as the newest compaction says it begins.
func New(encode Encoder, fold annotator.WindowState) (*Window, error) {
	w := &Window{encode: encode, fold: fold, shown: map[int64]int64{}}
	if fold.Memory == "" {
		return w, nil
	}
	w.memory = tokens.Measure(fold.Memory).Plus(tokens.Measure(acknowledged)).Framed(2 * tokens.PerMessage)
	w.group = append(w.group, annotator.Message{Role: annotator.RoleUser, Content: fold.Memory})
	if err := w.flush(); err != nil {
		return nil, err
	}
	w.group = append(w.group, annotator.Message{Role: annotator.RoleAssistant, Content: acknowledged})
	return w, w.flush()
}

// Add folds a row of the journal. Rows come in the journal's order; a turn's first row begins it.
func (w *Window) Add(row *annotator.Trace) error {
	if row.Turn == 0 || row.Kind == annotator.TraceUpdate {
		return nil
	}
	if row.Kind == annotator.TraceCall {
		return w.addCall(row)
	}
	message := w.message(row)
	if len(w.group) > 0 && (message.Role != annotator.RoleTool || w.group[0].Role != annotator.RoleTool) {
		if err := w.flush(); err != nil {
			return err
		}
	}
	if len(w.turns) == 0 || w.turns[len(w.turns)-1].ID != row.Turn {
		w.turns = append(w.turns, Turn{ID: row.Turn, start: len(w.history)})
	}
	w.group = append(w.group, message)
	w.turns[len(w.turns)-1].count(row.Kind, message.Content, cmp.Or(w.fold.CutAt, longReply))
	for _, s := range row.Shows {
		w.shown[s.Entry] = s.Revision
	}
	return nil
}

// addCall puts a tool call into the reply that asks for it, the row before.
func (w *Window) addCall(row *annotator.Trace) error {
	n := len(w.group)
	if n == 0 || w.group[n-1].Role != annotator.RoleAssistant {
		return annotator.Errorf(annotator.Violation, "journal row %d calls a tool, but follows no reply", row.ID).
			WithAdvice("check the database with `annotator verify`")
	}
	reply := &w.group[n-1]
	reply.ToolCalls = append(reply.ToolCalls, annotator.ToolCall{ID: row.CallID, Name: row.Tool, Arguments: object(row.Arguments)})
	turn := &w.turns[len(w.turns)-1]
	turn.Size = turn.Size.Plus(tokens.Measure(row.Tool).Plus(tokens.Measure(row.Arguments)).Framed(tokens.PerCall))
	return nil
}

func (w *Window) message(row *annotator.Trace) annotator.Message {
	m := annotator.Message{Role: annotator.RoleUser, Content: row.Content}
	switch row.Kind {
	case annotator.TraceReply:
		m.Role, m.Reasoning = annotator.RoleAssistant, row.Reasoning
		m.Content = w.trim(row)
	case annotator.TraceClose:
		m.Role = annotator.RoleAssistant
	case annotator.TraceResult:
		m.Role, m.ToolCallID, m.Tool = annotator.RoleTool, row.CallID, row.Tool
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

// Before returns the history as it was before a turn began, a prefix of it, and what it is made of. Where there is no such
// turn, that is all of it.
func (w *Window) Before(turn int64) ([]byte, tokens.Size, error) {
	history, err := w.History()
	size := w.memory
	for i := range w.turns {
		if w.turns[i].ID == turn {
			return history[:w.turns[i].start], size, err
		}
		size = size.Plus(w.turns[i].Size)
	}
	return history, size, err
}

// Next returns the id of the turn after a turn; 0 where that is the newest.
func (w *Window) Next(turn int64) int64 {
	for i := range w.turns {
		if w.turns[i].ID > turn {
			return w.turns[i].ID
		}
	}
	return 0
}

// Turns returns the turns in the window, oldest first.
func (w *Window) Turns() []Turn { return w.turns }

// Size is what the history is made of.
func (w *Window) Size() tokens.Size {
	size := w.memory
	for i := range w.turns {
		size = size.Plus(w.turns[i].Size)
	}
	return size
}

// Shown returns the newest showing of an entry in the window, if there is one.
func (w *Window) Shown(entry int64) (shown annotator.Shown, ok bool) {
	revision, ok := w.shown[entry]
	return annotator.Shown{Entry: entry, Revision: revision}, ok
}
