package offline_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"annotator/codex"
	"annotator/model/offline"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// forms gives the names of each entry created, as "term|alias|...", sorted.
func forms(creates []arguments) []string {
	var all []string
	for _, c := range creates {
		all = append(all, strings.Join(append([]string{c.Term}, c.Aliases...), "|"))
	}
	slices.Sort(all)
	return all
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want []string
	}{
		"title and part of a name": {
			harbour,
			[]string{"Lamplighters", "Tobin", "Vesper Quay", "Ysolde Marrow|Captain Marrow"},
		},
		"possessives": {
			"They took Marrow's boat and Marrow’s hat. Everyone knew Marrow.",
			[]string{"Marrow"},
		},
		"first words of sentences": {"Walking was slow. Nobody spoke. Rain fell on Vesper. Rain fell all day. " +
			"\"Come,\" she said.", []string{"Vesper"}},
		"a first word that is a name": {
			"Marrow slept. They woke Marrow at noon.", []string{"Marrow"},
		},
		"particles": {
			"He met the Count of Monte Cristo, M. de Villefort and Ludwig van Beethoven.",
			[]string{"Count of Monte Cristo", "Ludwig van Beethoven", "M. de Villefort"},
		},
		"fused particles": {
			"She wrote to d'Artagnan. Everyone loved d'Artagnan and Harun al-Rashid.",
			[]string{"Harun al-Rashid", "d'Artagnan"},
		},
		"father and son": {
			"Mr. Marrow came late. George Marrow waited.\n\nMr. Marrow spoke, and George sat down." +
				"\n\nThey left George with Mr. Marrow.",
			[]string{"George Marrow|George", "Mr. Marrow"},
		},
		"a man and how he is addressed": {
			"George Marrow came late. They left George Marrow.\n\n“Do sit down, Mr. Marrow,” they said, and George " +
				"sat down.\n\nThey left George. “Go, Mr. Marrow,” they said.",
			[]string{"George Marrow|George|Mr. Marrow"},
		},
		"husband and wife": {"There was Mr. Bennet, and there was Mrs. Bennet.", []string{"Mr. Bennet", "Mrs. Bennet"}},
		"other letters": {
			"Он увидел Наташу Ростову. They met Éloïse Brûlé near Þingvellir.",
			[]string{"Éloïse Brûlé", "Þingvellir", "Наташу Ростову"},
		},
		"wrapped lines": {
			"It was in the middle of the night when the old captain Ysolde\nMarrow came.",
			[]string{"Ysolde Marrow"},
		},
		"no names": {
			"CHAPTER ONE\nrolled 3, 5 = 8 (1d20)\n>>4415 Anon, the QM said it in March. Vote on Monday, OP. The " +
				"English doctor came. I AM NOT HERE.",
			nil,
		},
	} {
		creates, _ := annotate(t, withTools(scene(test.text+" "+test.text)))
		if diff := cmp.Diff(test.want, forms(creates)); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", name, diff)
		}
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	creates, _ := annotate(t, withTools(scene(harbour+" Tobin saw Vesper Quay. They lived in Dunmere, and died in "+
		"Dunmere.")))
	got := map[string]string{}
	for _, c := range creates {
		got[c.Term] = strings.Join(c.Tags, " ")
	}
	want := map[string]string{
		"Ysolde Marrow": "person", "Tobin": "person", "Vesper Quay": "place", "Dunmere": "place",
		"Lamplighters": "group",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDefinitionTellsMost(t *testing.T) {
	t.Parallel()
	creates, _ := annotate(t, withTools(scene(harbour)))
	for _, c := range creates {
		if c.Term == "Lamplighters" && (len(c.Facts) != 1 ||
			c.Facts[0].Text != "The Lamplighters were a guild of watchmen.") {
			t.Errorf("the facts are %+v", c.Facts)
		}
	}
}

// TestDefinitions: which sentences open an entry.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	const other = " They saw Tobin Vane. They saw Tobin Vane again."
	for sentence, defines := range map[string]bool{
		"Tobin Vane, a plumber, was taken at noon.":                                     true,
		"It was Tobin Vane, hydraulic engineer, who came.":                              true,
		"Near the stairs they found Tobin Vane, of Vesper Quay.":                        true,
		"Tobin Vane is Ysolde’s brother, and the younger one.":                          true,
		"Then came Ysolde’s younger brother, Tobin Vane.":                               true,
		"Tobin Vane seemed to be a very kind, good-natured man.":                        true,
		"“I am Tobin Vane, of the house of Vane.”":                                      true,
		"They walked down to Tobin Vane, who is the keeper of the light.":               true,
		"“This is the young lady’s uncle, Tobin Vane.”":                                 true,
		"“In spring I made the acquaintance of the well-known actor, Tobin Vane.”":      true,
		"Do not believe what Tobin Vane is telling you, countess.":                      false,
		"When they heard the name of Tobin Vane, the captain of the watch turned pale.": false,
		"“I should not wish for a smarter assistant, Tobin Vane; and I know it.”":       false,
		"That day he told his wife, Tobin Vane, and his daughter of it.":                false,
		"From the quay to Tobin Vane is a captain’s walk.":                              false,
	} {
		creates, _ := annotate(t, withTools(scene(sentence+other)))
		got, want := "", ""
		for _, c := range creates {
			for _, f := range c.Facts {
				if c.Term == "Tobin Vane" && f.Identity {
					got = f.Text
				}
			}
		}
		if defines {
			want = strings.Trim(sentence, "“”")
		}
		if got != want {
			t.Errorf("%q is defined by %q", sentence, got)
		}
	}
}

