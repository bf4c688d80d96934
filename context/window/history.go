package window

import (
	"cmp"
	"maps"
	"slices"

	"annotator"
	"annotator/context/tokens"
)

// Encoder renders a group of messages for a wire: one message, or the tool results that answer one reply.
type Encoder func(group []annotator.Message) ([]byte, error)

// History is the messages of the window, between the system prompt and the next reply. Each is encoded once.
type History struct {
	encode  Encoder
	state   annotator.WindowState
	memory  tokens.Size // of what precedes the turns
	encoded []byte
	turns   []Turn
	group   []annotator.Message // rows that are not encoded yet: a reply may get calls, results belong together
	shown   map[int64]int64     // by entry: the revision it was last shown at
	named   map[int64]int64     // by entry: the revision its names were last shown at
	states  map[int64]int64     // by entry: the revision its open states were last shown at
	listed  int64               // the newest row that shows names; 0 for none
	err     error               // the first; nothing is added after it
}

// Turn is a scene in the window with all that followed from it.
type Turn struct {
	ID     int64
	Size   tokens.Size
	Strips tokens.Size // part of Size that is saved if its thinking is taken out
	Cuts   tokens.Size // part of Size that is saved if its long replies are cut
	start  int         // offset of its messages in the encoded history
}

// acknowledged is what the assistant says by rule to the memory, so that roles alternate.
const acknowledged = "I have the story so far in mind."

// NewHistory computes the history from the state that the newest compaction left and the rows of the journal since.
func NewHistory(encode Encoder, state annotator.WindowState, rows []annotator.Trace) (*History, error) {
	h := &History{
		encode: encode, state: state,
		shown: map[int64]int64{}, named: map[int64]int64{}, states: map[int64]int64{},
	}
	h.begin()
	for i := range rows {
		_ = h.Add(&rows[i]) // the error stays in h
	}
	return h, h.err
}

// begin adds what precedes the turns.
func (h *History) begin() {
	memory := h.state.Memory
	if memory == "" {
		return
	}
	h.memory = tokens.Measure(memory).Plus(tokens.Measure(acknowledged)).Framed(2 * tokens.PerMessage)
	h.group = append(h.group, annotator.Message{Role: annotator.RoleUser, Content: memory})
	h.flush()
	h.group = append(h.group, annotator.Message{Role: annotator.RoleAssistant, Content: acknowledged})
	h.flush()
}

// Add appends a row of the journal. Rows come in the journal's order; a turn's first row begins it.
func (h *History) Add(row *annotator.Trace) error {
	if h.err != nil || row.Turn == 0 || row.Kind == annotator.TraceUpdate {
		return h.err
	}
	if row.Kind == annotator.TraceCall {
		return h.addCall(row)
	}
	row = h.bare(row)
	message := h.message(row)
	if len(h.group) > 0 && (message.Role != annotator.RoleTool || h.group[0].Role != annotator.RoleTool) {
		h.flush()
	}
	if len(h.turns) == 0 || h.turns[len(h.turns)-1].ID != row.Turn {
		h.turns = append(h.turns, Turn{ID: row.Turn, start: len(h.encoded)})
	}
	h.group = append(h.group, message)
	h.turns[len(h.turns)-1].count(row.Kind, message.Content, cmp.Or(h.state.CutAt, longReply))
	h.show(row)
	return h.err
}

// show records what a row shows of entries. One that is shown in full is shown with its names and its open states.
func (h *History) show(row *annotator.Trace) {
	for _, s := range row.Shows {
		if !s.Name {
			h.states[s.Entry] = s.Revision
		}
		if !s.States {
			h.named[s.Entry] = s.Revision
		}
		switch {
		case s.Name:
			h.listed = row.ID
		case !s.States:
			h.shown[s.Entry] = s.Revision
		}
	}
}

