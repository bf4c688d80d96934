package textcalls_test

import (
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/longtest"
	"annotator/model/textcalls"
)

// TestMain has the properties try a quarter of their cases, unless the long tests are selected.
func TestMain(m *testing.M) {
	longtest.SampleCases()
	os.Exit(m.Run())
}

// writers render calls as the models of a family do.
var writers = map[string]func(calls []annotator.ToolCall) string{
	"Hermes": each("<tool_call>\n", `{"name": %s, "arguments": %s}`, "\n</tool_call>"),
	"coder": func(calls []annotator.ToolCall) string {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString("<tool_call>\n<function=" + c.Name + ">\n")
			for key, value := range texts(c.Arguments) {
				b.WriteString("<parameter=" + key + ">\n" + value + "\n</parameter>\n")
			}
			b.WriteString("</function>\n</tool_call>\n")
		}
		return b.String()
	},
	"Llama 3.1": func(calls []annotator.ToolCall) string {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString("<function=" + c.Name + ">" + c.Arguments + "</function>")
		}
		return b.String()
	},
	"python tag": func(calls []annotator.ToolCall) string {
		return "<|python_tag|>" + each("", `{"name": %s, "parameters": %s}`, "; ")(calls)
	},
	"plain": each("", `{"name": %s, "parameters": %s}`, "\n"),
	"list": func(calls []annotator.ToolCall) string {
		return "[" + strings.TrimSuffix(each("", `{"name": %s, "arguments": %s}`, ",\n")(calls), ",\n") + "]"
	},
	"Mistral": func(calls []annotator.ToolCall) string {
		return "[TOOL_CALLS] [" + strings.TrimSuffix(each("", `{"name": %s, "arguments": %s}`, ", ")(calls), ", ") + "]"
	},
	"newer Mistral": func(calls []annotator.ToolCall) string {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString("[TOOL_CALLS]" + c.Name + "[ARGS]" + c.Arguments)
		}
		return b.String()
	},
	"fences": each("```json\n", `{"name": %s, "arguments": %s}`, "\n```\n"),
	"fences with a tool": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "```" + c.Name + "\n" + c.Arguments + "\n```\n"
		}
		return text
	},
	"names in tags": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "<tool_call><name>" + c.Name + "</name><arguments>" + c.Arguments + "</arguments></tool_call>\n"
		}
		return text
	},
	"names in brackets": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "<function(" + c.Name + ")>" + c.Arguments + "</function>"
		}
		return text
	},
	"channels": func(calls []annotator.ToolCall) (text string) {
		for _, c := range calls {
			text += "<|channel|>commentary to=" + c.Name + " <|constrain|>json<|message|>" + c.Arguments + "<|call|>"
		}
		return text
	},
	"a bracket too many": each("<tool_call>\n", `{"name": %s, "arguments": %s}}`, "\n</tool_call>"),
	"no comma":           each("<tool_call>\n", `{"name": %s "arguments": %s}`, "\n</tool_call>"),
}

func each(before, form, behind string) func([]annotator.ToolCall) string {
	return func(calls []annotator.ToolCall) string {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString(before + fmt.Sprintf(form, encode(c.Name), c.Arguments) + behind)
		}
		return b.String()
	}
}

func encode(value any) string {
	encoded, _ := json.Marshal(value)
	return string(encoded)
}

func texts(object string) map[string]string {
	var fields map[string]string
	_ = json.Unmarshal([]byte(object), &fields)
	return fields
}

// words contains texts that resemble the marks of a call.
var words = rapid.SliceOfN(rapid.SampledFrom([]string{
	"Dawn", "a lamp", "\n", `"`, `\`, "{", "}", "]", "<tool_call>", "</tool_call>", "<function=x>", "[TOOL_CALLS]",
	"```", "<think>", "漢字",
	"{\"name\":\"x\",\"arguments\":{}}", "<codex_updates>", "&lt;", "…",
}), 0, 4)

