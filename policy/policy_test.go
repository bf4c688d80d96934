package policy_test

import (
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/policy"
	"annotator/tools"

	"pgregory.net/rapid"
)

func names() []string {
	var all []string
	for _, tool := range tools.All() {
		all = append(all, tool.Name)
	}
	return all
}

// TestDefaultPolicyPermitsEachTool compares the embedded policy with the existing tools: some intent permits each of
// them.
func TestDefaultPolicyPermitsEachTool(t *testing.T) {
	t.Parallel()
	p, err := policy.Parse("policy.yaml", []byte(policy.Text()), names())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names() {
		if !p.Permits(policy.Annotate, name) {
			t.Errorf("no intent permits %s", name)
		}
	}
	for _, mode := range policy.Modes() {
		if intents := p.Intents(mode); (mode == policy.Annotate) != (len(intents) == 6) {
			t.Errorf("%s has the intents %v", mode, intents)
		}
	}
}

func TestDecisionsFollowTheRules(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	for _, test := range []struct {
		mode               policy.Mode
		intent, tool, code string
		says               string
	}{
		{policy.Annotate, "PROPOSE", "glossary_create", "", ""},
		{policy.Annotate, "PROPOSE", "glossary_search", "", ""},
		{policy.Annotate, "RETIRE", "glossary_delete", "", ""},
		{policy.Annotate, "", policy.SelectIntent, "", ""},
		{policy.Annotate, "RETIRE", policy.SelectIntent, "", ""}, // declared anew
		{policy.Annotate, "", "glossary_create", policy.IntentRequired, "needs PROPOSE"},
		{policy.Annotate, "", "glossary_search", policy.IntentRequired, "SEARCH or PROPOSE"},
		{policy.Annotate, "PROPOSE", "glossary_delete", policy.NotPermitted, "declare RETIRE"},
		{policy.Annotate, "NONE", "glossary_search", policy.NotPermitted, "the intent NONE"},
		{policy.Annotate, "ADMIN", "glossary_delete", policy.UnknownIntent, `"ADMIN"`},
		{policy.Annotate, "propose", "glossary_create", policy.UnknownIntent, `"propose"`},
		{policy.Annotate, "RETIRE", "drop_table", policy.UnknownTool, `"drop_table"`},
		{policy.Annotate, "", "functions.glossary_create:0", policy.UnknownTool, "no intent permits"},
		{policy.Curate, "", "glossary_delete", policy.NotPermitted, "answer in text"},
		{policy.Summon, "RETIRE", policy.SelectIntent, policy.NotPermitted, "answer in text"},
		{policy.Summarise, "", "glossary_search", policy.NotPermitted, "answer in text"},
		{policy.Ask, "", "glossary_search", policy.NotPermitted, "answer in text"},
		{"god", "RETIRE", "glossary_delete", policy.UnknownMode, `"god"`},
	} {
		d := p.Decide(test.mode, test.intent, test.tool)
		if d.Code != test.code || d.Permitted() != (test.code == "") || !strings.Contains(d.Reason, test.says) {
			t.Errorf("%s, %q, %s: %+v", test.mode, test.intent, test.tool, d)
		}
	}
}

// TestDecideFailsClosed makes the check itself fail.
func TestDecideFailsClosed(t *testing.T) {
	t.Parallel()
	var none *policy.Policy
	if d := none.Decide(policy.Annotate, "PROPOSE", "glossary_create"); d.Permitted() || d.Code != policy.CheckFailed ||
		d.Reason == "" {
		t.Errorf("without a policy: %+v", d)
	}
	if d := new(policy.Policy).Decide(policy.Annotate, "PROPOSE", "glossary_create"); d.Permitted() {
		t.Errorf("an empty policy: %+v", d)
	}
}

