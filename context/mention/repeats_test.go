package mention_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/context/mention"
)

// sampleUsage is how the narration of the sample story uses words.
func sampleUsage(t testing.TB) *mention.Usage {
	t.Helper()
	file, err := os.Open("../../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	usage := mention.NewUsage()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var post struct{ Name, Body string }
		if err := json.Unmarshal(lines.Bytes(), &post); err != nil {
			t.Fatal(err)
		}
		if post.Name == "LampQM" {
			usage.Add(post.Body)
		}
	}
	return usage
}

func namedEntry(id int64, names ...string) *annotator.Entry {
	e := &annotator.Entry{ID: id, Term: names[0]}
	for _, name := range names {
		e.Aliases = append(e.Aliases, annotator.Alias{Name: name})
	}
	return e
}

// TestResumes: half of the words of a fact are enough, and all of its numbers.
func TestResumes(t *testing.T) {
	t.Parallel()
	usage := sampleUsage(t)
	for _, test := range []struct {
		of, by     string
		fact, told string
		want       bool
	}{
		{
			"salt coast", "Lin Yan",
			"The salt coast is a coast as far as which magistrates know the signature of [[Lin Yan]].",
			"Magistrates as far as the salt coast go pale at the sight of Lin Yan's signature.", true,
		},
		{
			"Castellan's chain", "Ysolde Marrow",
			"The Castellan's chain is the chain of a watch-captain, which [[Ysolde Marrow]] let fall on the boards.",
			"Ysolde Marrow laid down the [[Castellan's chain]].", false,
		},
		{
			"hangman", "Mik Ferrow", "The hangman is the man from whom [[Mik Ferrow]] stole a boat.",
			"Mik Ferrow stole a boat.", false, // it does not name him
		},
		{
			"drawings", "Ferryman", "The drawings are 1200 likenesses of passengers by the [[Ferryman]].",
			"The Ferryman made the [[drawings]], which are likenesses of passengers.", false,
		},
		{
			"drawings", "Ferryman", "The drawings are likenesses of passengers by the [[Ferryman]].",
			"The Ferryman made the [[drawings]], which are likenesses of passengers.", true,
		},
	} {
		of, by := namedEntry(1, test.of), namedEntry(2, test.by)
		if got := mention.Resumes(test.fact, of, test.told, by, usage); got != test.want {
			t.Errorf("%q by %q: %t", test.fact, test.told, got)
		}
	}
}

// TestRepeats judges pairs of facts that share a quotation: whether the first says what the second says.
func TestRepeats(t *testing.T) {
	t.Parallel()
	people := map[string]*annotator.Entry{}
	x := mention.New()
	for i, names := range [][]string{
		{"Wren Tallow", "Wren"},
		{"Lantern Oath"},
		{"Button"},
		{"Thimble"},
		{"Hush"},
		{"Gallows Quay"},
		{"wickhook"},
		{"Ninth Lantern"},
		{"Mere Watch", "Watch"},
		{"Cinder Gate"},
		{"N'dara Quill", "N'dara"},
		{"Reedfolk"},
		{"trimmer"},
		{"wickwarden"},
		{"Lampmaster"},
		{"Guild of Lamplighters"},
		{"Ysolde Marrow", "Marrow"},
		{"Grudge"},
		{"Hallowmere"},
		{"mere-glass"},
		{"Glasshouse"},
	} {
		e := namedEntry(int64(i+1), names...)
		people[names[0]] = e
		x.SetNames(e.ID, e.Names())
	}
	usage := sampleUsage(t)
	text, err := os.ReadFile("testdata/repeats.txt")
	if err != nil {
		t.Fatal(err)
	}
	pairs := strings.Split(strings.TrimSpace(string(text)), "\n\n")[1:]
	for _, pair := range pairs {
		lines := strings.Split(pair, "\n")
		of, fact, _ := strings.Cut(lines[1], ": ")
		by, told, _ := strings.Cut(lines[2], ": ")
		if got := x.Repeats(fact, people[of], told, people[by], usage); got != strings.HasPrefix(lines[0], "same") {
			t.Errorf("%v\n%s", got, pair)
		}
	}
	if len(pairs) < 18 {
		t.Errorf("%d pairs", len(pairs))
	}
}

// TestRepeatsNeedsEveryWord: a fact with a distinctive word, name or number more is not the same, whatever the texts.
func TestRepeatsNeedsEveryWord(t *testing.T) {
	t.Parallel()
	of, by := namedEntry(1, "Anna"), namedEntry(2, "Boris")
	third := namedEntry(3, "Cora")
	x := mention.New()
	for _, e := range []*annotator.Entry{of, by, third} {
		x.SetNames(e.ID, e.Names())
	}
	words := []string{"kettle", "sings", "harbour", "old", "under", "marble", "quietly", "1899", "burns"}
	rapid.Check(t, func(t *rapid.T) {
		told := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 6, rapid.ID).Draw(t, "told")
		fact := rapid.SliceOfNDistinct(rapid.SampledFrom(told), 1, len(told), rapid.ID).Draw(t, "fact")
		toldText, factText := "Anna "+strings.Join(told, " ")+" Boris", "Anna "+strings.Join(fact, " ")+" Boris"
		plain := slices.DeleteFunc(slices.Clone(fact), func(w string) bool { return w == "1899" })
		if len(plain) > 0 && !x.Repeats(factText, of, toldText, by, mention.NewUsage()) {
			t.Fatalf("%q is not found in %q", factText, toldText)
		}
		more := rapid.SampledFrom([]string{"Cora", "1905", "bell"}).Draw(t, "more")
		mayLack := more == "bell" && len(fact)+1 >= 6 // one of six words, but neither a name nor a number
		if x.Repeats(factText+" "+more, of, toldText, by, mention.NewUsage()) && !mayLack {
			t.Fatalf("%q is found in %q", factText+" "+more, toldText)
		}
		if x.Repeats(factText, of, strings.ReplaceAll(toldText, "Anna", "She"), by, mention.NewUsage()) {
			t.Fatalf("%q is found in a fact that does not name it", factText)
		}
	})
}

// TestLinked: a text gets one link to an entry, and keeps its words.
func TestLinked(t *testing.T) {
	t.Parallel()
	e := namedEntry(1, "Wren Tallow", "Wren")
	for text, want := range map[string]string{
		"Wren Tallow climbed it.":               "[[Wren Tallow]] climbed it.",
		"Then Wren’s lamp failed. Wren ran.":    "Then [[Wren Tallow|Wren’s]] lamp failed. Wren ran.",
		"[[Mik]] saw Wren.":                     "[[Mik]] saw [[Wren Tallow|Wren]].",
		"[[Wren]] saw Wren Tallow.":             "[[Wren]] saw Wren Tallow.",
		"[[Mik|the smith]] saw nobody.":         "[[Mik|the smith]] saw nobody.",
		"[[Wren Tallow|The girl]] was at home.": "[[Wren Tallow|The girl]] was at home.",
	} {
		if got := mention.Linked(text, e); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
