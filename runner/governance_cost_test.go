package runner_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/model/offline"
	"annotator/policy"
)

// apart makes a script declare each intent in a separate reply. A wire causes this if it forces the declaration on a
// model, or allows only what the intent in force permits. Where it is forgetful, it declares only when the wire forces
// it to, or a correction says so.
func apart(script scripted.Script, forgetful bool) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		if !mayDeclare(r) {
			return script(r)
		}
		corrected := strings.Contains(r.Messages[len(r.Messages)-1].Content, "declare your intent again")
		intent, forced := intentOf(r), corrected || strings.Contains(r.ToolChoice, policy.SelectIntent)
		r.Messages = undeclared(r.Messages)
		reply := script(r)
		if reply.ToolCalls == nil && !strings.Contains(reply.Text, `"status":"new"`) ||
			permits(intent, reply.ToolCalls) && intent != "" || forgetful && !forced {
			return reply
		}
		// to look something up needs no intent of its own here
		for _, other := range policy.Default().Intents(policy.Annotate)[1:] {
			if permits(other.Name, reply.ToolCalls) {
				return calls(declares(other.Name))
			}
		}
		return reply
	}
}

func permits(intent string, calls []annotator.ToolCall) bool {
	return !slices.ContainsFunc(calls, func(c annotator.ToolCall) bool {
		d := policy.Default().Decide(policy.Annotate, intent, c.Name)
		return !d.Permitted()
	})
}

// undeclared removes declarations, and calls that were denied, from a conversation, because a script counts its own
// replies only.
func undeclared(messages []scripted.Message) []scripted.Message {
	var all []scripted.Message
	for i := range messages {
		m := &messages[i]
		switch {
		case m.Role == annotator.RoleUser && strings.Contains(m.Content, "declare your intent again"):
			all = all[:len(all)-1] // the block that was denied
		case m.Role == annotator.RoleTool && (strings.HasPrefix(m.Content, `{"ok":true,"intent":`) ||
			strings.Contains(m.Content, policy.IntentRequired)):
			if n := len(all); all[n-1].Role == annotator.RoleAssistant {
				all = all[:n-1]
			}
		default:
			all = append(all, *m)
		}
	}
	return all
}

// cost is what a run cost under one level of governance.
type cost struct {
	story, model string
	level        policy.Level

	calls, prompt, uncached, completion, denied, entries int
}

func (c *cost) measure(s *stage, name string) {
	s.t.Helper()
	s.config.Governance = c.level
	if err := s.run(name); err != nil {
		s.t.Fatal(err)
	}
	s.verify(name)
	run := s.state(name)
	c.calls, c.prompt, c.uncached, c.completion = run.Calls, run.Usage.Prompt, run.Usage.Prompt-run.Usage.Cached,
		run.Usage.Completion
	c.entries = s.count(name, `SELECT count(*) FROM glossary_entry`)
	c.denied = s.count(name, `SELECT count(*) FROM tool_decision WHERE verdict <> 'allow'`)
}

// row returns the cost, and compares it with that of the same story without governance.
func (c *cost) row(off *cost) string {
	more := func(n, than int) string {
		return fmt.Sprintf("%d (%+.1f %%)", n, 100*float64(n-than)/float64(max(than, 1)))
	}
	return fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %d | %d |\n", c.story, c.model, c.level,
		more(c.calls, off.calls), more(c.prompt, off.prompt),
		more(c.uncached, off.uncached), more(c.completion, off.completion), c.denied, c.entries)
}

// TestGovernanceCost measures what intents cost: the offline model on the sample story, and an obedient scripted one on
// generated scenes. With -update the story is long and the table is written down.
func TestGovernanceCost(t *testing.T) {
	t.Parallel()
	if !*update {
		longtest.Only(t, "it reads nine stories")
	}
	threads, scenes := 2, 7
	if *update {
		threads, scenes = 20, 50
	}
	table := "| Story | Model | governance | Calls | Prompt tokens | of them uncached | Completion tokens | Denied " +
		"| Entries |\n" +
		"|---|---|---|---|---|---|---|---|---|\n"
	var off cost
	for _, level := range policy.Levels() {
		c := cost{story: "the sample, 83 scenes", model: "offline", level: level}
		s := sampleStage(t)
		s.config.ContextBudget = 120_000 // no turn leaves the window: the offline model judges by all that it shows
		c.measure(s, "sample")
		if level == policy.Off {
			off = c
		}
		if c.entries != off.entries || c.denied != 0 {
			t.Errorf("the offline model does otherwise where its tools are governed: %+v, %+v", c, off)
		}
		table += c.row(&off)
	}
	story := story{threads: threads, scenes: scenes, words: 1_000}
	s := newStage(t, story, scripted.Options{})
	for n, c := range []cost{
		{model: "scripted", level: policy.Off},
		{model: "scripted", level: policy.Observe},
		{model: "scripted", level: policy.Enforce},
		{model: "scripted, declares in a reply of its own", level: policy.Enforce},
		{model: "scripted, declares where the wire forces it", level: policy.Enforce},
	} {
		script := []scripted.Script{
			summarised, declaring(summarised), declaring(summarised), apart(summarised, false),
			apart(summarised, true),
		}[n]
		s.serve(scripted.Options{Script: script})
		c.story = fmt.Sprintf("made up, %d scenes", threads*scenes)
		c.measure(s, fmt.Sprint("made-up-", n))
		if n == 0 {
			off = c
		}
		table += c.row(&off)
	}
	t.Log("\n" + table)
	if *update {
		documented(t, "cost", table)
	}
}

// sampleStage has the offline model read the sample story.
func sampleStage(t *testing.T) *stage {
	t.Helper()
	s := &stage{
		t: t, dir: t.TempDir(), base: "http://offline/v1", config: defaults(),
		transport: offline.New(offline.Options{}),
	}
	s.corpus = filepath.Join(s.dir, "lanterns.corpus.db")
	_, err := ingest.Import(context.Background(),
		ingest.Options{Sources: []string{"../testdata/lanterns/lanterns.jsonl"}, Corpus: s.corpus}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
