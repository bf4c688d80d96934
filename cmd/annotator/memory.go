package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strconv"

	"annotator"
	"annotator/exporters"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// memoryOptions are the options of the subcommands of `annotator memory`.
type memoryOptions struct {
	out     string
	turn    int64
	kind    string // of episodes; empty: any
	limit   int    // 0: all
	all     bool
	asTable bool
	asJSON  bool
}

// A memoryReader reads the records of a view.
type memoryReader func(context.Context, *storage.DB, *memoryOptions) iter.Seq2[record, error]

func newMemory(a *app) *cobra.Command {
	return group("memory", "Print the stored memory of a run as JSON lines", `
Print the stored memory of a run as JSON lines, oldest first: the journal, the tool calls, the summaries and the
facts.`,
		"  annotator memory raw --turn 12\n  annotator memory episodic --kind cumulative --limit 1\n "+
			" annotator memory tools | jq 'select(.status == \"ERROR\")'\n  annotator memory semantic -o facts.jsonl",
		newMemoryView(a, "raw", "The journal: every message, tool call and result",
			"Print the journal, one row per line: what the model received and wrote, each tool call and its result, "+
				"with the turn.", rawRecords),
		newMemoryView(a, "tools", "The tool calls with their results",
			"Print every tool call with its result. Its status is PENDING without a result, else SUCCESS or ERROR.",
			toolRecords),
		newMemoryView(a, "episodic", "The summaries that replaced turns",
			"Print every summary that was ever made: of scenes, of threads and of the story so far, with the "+
				"turns that it covers.", episodicRecords),
		newMemoryView(a, "semantic", "The facts of the codex with their quotations",
			"Print the facts that hold, of live entries, one per line, with their quotations and the turns that "+
				"made them.", semanticRecords))
}

func newMemoryView(a *app, name, short, long string, read memoryReader) *cobra.Command {
	var o memoryOptions
	cmd := &cobra.Command{
		Use:   name,
		Short: short,
		Long:  longHelp(long, exitMisused, exitHalted, exitInterrupted),
		Example: fmt.Sprintf("  annotator memory %s --list\n  annotator memory %[1]s --db book.annotator.db -o "+
			"book.%[1]s.jsonl", name),
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.out, "output", "o", "-", "`FILE` to write; - is standard output")
	flags.BoolVar(&o.asTable, "list", false, "print a table for people")
	flags.BoolVar(&o.asJSON, "json", false, "print JSON, one object per line; the default without --list")
	limitFlag(flags, &o.limit, 0, "only the last `RECORDS`; 0: all")
	switch name {
	case "raw", "tools":
		flags.Int64Var(&o.turn, "turn", 0, "only the turn with this `NUMBER`")
	case "episodic":
		kinds := texts(annotator.EpisodeKinds())
		wordFlag(flags, &o.kind, "kind", kinds, "", "only summaries of this `KIND`: "+alternatives(kinds))
	case "semantic":
		flags.BoolVar(&o.all, "all", false, "include facts that no longer hold, and retired and merged entries")
	}
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, _ []string) error {
		if err := require(ctx, o.turn, db.Scenes.OfTurn); err != nil {
			return err
		}
		return a.printRecords(o.out, o.asTable && !o.asJSON, newest(read(ctx, db, &o), o.limit))
	})
}

// rawTrace is a row of the journal as it is printed.
type rawTrace struct {
	ID   int64   `json:"id"`
	Time float64 `json:"ts"`      // unix seconds
	Turn int64   `json:"turn_id"` // 0: outside a turn
	Seq  int     `json:"seq"`
	// user, assistant, tool_call or tool_result; system outside the conversation
	Type      string              `json:"trace_type"`
	Source    annotator.TraceKind `json:"source_event"` // the kind of row
	Scene     int                 `json:"scene,omitempty"`
	Content   string              `json:"content"`
	Reasoning string              `json:"reasoning,omitempty"`
	CallID    string              `json:"tool_call_id,omitempty"`
	Tool      string              `json:"tool_name,omitempty"`
	Arguments json.RawMessage     `json:"tool_args,omitempty"` // a string if the model wrote no JSON
	Error     string              `json:"tool_error,omitempty"`
}

