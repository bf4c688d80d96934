package offline_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"annotator/model/offline"
)

func text(t testing.TB, request object) string {
	t.Helper()
	m := chat(t, offline.New(offline.Options{}), request).Choices[0].Message
	if len(m.ToolCalls) > 0 {
		t.Errorf("a call of a tool: %+v", m.ToolCalls)
	}
	return m.Content
}

func numbered(number, body string) object {
	return says("user", `<scene number="`+number+`" thread="7" index="0"><post id="`+number+`00">`+"\n"+escape(body)+
		"\n</post></scene>")
}

func TestSummary(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat(" It went on and on as before and nothing came of it at all in the end.", 40)
	window := []object{
		numbered("3", "The ship lay still. Ysolde Marrow met Tobin Vane at Vesper Quay."+filler),
		says("assistant", "Noted."),
		numbered("4", "Rain fell. Harun Brask betrayed Ysolde Marrow to the Grey Council."+filler),
		says("assistant", "Noted."),
	}
	all := text(t, withTools(append(window, says("user", "Summarise the story so far."))...))
	if !strings.HasPrefix(all, "The ship lay still.") || !strings.Contains(all, "Tobin Vane") ||
		!strings.Contains(all, "Harun Brask") {
		t.Errorf("all: %q", all)
	}
	if n := len(strings.Fields(all)); n > 120 {
		t.Errorf("%d words", n)
	}
	if one := text(t,
		withTools(append(window, says("user", "Write a summary of scenes 4 to 4."))...)); strings.Contains(one,
		"Tobin") || !strings.Contains(one, "Harun") {
		t.Errorf("scene 4: %q", one)
	}
	brought := says("user", "Join these summaries.\n<summary>Dunmere Keep fell to the wolves in winter.</summary>")
	if joined := text(t,
		withTools(append(window, brought)...)); joined != "Dunmere Keep fell to the wolves in winter." {
		t.Errorf("joined: %q", joined)
	}
}

func TestCurator(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shown, decision string
		target          int64
	}{
		"named": {`<entry id="1" term="Tobin Vane">A man.</entry>`, "CONFIRM", 0},
		"a part": {
			`<entry id="1" term="Marrow">A woman.</entry><entry id="2" term="Ysolde Marrow">A captain.</entry>`,
			"MERGE", 2,
		},
		"of two": {
			`<entry id="1" term="Marrow">A name.</entry><entry id="2" term="Ysolde Marrow">A.</entry><entry id="3" term="Tobin Marrow">B.</entry>`, "CONFIRM", 0,
		},
		"generic": {`<entry id="1" term="Captain">A rank.</entry>`, "REJECT", 0},
		"quoted":  {`<entry id="1" term="Captain">A rank.</entry><quote post="5">Captain</quote>`, "CONFIRM", 0},
	} {
		got := decisions(t, "<candidate>"+test.shown+"</candidate>")
		if len(got) != 1 || got[0].Entry != 1 || got[0].Decision != test.decision || got[0].Target != test.target ||
			got[0].Reason == "" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	both := decisions(t, `<candidate><entry id="4" term="Captain">A rank.</entry></candidate>
<candidate><entry id="5" term="Wren &amp; Son">A shop.</entry><quote post="5">Wren &amp; Son</quote></candidate>`)
	if len(both) != 2 || both[0].Decision != "REJECT" || both[1].Decision != "CONFIRM" || both[1].Entry != 5 ||
		both[1].Term != "Wren & Son" {
		t.Errorf("two candidates: %+v", both)
	}
	if none := decisions(t, ""); len(none) != 0 {
		t.Errorf("no candidate: %+v", none)
	}
}

// TestCuratorKnowsTheFamily: Mr. Marrow is no Tobin Marrow whose mother the scenes tell of.
func TestCuratorKnowsTheFamily(t *testing.T) {
	t.Parallel()
	for family, want := range map[string]string{
		"Mrs. Vane": "MERGE", "Mrs. Marrow": "CONFIRM", "the Marrows": "CONFIRM",
	} {
		story := "We met Mr. Marrow. Later we met " + family + ". There we met Tobin Marrow."
		answer := text(t, withTools(scene(story), says("user", "Answer CONFIRM, REJECT, MERGE or REVISE.\n<candidate>"+
			`<entry id="1" term="Mr. Marrow">A man.</entry><entry id="2" term="Tobin Marrow">A boy.</entry>`+
			`<quote post="5">Mr. Marrow</quote></candidate>`)))
		var list []decided
		if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list) != 1 || list[0].Decision != want {
			t.Errorf("%s: %s: %v", family, answer, err)
		}
	}
}

type decided struct {
	Entry, Target          int64
	Term, Decision, Reason string
}

// decisions returns the model's decisions on candidates that are shown with a post.
func decisions(t *testing.T, shown string) (list []decided) {
	t.Helper()
	answer := text(t, withTools(says("user", "Answer CONFIRM, REJECT, MERGE or REVISE.\n<post id=\"5\">Tobin Vane "+
		"rowed.</post>\n"+shown)))
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatalf("%s: %v", answer, err)
	}
	return list
}

func TestQuestion(t *testing.T) {
	t.Parallel()
	window := []object{
		numbered("3", "The ship lay still. Ysolde Marrow hid the brass key under the third stair."),
		says("assistant", "Noted."), says("user", "Where is the brass key?"),
	}
	want := `"Ysolde Marrow hid the brass key under the third stair." [post 300]`
	if got := text(t, withTools(window...)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	window[2] = says("user", "Say what stands on the stair, or lay still.\n<question>\nWhere is the brass "+
		"key?\n</question>")
	if got := text(t, withTools(window...)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
	window[2] = says("user", "What of xylophones?")
	if got := text(t, withTools(window...)); got != "Nothing in the scenes shown here answers that." {
		t.Errorf("%q", got)
	}
}

// TestQuestionWithEntries: the answer quotes an entry's evidence with its post, and has no numbers of facts.
func TestQuestionWithEntries(t *testing.T) {
	t.Parallel()
	const entries = `<relevant_entries>
<entry id="2" term="Irene Adler" status="confirmed" tags="person" aliases="">
<present scene="4">She is away.</present>
1: She has a &quot;photograph&quot;.
4 (claimed by Godfrey (the lawyer), state): She fled to Venice.
</entry>
%s</relevant_entries>
Set the scenes aside. Name the posts in the form [post 123].
<question>
%s
</question>`
	quotes := "[post 7] fact 1: Irene Adler kept\na &lt;photograph&gt; of it.\n[post 9] fact 4: &quot;She " +
		"fled,&quot; said he.\n"
	for _, test := range []struct{ quotes, question, want string }{
		{quotes, "Who is Irene Adler?", `Irene Adler: "Irene Adler kept a <photograph> of it." [post 7]`},
		{quotes, "Where is the photograph?", `"Irene Adler kept a <photograph> of it." [post 7]`},
		{
			"[post 9] fact 4: She fled.\n", "Who is Irene Adler?",
			`Irene Adler: She has a "photograph". She fled to Venice. (claimed by Godfrey (the lawyer)) [post 9]`,
		},
		{
			"", "Who is Irene Adler?",
			`Irene Adler: She has a "photograph". She fled to Venice. (claimed by Godfrey (the lawyer))`,
		},
	} {
		if got := text(t, withTools(says("user", fmt.Sprintf(entries, test.quotes, test.question)))); got != test.want {
			t.Errorf("%s\n got %s\nwant %s", test.question, got, test.want)
		}
	}
}