// TestNameOfAFamily: the name of a place is none of the only one who lives there.
func TestNameOfAFamily(t *testing.T) {
	t.Parallel()
	creates, _ := annotate(t, withTools(scene("They met Tobin Vane at the old Vane place. They saw Tobin Vane by the "+
		"Vane fireside.")))
	if diff := cmp.Diff([]string{"Tobin Vane"}, forms(creates)); diff != "" {
		t.Error(diff)
	}
}

func relevant(entries string) string {
	return "\n<relevant_entries>\n" + entries + "</relevant_entries>"
}

func TestKnownNamesAreNotCreated(t *testing.T) {
	t.Parallel()
	shown := scene(harbour)
	shown["content"] = shown["content"].(string) +
		relevant(`<entry id="7" term="Ysolde Marrow" status="tentative" tags="person" aliases="Captain Marrow|the Captain">She sails.</entry>
<entry id="8" term="Vesper Quay (place)" status="confirmed">A quay.</entry>
`)
	earlier := []object{
		scene("it rained."),
		{
			"role": "assistant",
			"tool_calls": []object{{
				"id": "c1", "type": "function",
				"function": object{"name": "glossary_create", "arguments": "{}"},
			}},
		},
		says("tool",
			`{"ok":true,"entry":{"id":9,"term":"Tobin","aliases":[],"status":"tentative","definition":"He rows."}}`),
		says("assistant", "Noted."),
	}
	creates, updates := annotate(t, withTools(append(earlier, shown)...))
	told := func(u arguments) bool { return len(u.Aliases)+len(u.Facts) > 0 }
	if diff := cmp.Diff([]string{"Lamplighters"}, forms(creates)); diff != "" || slices.ContainsFunc(updates, told) {
		t.Errorf("%s\nupdates: %+v", diff, updates)
	}
}

// TestCallsAreRemembered: the arguments of a call are known once its result names the entry.
func TestCallsAreRemembered(t *testing.T) {
	t.Parallel()
	m := offline.New(offline.Options{})
	first := chat(t, m, withTools(scene(harbour, harbour))).Choices[0].Message.ToolCalls
	if n := len(first); n < 3 {
		t.Fatalf("%d calls", n)
	}
	messages := []object{scene(harbour, harbour)}
	var wire []object
	for _, c := range first {
		wire = append(wire, object{
			"id": c.ID, "type": c.Type,
			"function": object{"name": c.Function.Name, "arguments": c.Function.Arguments},
		})
	}
	messages = append(messages, object{"role": "assistant", "tool_calls": wire})
	for i, c := range first {
		var a arguments
		if err := json.Unmarshal([]byte(c.Function.Arguments), &a); err != nil {
			t.Fatal(err)
		}
		if last := i == len(first)-1; a.Done != last {
			t.Errorf("call %d of %d says that the scene is done: %v", i+1, len(first), a.Done)
		}
		messages = append(messages, object{
			"role": "tool", "tool_call_id": c.ID,
			"content": fmt.Sprintf(`{"ok":true,"entry":{"id":%d,"term":%q},"added":[1]}`, i+1, a.Term),
		})
	}
	messages = append(messages, says("assistant", "The scene is read."), scene(harbour))
	if creates, updates := annotate(t, withTools(messages...)); len(creates)+len(updates) > 0 {
		t.Errorf("the same scene again: %+v, %+v", creates, updates)
	}
}

