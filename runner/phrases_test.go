package runner_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// harbour are threads in which the narration goes on calling two entries the Watch, and nobody the clerk.
func harbour() (threads [][]string) {
	for n := range 2 {
		var scenes []string
		for i := range 4 {
			told := days[4*n+i] + " Nobody but the Watch was about."
			if i%2 == 0 {
				told += " The silent nun came by. The silent nun sat. The clerk slept. The clerk woke."
			}
			scenes = append(scenes, told)
		}
		threads = append(threads, scenes)
	}
	return threads
}

// days have no word in common that is not in most texts.
var days = []string{
	"Rain fell on each roof, and nobody spoke.", "Two carts stood empty beneath a broken sign.",
	"Somebody had painted every door white.", "Bread cost twice as much that morning.",
	"Children ran between barrels and sacks.", "Old letters lay scattered across his desk.",
	"Snow came early, so ships stayed away.", "At noon all bells were silent.",
}

// naming is a run over that, in which the model answers a question about phrases.
func naming(t *testing.T, answer func(question string) string) (s *stage, asked *[]string) {
	t.Helper()
	asked = &[]string{}
	s = newTale(t, harbour(), 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
		question := r.Messages[len(r.Messages)-1].Content
		if strings.HasPrefix(question, `<scene number="1"`) {
			return calls(
				toolCall("glossary_create", `{"term":"Harbour Watch","tags":["group"],"facts":[{"text":"It waits."}]}`),
				toolCall("glossary_create", `{"term":"Night Watch","tags":["group"],"facts":[{"text":"It walks."}]}`),
				toolCall("glossary_create", `{"term":"Agnes","tags":["person"],"facts":[{"text":"She is mute."}]}`))
		}
		if r.MayCall() {
			return scripted.Reply{Text: "Read."}
		}
		if !strings.Contains(question, "<phrases>") {
			return scripted.Annotate(r)
		}
		_, list, _ := strings.Cut(question, "<phrases>\n")
		*asked = append(*asked, list)
		return scripted.Reply{Text: scripted.Recap(question) + answer(question)}
	}})
	return s, asked
}

// TestPhrasesBecomeNames tests the question whose names phrases are: one of an entry, one of two, one of nobody. None
// is asked about twice, and the names are dated by their first occurrence.
func TestPhrasesBecomeNames(t *testing.T) {
	t.Parallel()
	s, asked := naming(t, func(string) string {
		return `<name of="Agnes">the silent nun</name><name of="1; 2">the Watch</name><name of="nobody">the clerk</name>` +
			`<name of="1">something else</name>`
	})
	if err := s.run("named"); err != nil {
		t.Fatal(err)
	}
	s.lawful("named")
	for phrase, want := range map[string]int{`text="the silent nun"`: 1, `text="Watch"`: 1, `text="the clerk"`: 1} {
		if n := strings.Count(strings.Join(*asked, ""), phrase); n != want {
			t.Errorf("the phrase %s was asked about %d times in %q", phrase, n, *asked)
		}
	}
	if !strings.Contains((*asked)[0], "1: Harbour Watch") {
		t.Errorf("the question shows no similar entries: %s", (*asked)[0])
	}
	for name, owners := range map[string]string{"the silent nun": "[3]", "watch": "[1 2]", "the clerk": "[]"} {
		got := s.column("named", fmt.Sprintf(`SELECT entry_id FROM glossary_alias WHERE name_normalized = %q
			AND from_scene = 1 ORDER BY entry_id`, name))
		if fmt.Sprint(got) != owners {
			t.Errorf("%s is a name of %v, not of %s", name, got, owners)
		}
	}
}

// TestPhrasesWithoutAnAnswer are not asked about again, and name nothing.
func TestPhrasesWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	s, asked := naming(t, func(string) string { return `<name of="99">the Watch</name><name of="">the clerk</name>` })
	if err := s.run("unnamed"); err != nil {
		t.Fatal(err)
	}
	s.lawful("unnamed")
	if n := strings.Count(strings.Join(*asked, ""), `text="the silent nun"`); n != 1 {
		t.Errorf("a phrase was asked about %d times", n)
	}
	if n := s.count("unnamed", `SELECT count(*) FROM glossary_alias`); n != 3 {
		t.Errorf("%d names", n)
	}
}
