// Package turn computes the state of the turn of a scene from its rows in the journal. A resumed run computes the same
// state as an uninterrupted one, so that it decides the same.
package turn

import (
	"slices"
	"strings"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// State is the state of a turn.
type State struct {
	NextSeq      int                // of the turn's next row
	Rounds       int                // replies with tool calls
	Corrections  int                // sent since the newest call
	Reply        *annotator.Trace   // the newest; nil if a correction has followed it
	Text         []byte             // of the newest reply, with its calls
	Cut          bool               // the newest reply ended at its token limit
	Calls        []annotator.Trace  // of the newest reply, without a result yet
	Updates      int                // items of the newest reply's codex updates that have run
	Failed       []*annotator.Trace // the failed ones of these
	Closed       bool               // the newest row is an answer in text
	CallRequired bool               // a correction demanded a call, and none has come since
	Intent       policy.Turn

	replies []reply
}

// reply is what came of a reply.
type reply struct {
	calls   []pastCall // that have an answer, in order
	updated bool       // an update of its text was made
}

// pastCall is an answered call.
type pastCall struct {
	tool, arguments string
	code            string // of the error; empty if the call succeeded
	done            bool   // the call says that the scene is worked through
	outcome         tools.Outcome
}

// Apply updates the state by a row of the turn.
func (s *State) Apply(row *annotator.Trace) {
	s.NextSeq = row.Seq + 1
	s.Closed = false
	s.Intent.Apply(row)
	switch row.Kind {
	case annotator.TraceReply:
		s.Reply, s.Text, s.Cut, s.Closed = row, []byte(row.Content), row.Error != "", true
		s.Calls, s.Updates, s.Failed = nil, 0, nil
		s.replies = append(s.replies, reply{})
	case annotator.TraceCall:
		if len(s.Calls) == 0 {
			s.Rounds++
		}
		s.Calls = append(s.Calls, *row)
		s.CallRequired, s.Corrections = false, 0
		s.Text = append(s.Text, "\n"+row.Tool+" "+row.Arguments...)
	case annotator.TraceResult: // results come in the order of the calls
		s.answer(&s.Calls[0], row)
		s.Calls = s.Calls[1:]
	case annotator.TraceUpdate:
		s.Updates++
		s.Closed = true
		if row.Error != "" {
			s.Failed = append(s.Failed, row)
		} else {
			s.newest().updated = true
		}
	case annotator.TraceNote:
		s.Reply = nil
		s.Corrections++
		s.CallRequired = row.Error == annotator.CallRequired
	}
}

func (s *State) answer(call, result *annotator.Trace) {
	outcome := tools.OutcomeOf(result)
	if s.Cut {
		outcome = tools.Left
	}
	newest := s.newest()
	newest.calls = append(newest.calls,
		pastCall{call.Tool, call.Arguments, result.Error, call.Parsed.Done, outcome})
}

// newest returns the newest reply.
func (s *State) newest() *reply { return &s.replies[len(s.replies)-1] }

// Replies returns the number of replies.
func (s *State) Replies() int { return len(s.replies) }

// Answered returns the number of calls of the newest reply with a result.
func (s *State) Answered() int {
	if len(s.replies) == 0 {
		return 0
	}
	return len(s.newest().calls)
}

func (r *reply) done() bool {
	return slices.ContainsFunc(r.calls, func(c pastCall) bool { return c.done })
}

func (r *reply) has(outcome tools.Outcome) bool {
	return slices.ContainsFunc(r.calls, func(c pastCall) bool { return c.outcome == outcome })
}

func (r *reply) failed(code string) bool {
	return slices.ContainsFunc(r.calls, func(c pastCall) bool { return c.code == code })
}

// StaysOpen reports whether a refusal keeps the scene open, though the newest reply calls it finished. It does so once.
func (s *State) StaysOpen() bool {
	return !keptOpen(s.replies[:len(s.replies)-1]) && (s.newest().done() ||
		slices.ContainsFunc(s.Calls, func(row annotator.Trace) bool { return row.Parsed.Done }))
}

// keptOpen reports whether one of some replies called the scene finished, and something of it was refused. The model
// has then had its one more reply.
func keptOpen(replies []reply) bool {
	return slices.ContainsFunc(replies, func(r reply) bool { return r.done() && r.has(tools.Refused) })
}

// closingText is the assistant's message at the end of a turn that ends with calls without any text. With it, roles
// alternate.
const closingText = "No further notes on this scene."

// maxClosingWords is the length, in bytes, up to which the model's own text closes a turn. The window then has it
// twice.
const maxClosingWords = 240

// ClosingWords returns the text that closes a turn: the last line with its last calls, if that is a short one of plain
// text.
func (s *State) ClosingWords() string {
	if s.Reply == nil {
		return closingText
	}
	text := strings.TrimSpace(s.Reply.Content)
	line := strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
	if line == "" || len(line) > maxClosingWords || strings.ContainsAny(line, "<>{}[]`") {
		return closingText
	}
	return line
}