// TestDecideIsTotal checks any input: only the calls in the matrix are permitted, and a denial has a reason.
func TestDecideIsTotal(t *testing.T) {
	t.Parallel()
	p := policy.Default()
	any := func(known ...string) *rapid.Generator[string] {
		return rapid.OneOf(rapid.SampledFrom(known), rapid.String())
	}
	rapid.Check(t, func(t *rapid.T) {
		mode := policy.Mode(any("annotate", "curate", "ask").Draw(t, "mode"))
		intent := any("SEARCH", "PROPOSE", "REVISE", "RETIRE", "RECALL", "NONE", "").Draw(t, "intent")
		tool := any(append(names(), policy.SelectIntent)...).Draw(t, "tool")
		d := p.Decide(mode, intent, tool)
		declared := slices.ContainsFunc(p.Intents(mode), func(i policy.Intent) bool { return i.Name == intent })
		listed := mode == policy.Annotate && (tool == policy.SelectIntent || declared && slices.Contains(names(), tool))
		if d.Permitted() && !listed || !d.Permitted() && d.Reason == "" || d.Intent != intent || d.Mode != mode ||
			d.Tool != tool {
			t.Fatalf("%+v", d)
		}
	})
}

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	const intents = "intents:\n  SEARCH: look up\n  NONE: nothing\n"
	for _, test := range []struct{ file, says string }{
		{"", "is empty"},
		{"# nothing\n", "is empty"},
		{"- a\n", ":1: a policy is not a mapping"},
		{"intents: {}\nmodels: {}\n", `:2: there is no key "models"`},
		{"intents: {SEARCH: look up}\n", ":1: a policy needs both intents and modes"},
		{"intents: SEARCH\nmodes: {}\n", ":1: intents is not a mapping"},
		{"intents:\n  SEARCH:\nmodes: {}\n", ":2: the intent SEARCH has no meaning"},
		{"intents:\n  SEARCH: ' '\nmodes: {}\n", ":2: the intent SEARCH has no meaning"},
		{"intents:\n  search: look up\nmodes: {}\n", `:2: the intent "search" is not written in capitals`},
		{"intents:\n  SEARCH: look up\n  SEARCH: again\nmodes: {}\n", `:3: "SEARCH" is defined twice`},
		{"intents:\n  SEARCH: " + strings.Repeat("long ", 100) + "\nmodes: {}\n", ":2: the meaning of SEARCH"},
		{intents + "modes:\n  annotat: {}\n", `:5: there is no mode "annotat"`},
		{intents + "modes:\n  annotate:\n    FIND: []\n", `:6: the intent "FIND" is not among the intents`},
		{intents + "modes:\n  annotate:\n    SEARCH: glossary_search\n", ":6: SEARCH takes a list of tools"},
		{
			intents + "modes:\n  annotate:\n    SEARCH:\n      - glossary_serch\n",
			`:7: there is no tool "glossary_serch"`,
		},
		{intents + "modes:\n  annotate:\n    SEARCH: [read_post, read_post]\n", ":6: read_post is listed twice"},
		{intents + "modes:\n  annotate:\n    SEARCH: [[read_post]]\n", ":6: a tool is not a name"},
		{
			intents + "modes:\n  annotate:\n    SEARCH: [select_active_intent]\n",
			":6: select_active_intent needs no permission",
		},
		{
			intents + "modes:\n  annotate:\n    NONE: []\n  ask:\n    SEARCH: [read_post]\n",
			":8: the mode ask runs no tools",
		},
		{intents + "modes:\n  ask: {}\n", ":5: the mode annotate has no intent"},
		{intents + "modes: {annotate: {SEARCH: [read_post]}}\n---\nmodes: {}\n", "more than one document"},
		{intents + "modes: {annotate: {SEARCH: [read_post]}}\n---\na: [\n", "more than one document"},
		{"--- \n", ":2: a policy is not a mapping"},
		{"\ufeff", "is empty"},
		{"intents: &a {SEARCH: look up}\nmodes: {annotate: *a}\n", ":2: *a is an alias"},
		{"intents: {SEARCH: look up}\nmodes: {annotate: {SEARCH: [&t read_post, *t]}}\n", ":2: *t is an alias"},
		{"intents: {SEARCH: &m look up}\nmodes: {annotate: &r {SEARCH: []}, ask: {<<: *r}}\n", ":2: *r is an alias"},
		{"intents: {SEARCH: look up, ? [a] : b}\nmodes: {}\n", ":1: a key is not a name"},
		{"intents: {" + strings.Repeat("A", 41) + ": look up}\nmodes: {}\n", ":1: the name of the intent AAAA"},
		{"intents: {SEARCH: look up}\nmodes: {annotate: {SEARCH: [Read_Post]}}\n", `there is no tool "Read_Post"`},
		{"intents: {SEARCH: look up}\nmodes: {annotate: {SEARCH: [' read_post']}}\n", `there is no tool " read_post"`},
		{"intents: {SEARCH: look up}\nmodes: {annotate: {SEARCH: [~]}}\n", `there is no tool "~"`},
		{"a: [\n", "policy.yaml: yaml: line 1"},
		{"\xff\xfe\x00", "policy.yaml: yaml: "},
		{strings.Repeat("[", 60_000), "policy.yaml: yaml: "},
		{strings.Repeat("#", 70_000), "may have 65536"},
	} {
		_, err := policy.Parse("policy.yaml", []byte(test.file), names())
		if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%q: %v, want %q", test.file, err, test.says)
		}
	}
}

