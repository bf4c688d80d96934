package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strconv"

	"annotator"
	"annotator/exporters"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// memoryView is one of the views of what a run remembers.
type memoryView struct {
	name, short, long string
	turns             bool // can be narrowed to a turn
	items             func(context.Context, *storage.DB, *memoryOptions) iter.Seq2[memoryItem, error]
}

// memoryItem is a line of a view: for a program, and in short for people.
type memoryItem struct {
	value any
	cells []string
}

// memoryViews are the subcommands.
func memoryViews() []memoryView {
	return []memoryView{
		{
			"raw", "The journal: every message, tool call and result",
			"Print the journal, a row a line: what the model was shown and wrote, each tool call and its result, with the turn it belongs to.", true, rawItems,
		},
		{
			"tools", "The tool calls, each with its result",
			"Print every tool call together with its result: PENDING while it has none, else SUCCESS or ERROR.", true, toolItems,
		},
		{
			"episodic", "The summaries that took the place of turns",
			"Print every summary there ever was: of scenes, of threads and of the story so far, with the turns it was made from.", false, episodicItems,
		},
		{
			"semantic", "The claims of the codex, each with its evidence",
			"Print what is known, a claim a line, with its evidence and the turns that it was made in: of live entries, the claims that hold.", false, semanticItems,
		},
	}
}

// memoryOptions are what `annotator memory` is told.
type memoryOptions struct {
	*app
	db   string
	out  string
	turn int64
	all  bool
	list bool
}

func newMemory(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "memory",
		Short: "Print what a run remembers, as JSON lines",
		Long: described(`
Print what a run remembers, as JSON lines, from the oldest to the newest: the raw trace, the tool calls, the episodes and what is
known.`, exitMisused),
		Example: "  annotator memory raw --turn 12\n  annotator memory tools | jq 'select(.status == \"ERROR\")'\n  annotator memory semantic -o facts.jsonl",
		Args:    arguments(0, 0),
		RunE:    func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for _, view := range memoryViews() {
		cmd.AddCommand(newMemoryView(a, view))
	}
	return cmd
}

func newMemoryView(a *app, view memoryView) *cobra.Command {
	o := &memoryOptions{app: a}
	cmd := &cobra.Command{
		Use:     view.name,
		Short:   view.short,
		Long:    described(view.long, exitMisused, exitHalted, exitInterrupted),
		Example: fmt.Sprintf("  annotator memory %s --list\n  annotator memory %[1]s --db book.annotator.db -o book.%[1]s.jsonl", view.name),
		Args:    arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilSignal(cmd.Context(), func(ctx context.Context) error {
				return withDatabase(ctx, o.db, func(db *storage.DB) error {
					if err := knownTurn(ctx, db, o.turn); err != nil {
						return err
					}
					return o.run(view.items(ctx, db, o))
				})
			})
		},
	}
	flags := cmd.Flags()
	databaseFlag(flags, &o.db)
	flags.StringVarP(&o.out, "output", "o", "-", "`FILE` to write; - is standard output")
	flags.BoolVar(&o.list, "list", false, "print a short line for each, for people")
	if view.turns {
		flags.Int64Var(&o.turn, "turn", 0, "only the turn of this `NUMBER`")
	}
	if view.name == "semantic" {
		flags.BoolVar(&o.all, "all", false, "also claims that no longer hold, and entries that are retired or merged")
	}
	return cmd
}

func (o *memoryOptions) run(items iter.Seq2[memoryItem, error]) error {
	write := func(w io.Writer) error { return o.write(w, items) }
	if o.out == "-" || o.out == "/dev/stdout" {
		return write(o.app.out)
	}
	return exporters.WriteFile(o.out, write)
}

func (o *memoryOptions) write(w io.Writer, items iter.Seq2[memoryItem, error]) error {
	if o.list {
		return listItems(w, items)
	}
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	for item, err := range items {
		if err != nil {
			return err
		}
		line.Reset()
		if err := encoder.Encode(item.value); err != nil {
			return err
		}
		if _, err := io.WriteString(w, escaped(line.String())); err != nil {
			return err
		}
	}
	return nil
}

// listed is how many lines are aligned with each other: a view may be too long to be held whole.
const listed = 200

func listItems(w io.Writer, items iter.Seq2[memoryItem, error]) error {
	var rows [][]string
	for item, err := range items {
		if err != nil {
			return err
		}
		if rows = append(rows, item.cells); len(rows) == listed {
			if err := fitted(w, rows); err != nil {
				return err
			}
			rows = nil
		}
	}
	return fitted(w, rows)
}