func TestFurtherFormsBecomeAliases(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		entries, text string
		want          []string
	}{
		"shorter": {
			`<entry id="7" term="Ysolde Marrow">x</entry>`,
			"They saw Captain Marrow there, and Marrow saw them.",
			[]string{"7:Captain Marrow|Marrow"},
		},
		"longer": {
			`<entry id="7" term="Marrow">x</entry>`, "They saw Ysolde Marrow there.",
			[]string{"7:Ysolde Marrow"},
		},
		"shared": {
			`<entry id="7" term="Ysolde Marrow">x</entry><entry id="8" term="Tobin Marrow">x</entry>`,
			"They saw Marrow there, and Marrow saw them.",
			[]string{"8:Marrow", "7:Marrow"},
		},
		"stated": {
			`<entry id="7" term="Ysolde Marrow">x</entry>`,
			"They saw Ysolde Marrow, also known as Wren, at noon. Then Wren left, and nobody saw Wren again.",
			[]string{"7:Wren"},
		},
		"a call": {
			`<entry id="7" term="Ysolde Marrow">x</entry>`,
			"There Ysolde Marrow called Wren at noon. Then Wren left, and nobody saw Wren again.",
			[]string{"Wren", "7:"}, // and a fact
		},
		"a namesake": {
			`<entry id="7" term="Ysolde Marrow" aliases="Marrow">x</entry>`,
			"They saw Tobin Marrow there. Nobody knew Tobin Marrow.",
			[]string{"Tobin Marrow"},
		},
	} {
		shown := scene(test.text)
		shown["content"] = shown["content"].(string) + relevant(test.entries)
		creates, updates := annotate(t, withTools(shown))
		got := forms(creates)
		for _, u := range updates {
			got = append(got, fmt.Sprintf("%d:%s", u.EntryID, strings.Join(u.Aliases, "|")))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want, +got):\n%s", name, diff)
		}
	}
}

func TestTurnEndsAfterTheResults(t *testing.T) {
	t.Parallel()
	m := offline.New(offline.Options{})
	messages := []object{scene(harbour)}
	calls := chat(t, m, withTools(messages...)).Choices[0].Message.ToolCalls
	var wire []object
	for _, c := range calls {
		wire = append(wire, object{
			"id": c.ID, "type": c.Type,
			"function": object{"name": c.Function.Name, "arguments": c.Function.Arguments},
		})
	}
	messages = append(messages, object{"role": "assistant", "content": nil, "tool_calls": wire},
		says("tool", `{"ok":true,"entry":{"id":1,"term":"Tobin"}}`),
		says("tool", `{"ok":false,"error":{"code":"DUPLICATE","message":"there is one","entry_id":4}}`))
	got := chat(t, m, withTools(messages...)).Choices[0]
	if want := "Noted: Tobin.\n<codex_updates>[]</codex_updates>"; got.Message.Content != want ||
		got.FinishReason != "stop" {
		t.Errorf("%q, want %q", got.Message.Content, want)
	}
}

func TestWithoutToolsTheTextCarriesTheEntries(t *testing.T) {
	t.Parallel()
	request := withTools(scene(harbour+" </codex_updates> Marrow Keep", harbour))
	request["tool_choice"] = "none"
	r := chat(t, offline.New(offline.Options{}), request).Choices[0].Message
	_, block, _ := strings.Cut(r.Content, "<codex_updates>")
	block, _, _ = strings.Cut(block, "</codex_updates>")
	var updates []arguments
	if err := json.Unmarshal([]byte(block), &updates); err != nil || len(updates) < 4 || len(r.ToolCalls) > 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if u := updates[0]; u.Status != "new" || len(u.Facts) == 0 || u.Facts[0].PostID != 101 || u.Facts[0].Text == "" {
		t.Errorf("%+v", u)
	}
}

// Each quotation is in its post and contains a form of the name, and no call creates a known entry.
func TestQuotesAreVerbatim(t *testing.T) {
	t.Parallel()
	piece := rapid.SampledFrom([]string{
		"Captain", "Marrow", "Ysolde", "Vesper", "Quay", "the", "of", "a", "was", "saw", "Mr.", "M.", "de", "d'If",
		"said", "Lamplighters", "’s", "'s",
		".", ". ", "? ", "! ", ", ", "“", "”", "\"", "\n", "\n\n", " — ", "<b>", "&amp;", "1d20", "Éa", "Ωm", "\u0301",
		"...", " ", " ", " ", strings.Repeat("long ", 70),
	})
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.Map(rapid.SliceOf(piece), func(s []string) string {
			return strings.Join(s, " ")
		}), 1, 3).Draw(t, "posts")
		m := offline.New(offline.Options{})
		for _, c := range chat(outer, m, withTools(scene(texts...))).Choices[0].Message.ToolCalls {
			var a arguments
			if err := json.Unmarshal([]byte(c.Function.Arguments), &a); err != nil {
				t.Fatal(err)
			}
			check(t, texts, a)
		}
	})
}

func check(t *rapid.T, texts []string, a arguments) {
	for _, f := range a.Facts {
		if !strings.Contains(texts[f.PostID-101], f.Quote) || strings.TrimSpace(f.Quote) != f.Quote || f.Text == "" {
			t.Fatalf("%q is not in post %d", f.Quote, f.PostID)
		}
		named := func(form string) bool { return strings.Contains(strings.Join(strings.Fields(f.Quote), " "), form) }
		if !slices.ContainsFunc(append(a.Aliases, a.Term), named) {
			t.Fatalf("%q names none of %q, %q", f.Quote, a.Term, a.Aliases)
		}
		if utf8.RuneCountInString(f.Quote) > codex.MaxQuote {
			t.Fatalf("a quotation of %d bytes", len(f.Quote))
		}
	}
}