// TestParseReads the forms in which editors save a file.
func TestParseReads(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"a mark of the byte order": "\ufeff" + policy.Text(),
		"lines of Windows":         strings.ReplaceAll(policy.Text(), "\n", "\r\n"),
		"an end of the document":   policy.Text() + "...\n",
	} {
		p, err := policy.Parse("policy.yaml", []byte(text), names())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := p.Decide(policy.Annotate, "PROPOSE", "glossary_create"); !d.Permitted() ||
			p.RequiredIntent(policy.Annotate, "glossary_create") != "PROPOSE" {
			t.Errorf("%s: %+v", name, d)
		}
	}
}

// TestTurnFollowsItsRows applies rows of a turn.
func TestTurnFollowsItsRows(t *testing.T) {
	t.Parallel()
	selects := func(content, code string) annotator.Trace {
		return annotator.Trace{Kind: annotator.TraceResult, Tool: policy.SelectIntent, Content: content, Error: code}
	}
	creates := func(code string) annotator.Trace {
		return annotator.Trace{
			Kind: annotator.TraceResult, Tool: "glossary_create",
			Content: `{"ok":true,"intent":"RETIRE"}`, Error: code,
		}
	}
	inBlock := func(row annotator.Trace) annotator.Trace {
		row.Kind = annotator.TraceUpdate
		return row
	}
	scene, reply, note := annotator.Trace{Kind: annotator.TraceScene}, annotator.Trace{Kind: annotator.TraceReply},
		annotator.Trace{Kind: annotator.TraceNote}
	proposed := selects(`{"ok":true,"intent":"PROPOSE"}`, "")
	for name, test := range map[string]struct {
		rows []annotator.Trace
		want policy.Turn
	}{
		"nothing yet": {[]annotator.Trace{scene, reply}, policy.Turn{}},
		"declared": {
			[]annotator.Trace{scene, reply, proposed, creates(""), reply},
			policy.Turn{Intent: "PROPOSE"},
		},
		"declared anew": {
			[]annotator.Trace{scene, proposed, selects(`{"ok":true,"intent":"NONE"}`, "")},
			policy.Turn{Intent: "NONE"},
		},
		"a declaration that failed": {
			[]annotator.Trace{scene, proposed, selects(`{"ok":false}`, "INVALID_ARGUMENTS")},
			policy.Turn{Intent: "PROPOSE"},
		},
		"an answer that cannot be read": {[]annotator.Trace{scene, proposed, selects(`{`, "")}, policy.Turn{}},
		"a call that came too early": {
			[]annotator.Trace{scene, creates(policy.IntentRequired)},
			policy.Turn{Undeclared: true},
		},
		"and was made up for": {
			[]annotator.Trace{scene, creates(policy.IntentRequired), proposed},
			policy.Turn{Intent: "PROPOSE"},
		},
		"a correction begins anew": {[]annotator.Trace{scene, proposed, creates(""), note}, policy.Turn{}},
		"a correction after an early call": {
			[]annotator.Trace{scene, creates(policy.IntentRequired), note},
			policy.Turn{},
		},
		"declared in a block": {
			[]annotator.Trace{scene, reply, inBlock(proposed), reply},
			policy.Turn{Intent: "PROPOSE"},
		},
		"a block that came too early": {
			[]annotator.Trace{scene, reply, inBlock(creates(policy.IntentRequired))},
			policy.Turn{},
		},
		"another tool's answer says RETIRE": {[]annotator.Trace{scene, creates("")}, policy.Turn{}},
	} {
		var turn policy.Turn
		for i := range test.rows {
			turn.Apply(&test.rows[i])
		}
		if turn != test.want {
			t.Errorf("%s: %+v", name, turn)
		}
	}
}

// FuzzParse parses any file: the result is an error, or a policy that decides every call.
func FuzzParse(f *testing.F) {
	f.Add(policy.Text())
	f.Add("intents: {A: b}\nmodes: {annotate: {A: [read_post]}}")
	f.Add("intents: &a {A: b}\nmodes: {annotate: *a}")
	f.Add("\ufeffintents: {A: b}\nmodes: {annotate: {A: [read_post]}}\n---\n...\n")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policy.Parse("policy.yaml", []byte(text), names())
		if err != nil {
			if annotator.KindOf(err) != annotator.Misused {
				t.Fatalf("%v is %s", err, annotator.KindOf(err))
			}
			return
		}
		for _, mode := range policy.Modes() {
			for _, intent := range append(p.Intents(mode), policy.Intent{Name: "NOBODY"}) {
				for _, tool := range append(names(), "drop_table") {
					d := p.Decide(mode, intent.Name, tool)
					if d.Permitted() && (mode != policy.Annotate || intent.Meaning == "" || tool == "drop_table") ||
						d.Code == policy.CheckFailed {
						t.Fatalf("%q permits %+v", text, d)
					}
				}
			}
		}
	})
}
