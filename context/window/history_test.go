package window_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/context/tokens"
	"annotator/context/window"
	"annotator/tools"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// encode is the encoder of a wire of the test's own: a JSON value for each message.
func encode(group []annotator.Message) ([]byte, error) {
	var all [][]byte
	for _, m := range group {
		text, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	return bytes.Join(all, []byte(",")), nil
}

// decode decodes a history.
func decode(t rapid.TB, history []byte) []annotator.Message {
	t.Helper()
	var messages []annotator.Message
	if err := json.Unmarshal(slices.Concat([]byte("["), history, []byte("]")), &messages); err != nil {
		t.Fatalf("%v in %q", err, history)
	}
	return messages
}

// newHistory returns the history of rows.
func newHistory(t rapid.TB, f annotator.WindowState, rows []annotator.Trace) *window.History {
	t.Helper()
	w, err := window.NewHistory(encode, f, rows)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func history(t rapid.TB, w *window.History) []byte {
	t.Helper()
	h, err := w.Encoded()
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Clone(h)
}

// journal draws the rows of some turns, as a run writes them.
func journal(t *rapid.T) []annotator.Trace {
	var rows []annotator.Trace
	for turn := range rapid.Int64Range(0, 5).Draw(t, "turns") {
		if rapid.Bool().Draw(t, "prompt") {
			rows = append(rows, annotator.Trace{Kind: annotator.TracePrompt, Content: "1"})
		}
		rows = append(rows, turnRows(t, turn+1)...)
	}
	for i := range rows {
		rows[i].ID = int64(i + 1)
	}
	return rows
}

// attached is what a scene is shown with.
const attached = "\n<relevant_entries>\nDawn\n</relevant_entries>"

func turnRows(t *rapid.T, turn int64) []annotator.Trace {
	rows := []annotator.Trace{{
		Turn: turn, Kind: annotator.TraceScene, Content: "<scene>",
		Attached: rapid.SampledFrom([]string{"", attached}).Draw(t, "attached"), Shows: shows(t),
	}}
	add := func(kind annotator.TraceKind, content string) *annotator.Trace {
		rows = append(rows, annotator.Trace{Turn: turn, Seq: len(rows), Kind: kind, Content: content})
		return &rows[len(rows)-1]
	}
	for range rapid.IntRange(0, 3).Draw(t, "rounds") {
		reply(t, add)
		if rapid.Bool().Draw(t, "note") {
			add(annotator.TraceNote, "Go on.")
		}
	}
	if rapid.Bool().Draw(t, "close") {
		add(annotator.TraceClose, "No more.")
	}
	return rows
}

// reply draws a reply with its calls and their results, or with updates that the model is not shown.
func reply(t *rapid.T, add func(annotator.TraceKind, string) *annotator.Trace) {
	text := rapid.SampledFrom([]string{
		"", "Well.", "<think>Hm.</think> Yes.", strings.Repeat("long é ", 200),
		`"\n,{}`,
	}).Draw(t, "text")
	add(annotator.TraceReply, text).Reasoning = "because"
	calls := rapid.IntRange(0, 3).Draw(t, "calls")
	for i := range calls {
		call := add(annotator.TraceCall, "")
		call.CallID, call.Tool, call.Arguments = fmt.Sprint("c", i), "glossary_search", `{"query":"x"}`
		call.Parsed.Arguments = []byte(call.Arguments)
	}
	for i := range calls {
		result := add(annotator.TraceResult, "found")
		result.CallID, result.Tool, result.Shows = fmt.Sprint("c", i), "glossary_search", shows(t)
	}
	if calls == 0 && rapid.Bool().Draw(t, "update") {
		add(annotator.TraceUpdate, "not shown")
	}
}

func shows(t *rapid.T) []annotator.Shown {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) annotator.Shown {
		return annotator.Shown{
			Entry:    rapid.Int64Range(1, 3).Draw(t, "entry"),
			Revision: rapid.Int64Range(1, 4).Draw(t, "revision"),
		}
	}), 0, 2).Draw(t, "shows")
}

// naive returns the messages of rows, one row after the other.
func naive(rows []annotator.Trace) []annotator.Message {
	messages := []annotator.Message{}
	for _, row := range rows {
		switch row.Kind {
		case annotator.TraceScene, annotator.TraceNote:
			messages = append(messages, annotator.Message{Role: annotator.RoleUser, Content: row.Text()})
		case annotator.TraceReply, annotator.TraceClose:
			messages = append(messages, annotator.Message{
				Role: annotator.RoleAssistant, Content: row.Content,
				Reasoning: row.Reasoning,
			})
		case annotator.TraceCall:
			last := &messages[len(messages)-1]
			last.ToolCalls = append(last.ToolCalls,
				annotator.ToolCall{ID: row.CallID, Name: row.Tool, Arguments: row.Arguments})
		case annotator.TraceResult:
			messages = append(messages, annotator.Message{
				Role: annotator.RoleTool, Content: row.Content,
				ToolCallID: row.CallID, Tool: row.Tool,
			})
		}
	}
	return messages
}

