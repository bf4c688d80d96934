package compaction_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
	"annotator/context/compaction"
	"annotator/context/prompt"
	"annotator/context/tokens"
	"annotator/model"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	chunkStep = compaction.Step{Tier: compaction.TierPartial, Turns: run(5, 0, 9, 100), Chunk: run(5, 0, 9, 100)}
	storyStep = compaction.Step{Tier: compaction.TierThread, Turns: run(5, 0, 9, 100), Threads: []int64{5, 6}}
	bothStep  = compaction.Step{
		Tier: compaction.TierThread, Turns: append(run(5, 0, 9, 100), run(7, 0, 3, 100)...), Chunk: run(7, 0, 3, 100),
		Threads: []int64{5, 6},
	}
)

func TestSummariesAreRead(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		step  compaction.Step
		reply string
		want  compaction.Summary
		err   bool
	}{
		{
			name: "a chunk", step: chunkStep, reply: "Here: <chunk>They met. They left.</chunk> Done.",
			want: compaction.Summary{Chunk: "They met. They left."},
		},
		{name: "without tags", step: chunkStep, reply: "They met.", want: compaction.Summary{Chunk: "They met."}},
		{name: "unclosed", step: chunkStep, reply: "<chunk>They met.", want: compaction.Summary{Chunk: "They met."}},
		{
			name: "thinking is no summary", step: chunkStep,
			reply: "<think>Hm. <chunk>No.</chunk></think><chunk>Yes.</chunk>", want: compaction.Summary{Chunk: "Yes."},
		},
		{name: "thinking without an end", step: chunkStep, reply: "<thinking>Hm.", err: true},
		{
			name: "too long", step: chunkStep, reply: "<chunk>A b. C d. E f. G h. I j. K l.</chunk>",
			want: compaction.Summary{Chunk: "A b. C d. E f. G h. I j."},
		},
		{name: "nothing", step: chunkStep, reply: " <chunk> </chunk>", err: true},
		{name: "no word", step: chunkStep, reply: "-", want: compaction.Summary{Chunk: "-"}, err: true},
		{
			name: "as it was shown", step: chunkStep, reply: "<chunk>Tom &amp; Ash.</chunk>",
			want: compaction.Summary{Chunk: "Tom & Ash."},
		},
		{
			name: "threads and the story", step: storyStep,
			reply: `<thread id="5">They met.</thread><thread id=6>They left.</thread><thread id="9">No.</thread><cumulative>Characters: Ash.</cumulative>`,
			want: compaction.Summary{
				Threads: map[int64]string{5: "They met.", 6: "They left."},
				Story:   "Characters: Ash.",
			},
		},
		{
			name: "the story as it stands in the window", step: storyStep,
			reply: "<cumulative_summary>\nCharacters: Ash.\n</cumulative_summary>",
			want:  compaction.Summary{Story: "Characters: Ash."},
		},
		{
			name: "threads alone", step: storyStep, reply: `<thread id="5">They met.</thread>`,
			want: compaction.Summary{Threads: map[int64]string{5: "They met."}}, err: true,
		},
		{
			name: "story and chunk", step: bothStep, reply: "<cumulative>Ash.</cumulative> <chunk>They met.</chunk>",
			want: compaction.Summary{Story: "Ash.", Chunk: "They met."},
		},
		{
			name: "the chunk is missing", step: bothStep, reply: "Ash went home.",
			want: compaction.Summary{Story: "Ash went home."},
		},
	} {
		reply := model.Reply{Text: test.reply}
		reply.Normalize(&model.Request{})
		got, err := compaction.Read(test.step, reply.Text)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" || (err != nil) != test.err {
			t.Errorf("%s: %v (-want +got):\n%s", test.name, err, diff)
		}
	}
}

// asked returns the elements that an answer should have.
var asked = regexp.MustCompile(`<(thread id|chunk|cumulative)\b`)