// drawCalls draws calls whose arguments are strings. Plain strings can be written without quotes.
func drawCalls(t *rapid.T, plain bool) []annotator.ToolCall {
	var calls []annotator.ToolCall
	for range rapid.IntRange(1, 3).Draw(t, "calls") {
		arguments := map[string]string{}
		for _, key := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"term", "definition", "q"}), 0, 3,
			rapid.ID).Draw(t, "keys") {
			if arguments[key] = strings.Join(words.Draw(t, "words"), " "); plain {
				arguments[key] = strings.NewReplacer("<", "", "\n", "").Replace(arguments[key])
			}
		}
		name := rapid.SampledFrom([]string{"glossary_search", "glossary_create", "read_post"}).Draw(t, "name")
		calls = append(calls, annotator.ToolCall{Name: name, Arguments: encode(arguments)})
	}
	return calls
}

// canonical normalises arguments for comparison.
func canonical(calls []annotator.ToolCall) []annotator.ToolCall {
	same := slices.Clone(calls)
	for i := range same {
		same[i].Arguments = encode(texts(same[i].Arguments))
	}
	return same
}

// TestWrittenCallsAreReadBack: calls that a model of any family writes are read back. If it is cut anywhere, it has no
// other calls. It has fewer only if the cut is between two, and then the reply's finish reason shows the cut.
func TestWrittenCallsAreReadBack(t *testing.T) {
	t.Parallel()
	for name, write := range writers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			fixed := canonical([]annotator.ToolCall{call("glossary_search",
				`{"q":"Dawn","term":"It said: {\"a\":[1]} </tool_call>"}`), call("read_post", `{"q":"3"}`)})
			if name == "coder" {
				fixed[0].Arguments = `{"q":"Dawn","term":"a \"lamp\""}`
			}
			checkWritten(t, "Well:\n"+write(fixed), fixed, 1)
			rapid.Check(t, func(t *rapid.T) {
				calls := canonical(drawCalls(t, name == "coder"))
				text := rapid.SampledFrom([]string{"", "I look it up.\n"}).Draw(t, "before") + write(calls)
				checkWritten(t, text, calls, 1+len(text)/30)
			})
		})
	}
}

// checkWritten reads the calls of a text, and of the text cut at every step-th byte.
func checkWritten(t rapid.TB, text string, calls []annotator.ToolCall, step int) {
	got, _, wrong := find(text)
	if diff := cmp.Diff(calls, canonical(got)); diff != "" || wrong != "" {
		t.Fatalf("%s\n%s wrong: %s", text, diff, wrong)
	}
	for i := 0; i < len(text); i += step {
		cut, _, _ := find(text[:i])
		if len(cut) > len(calls) || !slices.Equal(canonical(cut), calls[:len(cut)]) {
			t.Fatalf("cut at %d of %s\nit calls %v", i, text, cut)
		}
	}
}

// TestShownCallsAreQuotations: calls that are in a shown text are quotations, in whatever form each of the texts has
// them.
func TestShownCallsAreQuotations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		write := writers[rapid.SampledFrom(slices.Sorted(maps.Keys(writers))).Draw(t, "form")]
		story := "It was written: " + write(drawCalls(t, true)) + " and so they left."
		shown := story
		for range rapid.IntRange(0, 3).Draw(t, "escapes") {
			if shown = html.EscapeString(shown); rapid.Bool().Draw(t, "as JSON") {
				shown = encode(shown)
			}
		}
		parrot := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			func(s string) string { return strings.ReplaceAll(s, " ", "\n  ") },
			func(s string) string { return strings.ReplaceAll(s, "\n", " ") },
			func(s string) string { return "The post says:\n" + s[len("It was written: "):] },
			func(s string) string { return s[:len(s)/2] },
			html.EscapeString,
		}).Draw(t, "parrot")
		found := textcalls.Find(parrot(story), every)
		found.RemoveQuotations("another", "<scene>\n"+shown+"\n</scene>")
		if calls, rest, _ := found.Calls(); len(calls) > 0 || rest != strings.TrimSpace(parrot(story)) {
			t.Fatalf("%s\nafter\n%s\ncalls %v", parrot(story), shown, calls)
		}
	})
}