// items turns rows into lines of a view.
func items[T any](rows iter.Seq2[*T, error], item func(*T) memoryItem) iter.Seq2[memoryItem, error] {
	return func(yield func(memoryItem, error) bool) {
		for row, err := range rows {
			if err != nil {
				yield(memoryItem{}, err)
				return
			}
			if !yield(item(row), nil) {
				return
			}
		}
	}
}

// rawTrace is a row of the journal as it is printed.
type rawTrace struct {
	ID        int64               `json:"id"`
	Time      float64             `json:"ts"`      // unix seconds
	Turn      int64               `json:"turn_id"` // 0: outside a turn
	Seq       int                 `json:"seq"`
	Type      string              `json:"trace_type"`   // user, assistant, tool_call or tool_result; system outside of the conversation
	Source    annotator.TraceKind `json:"source_event"` // the kind of row
	Scene     int                 `json:"scene,omitempty"`
	Content   string              `json:"content"`
	Reasoning string              `json:"reasoning,omitempty"`
	CallID    string              `json:"tool_call_id,omitempty"`
	Tool      string              `json:"tool_name,omitempty"`
	Arguments json.RawMessage     `json:"tool_args,omitempty"` // a string where the model wrote no JSON
	Error     string              `json:"tool_error,omitempty"`
}

func rawItems(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[memoryItem, error] {
	return items(db.Journal.Rows(ctx, o.turn), func(r *storage.JournalRow) memoryItem {
		raw := rawTrace{
			ID: r.ID, Time: unixSeconds(r.At), Turn: r.Turn, Seq: r.Seq, Type: speaker(r.Kind), Source: r.Kind, Scene: r.Scene, Content: r.Content,
			Reasoning: r.Reasoning, CallID: r.CallID, Tool: r.Tool, Arguments: asJSON(r.Arguments), Error: r.Error,
		}
		said := cmp.Or(r.Content, r.Arguments)
		return memoryItem{raw, []string{
			strconv.FormatInt(r.ID, 10), fmt.Sprintf("turn %d", r.Turn), string(r.Kind), shortened(cmp.Or(r.Tool, "-"), 20), shortened(said, 90),
		}}
	})
}

// speaker says who speaks in a row of the journal.
func speaker(kind annotator.TraceKind) string {
	switch kind {
	case annotator.TraceScene, annotator.TraceNote:
		return "user"
	case annotator.TraceReply, annotator.TraceClose:
		return "assistant"
	case annotator.TraceCall, annotator.TraceResult:
		return string(kind)
	}
	return "system"
}

func unixSeconds(millis int64) float64 { return float64(millis) / 1000 }

// asJSON gives text that a model wrote as the JSON that it is, or as a string.
func asJSON(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	if json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	quoted, _ := json.Marshal(text) // a string can always be encoded
	return quoted
}

// interaction is a tool call as it is printed.
type interaction struct {
	storage.Interaction
	Arguments json.RawMessage `json:"arguments"`
}

func toolItems(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[memoryItem, error] {
	return items(db.Journal.Interactions(ctx, o.turn), func(i *storage.Interaction) memoryItem {
		return memoryItem{interaction{*i, asJSON(i.Arguments)}, []string{
			fmt.Sprintf("turn %d", i.Turn), oneLine(i.CallID), shortened(i.Tool, 24), string(i.Status), shortened(cmp.Or(i.Error, "-"), 24), shortened(i.Arguments, 80),
		}}
	})
}

// episode is a summary as it is printed.
type episode struct {
	annotator.Episode
	Time    float64 `json:"ts"`       // unix seconds
	InForce bool    `json:"in_force"` // it stands in the window now
}

func episodicItems(ctx context.Context, db *storage.DB, _ *memoryOptions) iter.Seq2[memoryItem, error] {
	return func(yield func(memoryItem, error) bool) {
		rows, err := db.Episodes.Rows(ctx)
		if err != nil {
			yield(memoryItem{}, err)
			return
		}
		for i := range rows {
			e := &rows[i]
			item := memoryItem{episode{e.Episode, unixSeconds(e.At), e.InForce}, []string{
				strconv.FormatInt(e.ID, 10), string(e.Kind), fmt.Sprintf("turns %d-%d", e.FromTurn, e.ToTurn), string(e.By), shortened(e.Summary, 100),
			}}
			if !yield(item, nil) {
				return
			}
		}
	}
}