// TestHistoryIsTheJournal adds rows at once and in steps, and reads the history wherever a request could be sent. It is
// equal to a naive reading of the rows, and only grows at its end.
func TestHistoryIsTheJournal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := journal(t)
		whole := history(t, newHistory(t, annotator.WindowState{}, rows))
		if diff := cmp.Diff(naive(rows), decode(t, whole)); diff != "" {
			t.Fatalf("(-journal +history):\n%s", diff)
		}
		steps, former := newHistory(t, annotator.WindowState{}, nil), []byte(nil)
		for i := range rows {
			if err := steps.Add(&rows[i]); err != nil {
				t.Fatal(err)
			}
			if i+1 < len(rows) && (rows[i+1].Kind == annotator.TraceCall || rows[i+1].Kind == annotator.TraceResult) {
				continue // a call is not answered yet, so that no request can be sent
			}
			now := history(t, steps)
			if !bytes.HasPrefix(now, former) {
				t.Fatalf("row %d changed the history before it:\n%s\n%s", i+1, former, now)
			}
			former = now
		}
		if !bytes.Equal(former, whole) {
			t.Fatalf("step by step\n%s\nat once\n%s", former, whole)
		}
	})
}

// TestEncoderGetsGroups: a message at a time, but all results of a reply together.
func TestEncoderGetsGroups(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var parted string
		w, err := window.NewHistory(func(group []annotator.Message) ([]byte, error) {
			role := string(group[0].Role)
			if len(group) > 1 && slices.ContainsFunc(group, func(m annotator.Message) bool {
				return m.Role != annotator.RoleTool
			}) {
				t.Fatalf("a group of %+v", group)
			}
			if role == "tool" && strings.HasSuffix(parted, "tool ") {
				t.Fatal("the results of one reply came in two groups")
			}
			parted += role + " "
			return []byte("{}"), nil
		}, annotator.WindowState{}, nil)
		for _, row := range journal(t) {
			err = errors.Join(err, w.Add(&row))
		}
		if err != nil {
			t.Fatal(err)
		}
		history(t, w)
	})
}

// TestTurns: the history has its turns with their sizes, and the messages before each.
func TestTurns(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := journal(t)
		w := newHistory(t, annotator.WindowState{Memory: rapid.SampledFrom([]string{"", "The story so far."}).Draw(t,
			"memory")}, rows)
		all := history(t, w)
		_, before, _ := w.Before(1)
		for i, turn := range w.Turns() {
			prefix, size, err := w.Before(turn.ID)
			if err != nil || !bytes.HasPrefix(all, prefix) || size != before {
				t.Fatalf("before turn %d are %d bytes of size %v, want %v (%v)", turn.ID, len(prefix), size, before,
					err)
			}
			if want := len(decode(t, prefix)); i == 0 && want != min(2, 2*len(prefix)) {
				t.Fatalf("before the first turn are %d messages", want)
			}
			own := slices.DeleteFunc(slices.Clone(rows), func(row annotator.Trace) bool { return row.Turn != turn.ID })
			if want := measure(naive(own)); turn.Size != want {
				t.Fatalf("turn %d has the size %v, want %v", turn.ID, turn.Size, want)
			}
			before = before.Plus(turn.Size)
			if next := w.Next(turn.ID); next != (turn.ID+1)%int64(len(w.Turns())+1) {
				t.Fatalf("turn %d is followed by %d", turn.ID, next)
			}
		}
		if rest, size, _ := w.Before(99); !bytes.Equal(rest, all) || size != w.Size() || size != before {
			t.Fatalf("the whole has the size %v, want %v", size, before)
		}
	})
}

// measure returns the size of messages.
func measure(messages []annotator.Message) tokens.Size {
	var size tokens.Size
	for _, m := range messages {
		size = size.Plus(tokens.Measure(m.Content)).Framed(tokens.PerMessage)
		for _, call := range m.ToolCalls {
			size = size.Plus(tokens.Measure(call.Name)).Plus(tokens.Measure(call.Arguments)).Framed(tokens.PerCall)
		}
	}
	return size
}