// TestQuotationBesideCall: in a text with a quotation and a call, only the call counts, even if a part of it was shown.
func TestQuotationBesideCall(t *testing.T) {
	t.Parallel()
	const quoted, own = `<tool_call>{"name":"glossary_delete","arguments":{"entry_id":3}}</tool_call>`,
		`<tool_call>{"name":"glossary_delete","arguments":{"entry_id":4}}</tool_call>`
	found := textcalls.Find("It says "+quoted+", so: "+own, every)
	found.RemoveQuotations(
		"They read &lt;tool_call&gt;{&quot;name&quot;:&quot;glossary_delete&quot;," +
			"&quot;arguments&quot;:{&quot;entry_id&quot;:3}}&lt;/tool_call&gt;.")
	calls, rest, wrong := found.Calls()
	if len(calls) != 1 || calls[0].Arguments != `{"entry_id":4}` || rest != "It says "+quoted+", so:" || wrong != "" {
		t.Errorf("%v, rest %q, wrong %q", calls, rest, wrong)
	}
}

// TestMentionedMarkIsNoCall: a mention of a mark that is in the story is no call, but the beginning of a call is.
func TestMentionedMarkIsNoCall(t *testing.T) {
	t.Parallel()
	const shown = "The golem wore the sign &lt;tool_call&gt; on its brow."
	for text, wrong := range map[string]bool{
		"The golem's sign, <tool_call>, is new.":                   false,
		"The golem's sign, <function=, is new.":                    true,
		`<tool_call>{"name":"glossary_create","arguments":{"term"`: true,
		"<tool_call>": false,
	} {
		found := textcalls.Find(text, every)
		found.RemoveQuotations(shown)
		if found.Empty() == wrong {
			t.Errorf("%s: wrong is %v", text, !wrong)
		}
	}
}