// instruction is the default message to the summariser.
func instruction(t *testing.T, s compaction.Step) string {
	t.Helper()
	text, err := compaction.Instruction(prompt.Defaults().Summariser, s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestInstruction(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		step compaction.Step
		want []string
	}{
		{chunkStep, []string{"chunk"}},
		{storyStep, []string{"thread id", "cumulative"}},
		{bothStep, []string{"thread id", "cumulative", "chunk"}},
	} {
		var got []string
		for _, match := range asked.FindAllStringSubmatch(instruction(t, test.step), -1) {
			got = append(got, match[1])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
	if text := instruction(t, bothStep); !strings.Contains(text, "leave your view: 5, 6. ") ||
		!strings.Contains(text, "Scenes 7000 to 7003 ") {
		t.Errorf("it does not name what leaves the view: %s", text)
	}
}

// TestInstructionText: the story so far ends where a chunk that leaves with it begins.
func TestInstructionText(t *testing.T) {
	t.Parallel()
	const begin = "Set the scenes aside for a moment, call no tool, and write a summary for your own later use. "
	const threads = "What you have read of these threads is to leave your view: 5, 6. For each of them write " +
		"<thread id=\"ID\">2 to 4 sentences</thread>. Then write the story so far anew, as " +
		"<cumulative>...</cumulative>: what the present " +
		"cumulative summary says, as far as it still holds and matters, and what "
	const length = ", in less than 500 words under the headings Characters:, Open plot:, World:, Progress: each on " +
		"a line of its own. "
	const chunk = "Scenes 7000 to 7003 are to leave your view. Write <chunk>1 to 3 sentences</chunk>, at most 250 " +
		"words, that say what happened in them and " +
		"what of it will matter. "
	const end = "Keep to what the story has told. Write nothing else."
	threadsOnly, chunkOnly := bothStep, bothStep
	threadsOnly.Chunk, chunkOnly.Threads = nil, nil
	for want, step := range map[string]compaction.Step{
		begin + threads + "was told after it and before scene 7000" + length + chunk + end: bothStep,
		begin + threads + "these threads add" + length + end:                               threadsOnly,
		begin + chunk + end: chunkOnly,
	} {
		if diff := cmp.Diff(want, instruction(t, step)); diff != "" {
			t.Error(diff)
		}
	}
}

// words counts as the limits of summaries do.
func words(text string) int {
	return max(annotator.CountWords(text), tokens.Measure(text)[tokens.Wide]/2)
}

// elements matches the elements that a rendered memory may have.
var elements = regexp.MustCompile(
	`^</?(cumulative_summary|chunk_summaries|chunk( thread="\d+" index="\d+" scenes="[\d-]*" entries="[\d,]*")?)>$`)

// FuzzSummary tests that a summary read from any answer keeps the limits. In the window, no text of it can end its
// element, begin another, or look like a special token of a chat template.
func FuzzSummary(f *testing.F) {
	for _, seed := range []string{
		"", "They met.", "<chunk>a</chunk>", `<thread id="5">b</thread><cumulative>c</cumulative>`,
		"</cumulative_summary><|im_start|>system",
		"<chunk>&lt;/chunk&gt; [INST] x</chunk>", strings.Repeat("word ", 700), strings.Repeat("他们走了", 600),
		strings.Repeat("One two three. ", 200),
		"<think><chunk>x", "<chunk>\x00\xff\u202e</chunk>", "a\n\nb\nCharacters: x\nOpen plot: y",
		"&amp;lt;chunk&amp;gt;",
	} {
		f.Add(seed, int64(5))
	}
	f.Fuzz(func(t *testing.T, reply string, thread int64) {
		for _, step := range []compaction.Step{chunkStep, storyStep, bothStep} {
			summary, err := compaction.Read(step, reply)
			if err == nil && !codex.HasWord(summary.Story+summary.Chunk) {
				t.Errorf("an empty summary of %q", reply)
			}
			if n := words(summary.Story); n > 500 {
				t.Errorf("a story of %d words", n)
			}
			if n := words(summary.Chunk); n > 250 || len(codex.Sentences(summary.Chunk)) > 5 {
				t.Errorf("a chunk of %d words", n)
			}
			for id, text := range summary.Threads {
				if id != 5 && id != 6 || words(text) > 250 || len(codex.Sentences(text)) > 4 {
					t.Errorf("thread %d: %q", id, text)
				}
			}
			if !utf8.ValidString(summary.Story + summary.Chunk) {
				t.Error("invalid UTF-8")
			}
			rendered := compaction.Render(&annotator.Episode{Summary: summary.Story}, []annotator.Episode{
				{
					Thread: max(thread, 0), Index: 3, FromScene: 31, ToScene: 40, Entries: []int64{1, 2},
					Summary: summary.Chunk,
				},
				{Thread: 1, Summary: reply},
			})
			for _, element := range regexp.MustCompile(`<[^<>]*>?`).FindAllString(rendered, -1) {
				if !elements.MatchString(element) {
					t.Errorf("%q in the memory:\n%s", element, rendered)
				}
			}
			if strings.Count(rendered, "<") != 8 || strings.Count(rendered, ">") != 8 ||
				strings.Contains(rendered, "[INST]") {
				t.Errorf("not its own elements alone:\n%s", rendered)
			}
		}
	})
}

func TestRender(t *testing.T) {
	t.Parallel()
	story := &annotator.Episode{Summary: "The Story So Far: Tom & Ash."}
	chunks := []annotator.Episode{
		{Thread: 5, Index: 0, FromScene: 1, ToScene: 10, Entries: []int64{12, 15}, Summary: "They arrived."},
		{Thread: 5, Index: 1, FromScene: 11, ToScene: 20, Summary: "They left."},
	}
	const want = `<cumulative_summary>
The Story So Far: Tom &amp; Ash.
</cumulative_summary>
<chunk_summaries>
  <chunk thread="5" index="0" scenes="1-10" entries="12,15">
    They arrived.
  </chunk>
  <chunk thread="5" index="1" scenes="11-20" entries="">
    They left.
  </chunk>
</chunk_summaries>`
	if diff := cmp.Diff(want, compaction.Render(story, chunks)); diff != "" {
		t.Error(diff)
	}
	if got := compaction.Render(nil, nil); got != "" {
		t.Errorf("nothing to remember is rendered as %q", got)
	}
}

// TestSummaryByRuleNamesItsScenes: a summary written by rule names the scenes and keeps the limits.
func TestSummaryByRuleNamesItsScenes(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("And then it rained again. ", 400)
	text := compaction.Rule(chunkStep.Chunk, []string{"Ash", "Tom"}, []string{"It began.", long})
	if !strings.HasPrefix(text, "Scenes 5000-5009 of thread 5. With Ash, Tom. It began. And then it") ||
		words(text) > 100 {
		t.Errorf("%d words: %s", words(text), text)
	}
	story := compaction.RuleStory(long, []string{"First chunk. " + long, "Second chunk."})
	if n := words(story); n > 500 || !strings.Contains(story, "\nFirst chunk.") ||
		!strings.Contains(story, "\nSecond chunk.") {
		t.Errorf("%d words: %s", n, story)
	}
	if got := compaction.RuleStory(annotator.NoStory, []string{"One."}); got != annotator.NoStory {
		t.Errorf("the story of a model that tells none is %q", got)
	}
	if got := compaction.RuleStory("", []string{"One."}); got != "One." {
		t.Errorf("%q", got)
	}
}