// TestTrims: stripping and cutting save what the turns say, and no other turn changes.
func TestTrims(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := journal(t)
		plain := newHistory(t, annotator.WindowState{}, rows).Turns()
		strip, cut := rapid.Int64Range(0, 5).Draw(t, "strip"), rapid.Int64Range(0, 5).Draw(t, "cut")
		stripped, shortened := newHistory(t, annotator.WindowState{Strip: strip}, rows),
			newHistory(t, annotator.WindowState{Cut: cut, CutAt: 500}, rows)
		for i, turn := range plain {
			saved := tokens.Size{}
			if turn.ID <= strip {
				saved = turn.Strips
			}
			if got := turn.Size.Minus(stripped.Turns()[i].Size); got != saved {
				t.Fatalf("without its thinking turn %d saves %v, said %v", turn.ID, got, saved)
			}
			saved = tokens.Size{}
			if turn.ID <= cut {
				saved = turn.Cuts
			}
			if got := turn.Size.Minus(shortened.Turns()[i].Size); got != saved {
				t.Fatalf("cut, turn %d saves %v, said %v", turn.ID, got, saved)
			}
		}
		if strip == 5 && bytes.Contains(history(t, stripped), []byte("Hm.")) {
			t.Fatal("some thinking is left")
		}
		for _, m := range decode(t, history(t, shortened)) {
			if n := utf8.RuneCountInString(m.Content); cut == 5 && n > 510 {
				t.Fatalf("a reply of %d characters is left", n)
			}
		}
	})
}

// TestBare tests that the entries shown with scenes are omitted up to the turn that the state names, as if they had not
// been shown. Nothing else is omitted, whatever the rows hold.
func TestBare(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows, bare := journal(t), rapid.Int64Range(0, 5).Draw(t, "bare")
		for i := range rows {
			rows[i].Content += rapid.SampledFrom([]string{"", "</scene>" + attached}).Draw(t, "content")
		}
		without := slices.Clone(rows)
		for i := range without {
			if row := &without[i]; row.Kind == annotator.TraceScene && row.Turn <= bare {
				row.Attached, row.Shows = "", nil
			}
		}
		got, want := newHistory(t, annotator.WindowState{Bare: bare}, rows),
			newHistory(t, annotator.WindowState{}, without)
		if diff := cmp.Diff(string(history(t, want)), string(history(t, got))); diff != "" ||
			got.Size() != want.Size() {
			t.Fatalf("%v, want %v: %s", got.Size(), want.Size(), diff)
		}
		if diff := cmp.Diff(want.Named(), got.Named()); diff != "" {
			t.Fatal(diff)
		}
	})
}

// TestLongAnswersLeave: a compaction takes the long answers of tools out of the turns that stay, with what they show.
// Short answers and those of later turns stay.
func TestLongAnswersLeave(t *testing.T) {
	t.Parallel()
	long := `{"ok":true,"entries":"` + strings.Repeat("x", 1000) + `"}`
	var rows []annotator.Trace
	for turn := int64(1); turn <= 2; turn++ {
		for i, row := range []annotator.Trace{
			{Kind: annotator.TraceScene, Content: "scene"},
			{Kind: annotator.TraceReply},
			{Kind: annotator.TraceCall, Tool: "search", CallID: "a", Arguments: "{}"},
			{Kind: annotator.TraceCall, Tool: "edit", CallID: "b", Arguments: "{}"},
			{
				Kind: annotator.TraceResult, Tool: "search", CallID: "a", Content: long,
				Shows: []annotator.Shown{{Entry: turn, Revision: 7}},
			},
			{
				Kind: annotator.TraceResult, Tool: "edit", CallID: "b", Content: `{"ok":true}`,
				Shows: []annotator.Shown{{Entry: turn + 10, Revision: 8}},
			},
		} {
			row.ID, row.Turn, row.Seq = int64(len(rows)+1), turn, i
			rows = append(rows, row)
		}
	}
	for state, want := range map[annotator.WindowState]string{
		{}:                    "7 8 7 8",
		{Bare: 2}:             "7 8 7 8", // of a compaction by an earlier version
		{Answers: 1, Bare: 1}: "0 8 7 8",
	} {
		h := newHistory(t, state, rows)
		got := fmt.Sprint(h.Shown(1).Revision, h.Shown(11).Revision, h.Shown(2).Revision, h.Shown(12).Revision)
		texts := string(history(t, h))
		answers, omitted := strings.Count(texts, strings.Repeat("x", 1000)), strings.Count(texts, "has left your view")
		if got != want || answers+omitted != 2 || omitted != strings.Count(want, "0") {
			t.Errorf("%+v: entries at the revisions %s, not %s; %d answers, %d omitted", state, got, want, answers,
				omitted)
		}
	}
}