func rawRecords(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[record, error] {
	return records(db.Journal.Rows(ctx, o.turn), func(r *storage.JournalRow) record {
		raw := rawTrace{
			ID: r.ID, Time: unixSeconds(r.At), Turn: r.Turn, Seq: r.Seq, Type: traceType(r.Kind), Source: r.Kind,
			Scene: r.Scene, Content: r.Text(),
			Reasoning: r.Reasoning, CallID: r.CallID, Tool: r.Tool, Arguments: rawJSON(r.Arguments), Error: r.Error,
		}
		return record{raw, []string{
			strconv.FormatInt(r.ID, 10), fmt.Sprintf("turn %d", r.Turn), string(r.Kind),
			shorten(cmp.Or(r.Tool, "-"), 20),
			shorten(cmp.Or(r.Text(), r.Arguments), 90),
		}}
	})
}

// traceType returns the role of a row of the journal.
func traceType(kind annotator.TraceKind) string {
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

// interaction is a tool call as it is printed.
type interaction struct {
	storage.Interaction
	Arguments json.RawMessage `json:"arguments"`
}

func toolRecords(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[record, error] {
	return records(db.Journal.Interactions(ctx, o.turn), func(i *storage.Interaction) record {
		return record{interaction{*i, rawJSON(i.Arguments)}, []string{
			fmt.Sprintf("turn %d", i.Turn), oneLine(i.CallID), shorten(i.Tool, 24), string(i.Status),
			shorten(cmp.Or(i.Error, "-"), 24), shorten(i.Arguments, 80),
		}}
	})
}

// episode is a summary as it is printed.
type episode struct {
	annotator.Episode
	Scenes  string  `json:"scenes"`   // numbered over the whole story, as the prompt names them: "12-15"
	Time    float64 `json:"ts"`       // unix seconds
	InForce bool    `json:"in_force"` // it is in the window
}

func episodicRecords(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[record, error] {
	return records(db.Episodes.All(ctx, annotator.EpisodeKind(o.kind)), func(e *storage.EpisodeRow) record {
		return record{episode{e.Episode, e.Scenes(), unixSeconds(e.At), e.InForce}, []string{
			strconv.FormatInt(e.ID, 10), string(e.Kind), "scenes " + e.Scenes(),
			fmt.Sprintf("turns %d-%d", e.FromTurn, e.ToTurn), string(e.By),
			shorten(e.Summary, 100),
		}}
	})
}

// fact is a claim as it is printed.
type fact struct {
	ID       string               `json:"id"`       // of the entry and of the claim within it: 12.3
	Time     float64              `json:"ts"`       // of the last change, in unix seconds
	Turns    []int64              `json:"turn_ids"` // that made the claim
	Entry    int64                `json:"entry"`
	Term     string               `json:"term"`
	Status   annotator.Status     `json:"status"` // of the entry
	Tags     []string             `json:"tags"`
	Fact     string               `json:"fact"`
	Kind     annotator.ClaimKind  `json:"kind"`
	Speaker  string               `json:"speaker,omitempty"` // who says it, if it is claimed; absent if unknown
	State    bool                 `json:"state,omitempty"`   // it is a state that can end
	From     annotator.Position   `json:"from"`
	Until    *annotator.Position  `json:"until"`                 // null while it holds
	Replaced string               `json:"replaced_by,omitempty"` // the id of the claim that took its place
	Evidence []exporters.Evidence `json:"evidence"`
}

func semanticRecords(ctx context.Context, db *storage.DB, o *memoryOptions) iter.Seq2[record, error] {
	return func(yield func(record, error) bool) {
		provenance, err := view.ClaimProvenance(ctx, db)
		at := view.NewPositions(ctx, db)
		for e, readErr := range db.Glossary.All(ctx) {
			if err = cmp.Or(err, readErr, at.Err); err != nil {
				yield(record{}, err)
				return
			}
			if !o.all && !e.Status.Live() {
				continue
			}
			for _, f := range facts(e, at, provenance) {
				if f.Until != nil && !o.all {
					continue
				}
				cells := []string{
					f.ID, shorten(f.Term, 28), string(f.Kind), fmt.Sprintf("scene %d", f.From.Scene),
					shorten(f.Fact, 100),
				}
				if !yield(record{f, cells}, at.Err) {
					return
				}
			}
		}
	}
}

func facts(e *annotator.Entry, at *view.Positions, provenance map[view.ClaimKey]view.Provenance) []fact {
	exported := exporters.NewEntry(e, at.At)
	list := make([]fact, len(e.Claims))
	for i := range e.Claims {
		c, p := &exported.Claims[i], provenance[view.ClaimKey{Entry: e.ID, Claim: e.Claims[i].ID}]
		list[i] = fact{
			ID: fmt.Sprintf("%d.%d", e.ID, e.Claims[i].ID), Time: unixSeconds(p.Changed),
			Turns: append([]int64{}, p.Turns...),
			Entry: e.ID, Term: e.Name(), Status: e.Status, Tags: exported.Tags,
			Fact: c.Text, Kind: c.Kind, Speaker: c.Speaker, State: c.State, From: c.From, Until: c.Until,
			Evidence: c.Evidence,
		}
		if c.ReplacedBy != 0 {
			list[i].Replaced = fmt.Sprintf("%d.%d", e.ID, c.ReplacedBy)
		}
	}
	return list
}