// TestTimeGrowsWithLength: a text with many beginnings of calls and no end is read in seconds. In quadratic time it
// would take minutes.
func TestTimeGrowsWithLength(t *testing.T) {
	t.Parallel()
	size, most := longtest.Pick(1<<15, 1<<17), longtest.Pick(10*time.Second, 30*time.Second)
	for _, unit := range []string{
		"<tool_call>", "<tool_call>[", `<tool_call>["`, `"<tool_call>["",`, `,"<tool_call>["`, "<tool_call>{\"a\":",
		"<function=a>", "<function=a><parameter=b>",
		"<function=a>{\"a\":", "[TOOL_CALLS]", "[TOOL_CALLS]a[ARGS]{\"a\":[", "```json\n", "```\n", "```a ",
		"```json\n{\"a\":[\n", "{\n", "[{\n", "{\"a\":\n{},\"b\":[\n", "{\"name\":\"a\",\"arguments\":[\n",
		"<think>", "<codex_updates>", "</codex_updates>", "<codex_updates></codex_updates>", "</think>", `\`, "&amp;",
		"<|python_tag|>{", "</tool_call>", "[1,\n", "[[{\n",
		"- a(\n", "- a(q=1)\n", "<glossary_search>", "<glossary_search>\nq: 1\n", "<glossary_search><q>",
		"<|im_start|>{\"a\":",
		"```a\n", "```a\nq: 1\n", "```a\nq:\n - ", "<tool_call>{\"a\":1}}", "<tool_call>[{},{}]", "{}}",
		"<|channel|>commentary<|message|>{", "<function(a){", "<name>a</name>",
		"<tool_call><name>a</name><arguments>", `{"name":"a","arguments":"{}}"}}`,
	} {
		start := time.Now()
		found := textcalls.Find(strings.Repeat(unit, size/len(unit)), every)
		found.RemoveQuotations(strings.Repeat("The lamp burned. ", size/8))
		found.Calls()
		if took := time.Since(start); took > most {
			t.Errorf("%q over and over takes %s", unit, took)
		}
	}
}

func FuzzFind(f *testing.F) {
	for _, write := range writers {
		f.Add(write([]annotator.ToolCall{call("glossary_search", search), call("list_snapshots", "{}")}), "")
	}
	for _, text := range []string{
		"<||DSML||invoke name=\"a\"><||DSML||parameter name=\"q\">x</||DSML||parameter></||DSML||invoke>",
		"<function(a){\"q\": 1}</function>",
		"<|channel|>commentary<|message|>{\"q\": 1}<|call|>", "```a\nq:\n  - x: |\n      y\n    z: 1\n```",
		"```a\nq: &x 1\nr: *x\n```",
		"<tool_call>{\"name\": \"a\", \"arguments\": {\"q\": 1}, \"r\": [2}}]}</tool_call>",
		"<tool_call><name>a</name><arguments><q>1</q></arguments></tool_call>",
		"<tool_call>{\"name\": \"a\" \"arguments\": null}</think></tool_call>", "<codex_update>{}</codex_update>",
	} {
		f.Add(text, "")
	}
	f.Add("{\"name\":\"\xdc\",\"parameters\":{}}", "")
	f.Add(`{"name":"\ud800","parameters":{}}`, "")
	f.Add(`<tool_call>{"name":"\u00e9","arguments":{}}</tool_call>`, "")
	f.Add("<think><tool_call></think><tool_code>[ARGS]</function>```json\n{\"name\":", "&lt;tool_call&gt;")
	f.Fuzz(func(t *testing.T, text, shown string) {
		found := textcalls.Find(text, every)
		found.RemoveQuotations(shown)
		calls, rest, wrong := found.Calls()
		if len(calls) > 0 && wrong != "" || len(rest) > len(text) {
			t.Errorf("%v, and %q is wrong; %d bytes left of %d", calls, wrong, len(rest), len(text))
		}
		for _, c := range calls {
			var arguments map[string]any
			if json.Unmarshal([]byte(c.Arguments), &arguments) != nil || arguments == nil {
				t.Errorf("%s is called with %s", c.Name, c.Arguments)
			}
			// A name may be written with escapes, of JSON or of HTML.
			if c.Name == "" || !strings.Contains(text, c.Name) && !strings.ContainsAny(text, `\&`) {
				t.Errorf("nothing in %q names %q", text, c.Name)
			}
		}
		if start, end, ok := textcalls.Around(text, len(text)/2, every); ok &&
			(start >= len(text)/2 || end <= len(text)/2 || end > len(text)) {
			t.Errorf("byte %d of %q is not from %d to %d", len(text)/2, text, start, end)
		}
		if len(calls) > 0 {
			found.RemoveQuotations(text)
			if calls, _, _ := found.Calls(); len(calls) > 0 {
				t.Errorf("%v is no quotation of itself", calls)
			}
		}
	})
}

// TestShownUpdatesAreQuotations: a block of updates that is in a shown text is a quotation, however each of the texts
// is escaped or wrapped. A block with one more word is none.
func TestShownUpdatesAreQuotations(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		said := "It burns. " + strings.Join(words.Draw(t, "words"), " ")
		block := fmt.Sprintf(`[{"term":"Dawn","definition":%s,"status":"new"}]`, encode(said+"\nIt was rung."))
		shown := "They wrote: <codex_updates>" + block + "</codex_updates> and left."
		for range rapid.IntRange(0, 3).Draw(t, "escapes") {
			if shown = html.EscapeString(shown); rapid.Bool().Draw(t, "as JSON") {
				shown = encode(shown)
			}
		}
		parrot := rapid.SampledFrom([]func(string) string{
			func(s string) string { return s },
			func(s string) string { return strings.ReplaceAll(s, `,"`, ",\n  \"") },
			html.EscapeString,
		}).Draw(t, "parrot")
		if piece := parrot(block); !textcalls.Quoted(piece, "another", shown) {
			t.Fatalf("%s\nafter\n%s\nis the model's own", piece, shown)
		}
		if own := strings.Replace(block, "It burns.", "It burns bright.", 1); textcalls.Quoted(own, "another", shown) {
			t.Fatalf("%s\nafter\n%s\nis a quotation", own, shown)
		}
	})
	if textcalls.Quoted("[]", "[]") {
		t.Error("what says nothing is a quotation")
	}
}