func TestMemoryStandsFirst(t *testing.T) {
	t.Parallel()
	rows := []annotator.Trace{{Turn: 4, Kind: annotator.TraceScene, Content: "scene 4"}}
	messages := decode(t, history(t, newHistory(t, annotator.WindowState{Memory: "The story so far.", Through: 3},
		rows)))
	roles := ""
	for _, m := range messages {
		roles += string(m.Role) + " "
	}
	if roles != "user assistant user " || messages[0].Content != "The story so far." ||
		messages[2].Content != "scene 4" {
		t.Errorf("the history is %+v", messages)
	}
}

// TestShown: the history knows the revisions at which it last shows an entry, its names and its open states. It knows
// whether it lists names since the newest compaction.
func TestShown(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := journal(t)
		compacted := rapid.Int64Range(0, 9).Draw(t, "compacted")
		newest, named, states, listed := map[int64]int64{}, map[int64]int64{}, map[int64]int64{}, false
		for i := range rows {
			row := &rows[i]
			row.ID = int64(i + 1)
			for k := range row.Shows {
				s := &row.Shows[k]
				switch rapid.IntRange(0, 2).Draw(t, "shown") {
				case 0:
					s.Name, named[s.Entry] = true, s.Revision
				case 1:
					s.States, states[s.Entry] = true, s.Revision
				case 2:
					newest[s.Entry], named[s.Entry], states[s.Entry] = s.Revision, s.Revision, s.Revision
				}
				listed = listed || s.Name && row.ID > compacted
			}
		}
		w := newHistory(t, annotator.WindowState{Row: compacted}, rows)
		for entry := range int64(4) {
			if got, want := w.Shown(entry), (annotator.Shown{Entry: entry, Revision: newest[entry]}); got != want {
				t.Fatalf("the window shows %v, want %v", got, want)
			}
			if got := w.States(entry); got != states[entry] {
				t.Fatalf("the window shows states of revision %d, want %d", got, states[entry])
			}
		}
		got := map[int64]int64{}
		for _, s := range w.Named() {
			got[s.Entry] = s.Revision
		}
		if diff := cmp.Diff(named, got); diff != "" || w.Listed() != listed {
			t.Fatalf("listed: %v, want %v; names: %s", w.Listed(), listed, diff)
		}
	})
}

// FuzzArguments: for any arguments that a model wrote, a JSON object is sent.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`{"a":1}`, ``, `null`, `[]`, `1`, `"x"`, `{"a":`, `{}}`, "\xff", `{"a":1} {"b":2}`,
		` {} `, `{"a":"` + "\x00" + `"}`,
	} {
		f.Add(seed)
	}
	registry, err := tools.New(tools.Standard()...)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, arguments string) {
		parsed := annotator.Parsed{ParsedCall: registry.Parse(annotator.ToolCall{
			Name:      "glossary_search",
			Arguments: arguments,
		})}
		rows := []annotator.Trace{
			{Turn: 1, Kind: annotator.TraceScene},
			{Turn: 1, Kind: annotator.TraceReply},
			{Turn: 1, Kind: annotator.TraceCall, CallID: "c", Tool: "t", Arguments: arguments, Parsed: parsed},
		}
		sent := decode(t, history(t, newHistory(t, annotator.WindowState{}, rows)))[1].ToolCalls[0].Arguments
		var fields map[string]any
		if err := json.Unmarshal([]byte(sent), &fields); err != nil || fields == nil {
			t.Errorf("%q is sent as %q", arguments, sent)
		}
		if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil && utf8.ValidString(arguments) &&
			sent != arguments {
			t.Errorf("the object %q is sent as %q", arguments, sent)
		}
	})
}

func TestCallWithoutReply(t *testing.T) {
	t.Parallel()
	for _, before := range [][]annotator.Trace{nil, {{Turn: 1, Kind: annotator.TraceScene}}} {
		w := newHistory(t, annotator.WindowState{}, before)
		if err := w.Add(&annotator.Trace{Turn: 1, Kind: annotator.TraceCall}); annotator.KindOf(
			err) != annotator.Violation {
			t.Errorf("after %d rows: %v", len(before), err)
		}
	}
}

func TestEncoderFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("no wire")
	fail := func([]annotator.Message) ([]byte, error) { return nil, broken }
	if _, err := window.NewHistory(fail, annotator.WindowState{Memory: "x"}, nil); !errors.Is(err, broken) {
		t.Errorf("memory: %v", err)
	}
	w, err := window.NewHistory(fail, annotator.WindowState{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Add(&annotator.Trace{Turn: 1, Kind: annotator.TraceScene}); err != nil {
		t.Fatal(err)
	}
	if _, err := w.Encoded(); !errors.Is(err, broken) {
		t.Errorf("history: %v", err)
	}
	if err := w.Add(&annotator.Trace{Turn: 1, Kind: annotator.TraceReply}); !errors.Is(err, broken) {
		t.Errorf("the next row: %v", err)
	}
}