// addCall puts a tool call into the reply that asks for it, the row before.
func (h *History) addCall(row *annotator.Trace) error {
	n := len(h.group)
	if n == 0 || h.group[n-1].Role != annotator.RoleAssistant {
		h.err = annotator.Errorf(annotator.Violation, "journal row %d calls a tool, but follows no reply", row.ID).
			WithReason(annotator.ReasonDatabaseDamaged)
		return h.err
	}
	reply := &h.group[n-1]
	call := annotator.ToolCall{ID: row.CallID, Name: row.Tool, Arguments: row.Arguments}
	// they are no object, and servers refuse the whole request for them
	if row.Arguments == "" || row.Parsed.Arguments == nil {
		call.Arguments = "{}"
	}
	reply.ToolCalls = append(reply.ToolCalls, call)
	turn := &h.turns[len(h.turns)-1]
	turn.Size = turn.Size.Plus(tokens.Measure(row.Tool).Plus(tokens.Measure(row.Arguments)).Framed(tokens.PerCall))
	return nil
}

func (h *History) message(row *annotator.Trace) annotator.Message {
	m := annotator.Message{Role: annotator.RoleUser, Content: row.Text()}
	switch row.Kind {
	case annotator.TraceReply:
		m.Role, m.Reasoning = annotator.RoleAssistant, row.Reasoning
		m.Content = h.trim(row)
	case annotator.TraceClose:
		m.Role = annotator.RoleAssistant
	case annotator.TraceResult:
		m.Role, m.ToolCallID, m.Tool = annotator.RoleTool, row.CallID, row.Tool
	}
	return m
}

func (h *History) flush() {
	if h.err != nil || len(h.group) == 0 {
		return
	}
	var encoded []byte
	if encoded, h.err = h.encode(h.group); h.err != nil {
		return
	}
	if len(h.encoded) > 0 {
		h.encoded = append(h.encoded, ',')
	}
	h.encoded = append(h.encoded, encoded...)
	h.group = h.group[:0]
}

// Encoded returns the encoded messages, joined by commas. Within an epoch each result begins with the one before. It
// must be called when a request can be sent: with every call of the last reply answered. The caller must not change the
// bytes.
func (h *History) Encoded() ([]byte, error) {
	h.flush()
	return h.encoded, h.err
}

// Before returns the encoded messages before a turn, a prefix of the history, and their size. Without such a turn it
// returns the whole history.
func (h *History) Before(turn int64) ([]byte, tokens.Size, error) {
	encoded, err := h.Encoded()
	size := h.memory
	for i := range h.turns {
		if h.turns[i].ID == turn {
			return encoded[:h.turns[i].start], size, err
		}
		size = size.Plus(h.turns[i].Size)
	}
	return encoded, size, err
}

// Next returns the id of the turn after a turn, or 0 if there is none.
func (h *History) Next(turn int64) int64 {
	for i := range h.turns {
		if h.turns[i].ID > turn {
			return h.turns[i].ID
		}
	}
	return 0
}

// Turns returns the turns, oldest first.
func (h *History) Turns() []Turn { return h.turns }

// Size returns the size of all messages.
func (h *History) Size() tokens.Size {
	size := h.memory
	for i := range h.turns {
		size = size.Plus(h.turns[i].Size)
	}
	return size
}

// Shown returns the revision at which the history last shows an entry in full; 0 where it does not.
func (h *History) Shown(entry int64) annotator.Shown {
	return annotator.Shown{Entry: entry, Revision: h.shown[entry]}
}

// States returns the revision at which the history last shows the open states of an entry; 0 where it does not.
func (h *History) States(entry int64) int64 { return h.states[entry] }

// Names reports whether the history shows the names of an entry, as its rows say.
func (h *History) Names(entry int64) bool { return h.named[entry] != 0 }

// Named returns the entries whose names the history shows, with the revisions at which it last does, by entry.
func (h *History) Named() []annotator.Shown {
	list := make([]annotator.Shown, 0, len(h.named))
	for _, entry := range slices.Sorted(maps.Keys(h.named)) {
		list = append(list, annotator.Shown{Entry: entry, Revision: h.named[entry]})
	}
	return list
}

// Listed reports whether the history shows names that were listed since the newest compaction.
func (h *History) Listed() bool { return h.listed > h.state.Row }
