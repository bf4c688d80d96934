package eval_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/eval"

	"pgregory.net/rapid"
)

const list = `
entities:
  - name: Anna Bell
    kind: person
    importance: major
    aliases: [Anna, {name: the Warden, from_scene: 3}]
    facts:
      - {text: She is a smith., quote: Anna worked at the forge all her life, post: 7}
      - {text: She left., quote: and in the morning she was gone, post: 9}
  - {name: Tom Bell, kind: person, importance: minor, aliases: [Bell]}
  - {name: The Forge, kind: place, importance: minor, aliases: [Bell]}
relations: [{a: Anna Bell, relation: sister of, b: Tom Bell}]
traps: [Anna is a queen.]
`

func read(t *testing.T, text string) *eval.Gold {
	t.Helper()
	g, err := eval.Read([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func value(t *testing.T, figures []eval.Figure, name string) float64 {
	t.Helper()
	at := slices.IndexFunc(figures, func(f eval.Figure) bool { return f.Name == name })
	if at < 0 {
		t.Fatalf("there is no figure %q", name)
	}
	return figures[at].Value
}

func TestFiguresCountWhatTheySay(t *testing.T) {
	t.Parallel()
	quote := []eval.Quote{{Post: 7, Text: "worked at the forge all her life, and more"}}
	entries := []eval.Entry{
		{
			ID: 1, Names: []string{"Anna Bell", "Warden", "Tom Bell"}, Kinds: []string{"character"},
			Facts: []eval.Statement{
				{Text: "She is a smith.", Quotes: quote}, {Text: "She sings.", Relation: "sings with", Object: "Zed"},
			},
		},
		{ID: 2, Names: []string{"Forge"}, Kinds: []string{"unknown"}},
		{ID: 3, Names: []string{"Zed"}},
	}
	counts := map[string]float64{"anna bell": 6, "anna": 2, "tom bell": 2, "zed": 1}
	figures := eval.Compare(read(t, list), entries, counts)
	merges := eval.WrongMerges(read(t, list), entries)
	if len(merges) != 1 || merges[0].String() != "#1: anna bell, warden (Anna Bell); tom bell (Tom Bell)" {
		t.Errorf("wrong merges: %v", merges)
	}
	for name, want := range map[string]float64{
		"things with an entry": 2. / 3, "– major": 1, "– minor": .5, "entries a thing": 1,
		"entries that are things of the list": 2. / 3, "wrong merges, of entries with several names": 1,
		"– by names that no other entry has":                  1,
		"contradicting titles, of entries with several names": 0, "entries a person": 1, "right kinds of people": 1,
		"right kinds": .5, "entries of unknown kind": 1. / 3, "entries named at most once": 2. / 3,
		"names of things with an entry": 3. / 5, // Anna is no name of the entry, and Bell none of the forge's
		"facts with a quotation":        .5, "facts of the list whose words are quoted": .5, "– of major things": .5,
	} {
		if got := value(t, figures, name); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %.3f, want %.3f", name, got, want)
		}
	}
}

// TestRelationsAreCountedFromEitherSide: a relation of the list is found by the names of its two things. Its
// words may be those of the inverse.
func TestRelationsAreCountedFromEitherSide(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		entry, relation, object string
		joined, worded          float64
	}{
		{"Anna", "sister of", "the tom bell", 1, 1},
		{"Tom Bell", "brother of", "Anna Bell", 1, 0},
		{"Tom Bell", "sister: is", "Anna", 1, 1},
		{"Tom Bell", "sister of", "Zed", 0, 0},
		{"Anna", "", "Tom Bell", 0, 0},
		{"Anna", "owns", "Tom Bell", 1, 0},
	} {
		figures := eval.Compare(read(t, list), []eval.Entry{{
			ID: 1, Names: []string{test.entry}, Facts: []eval.Statement{{Relation: test.relation, Object: test.object}},
		}}, nil)
		joined := value(t, figures, "relations of the list, as relations of the codex")
		if worded := value(t, figures, "– in words of the list"); joined != test.joined || worded != test.worded {
			t.Errorf("%+v: %g, %g", test, joined, worded)
		}
	}
}

// TestInversesAreWordsOfTheList: "son of" says from the other side what "parent of" says.
func TestInversesAreWordsOfTheList(t *testing.T) {
	t.Parallel()
	gold := read(t, strings.Replace(list, "sister of", "parent of", 1))
	for relation, want := range map[string]float64{"Son of": 1, "brother of": 0} {
		figures := eval.Compare(gold, []eval.Entry{{
			ID: 1, Names: []string{"Tom Bell"}, Facts: []eval.Statement{{Relation: relation, Object: "Anna Bell"}},
		}}, nil)
		if got := value(t, figures, "– in words of the list"); got != want {
			t.Errorf("%q: %g", relation, got)
		}
	}
}

// TestSharedNamesMergeNothing: a name of two entries may mean each of them, so it says nothing of their being one.
func TestSharedNamesMergeNothing(t *testing.T) {
	t.Parallel()
	entries := []eval.Entry{
		{ID: 1, Names: []string{"Anna Bell", "Tom Bell"}}, {ID: 2, Names: []string{"Tom Bell", "Tom"}},
	}
	figures := eval.Compare(read(t, list), entries, nil)
	for name, want := range map[string]float64{
		"wrong merges, of entries with several names": .5, "– by names that no other entry has": 0,
	} {
		if got := value(t, figures, name); got != want {
			t.Errorf("%s: %.3f, want %.3f", name, got, want)
		}
	}
}

// TestListsHaveTwoForms: YAML and JSON give the same list.
func TestListsHaveTwoForms(t *testing.T) {
	t.Parallel()
	json := `{"entities": [{"name": "Anna Bell", "aliases": ["Anna", {"name": "Warden"}], "facts": [{"text": "x"}]}]}`
	yaml := "entities:\n- name: Anna Bell\n  aliases: [Anna, {name: Warden}]\n  facts: [{text: x}]\n"
	if a, b := read(t, json).String(), read(t, yaml).String(); a != b || !strings.Contains(a, "1 facts") {
		t.Errorf("%s; %s", a, b)
	}
	for _, text := range []string{"", "[]", "entities: []", "entities: [{name: '-'}]", "a: [", "{", `{"entities": 1}`} {
		if _, err := eval.Read([]byte(text)); annotator.KindOf(err) != annotator.Misused {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestPerfectCodex: a codex with exactly the names of a list has no fault, in whatever order its entries come. If all
// its entries are one, it has full recall of names and lower precision.
func TestPerfectCodex(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		words := rapid.StringMatching(`[A-Z][a-z]{3,8}`)
		names := rapid.SliceOfNDistinct(words, 2, 12, strings.ToLower).Draw(rt, "names")
		gold, all := &eval.Gold{}, eval.Entry{ID: 99}
		var entries []eval.Entry
		for i, name := range names {
			if i > 0 && rapid.Bool().Draw(rt, "alias") {
				last := len(entries) - 1
				entries[last].Names = append(entries[last].Names, name)
				gold.Entities[last].Aliases = append(gold.Entities[last].Aliases, eval.Name(name))
			} else {
				entries = append(entries, eval.Entry{ID: int64(i), Names: []string{name}})
				gold.Entities = append(gold.Entities, eval.Entity{Name: name})
			}
			all.Names = append(all.Names, name)
		}
		shuffled := rapid.Permutation(entries).Draw(rt, "order")
		figures := eval.Compare(gold, shuffled, nil)
		for _, name := range []string{
			"things with an entry", "entries a thing", "names B³: F", "names of things with an entry",
		} {
			if got := value(t, figures, name); got != 1 {
				rt.Fatalf("%s is %g", name, got)
			}
		}
		merged := eval.Compare(gold, []eval.Entry{all}, nil)
		if got := value(t, merged, "names B³: recall"); got != 1 {
			rt.Fatalf("recall of one entry for all is %g", got)
		}
		if got := value(t, merged, "names B³: precision"); len(gold.Entities) > 1 && got >= 1 {
			rt.Fatalf("precision of one entry for all is %g", got)
		}
	})
}

func TestCharactersOfPDNC(t *testing.T) {
	t.Parallel()
	g, err := eval.FromPDNC([]byte("Character ID,Main Name,Aliases,Gender,Category\n" +
		"0,Elizabeth Bennet,\"{'Lizzy', \"\"Miss Eliza's\"\", 'O\\'Bennet'}\",F,major\n1,_narr,{},U,minor\n"))
	if err != nil {
		t.Fatal(err)
	}
	if e := g.Entities[0]; len(g.Entities) != 1 || e.Importance != "major" || len(e.Aliases) != 3 {
		t.Errorf("%+v", g)
	}
}

func TestEntitiesOfLitBank(t *testing.T) {
	t.Parallel()
	g, err := eval.FromLitBank([]byte("T1\tPER 0 4\tMr. Tom Bell\nT2\tFAC 5 9\tthe streets\n" +
		"T3\tPER 9 12\tMr. Tom Bell\nR1\tx\ty\n"))
	if err != nil || len(g.Entities) != 1 || g.Entities[0].Kind != "person" {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestChainsOfLitBank: a chain is a thing, and its proper mentions are its names.
func TestChainsOfLitBank(t *testing.T) {
	t.Parallel()
	mention := func(id, text, kind, category string) string {
		return strings.Join([]string{"MENTION", id, "0", "0", "0", "1", text, kind, category}, "\t") + "\n"
	}
	text := mention("T1", "Mr. Bell", "PER", "PROP") + mention("T2", "his house", "FAC", "NOM") +
		mention("T3", "Tom Bell 's", "PER", "PROP") + "COREF\tT1\tBell-0\nCOREF\tT2\thouse-1\nCOREF\tT3\tBell-0\n"
	for range 8 {
		text += mention("T4", "he", "PER", "PRON")
	}
	g, err := eval.FromLitBank([]byte(text + "COREF\tT4\tBell-0\n"))
	if err != nil || len(g.Entities) != 1 {
		t.Fatalf("%+v, %v", g, err)
	}
	if e := g.Entities[0]; e.Name != "Mr. Bell" || !slices.Equal(e.Aliases, []eval.Name{"Tom Bell's"}) ||
		e.Importance != "major" || e.Kind != "person" {
		t.Errorf("%+v", e)
	}
}

// TestTitlesContradict: one thing has no titles of both men and women.
func TestTitlesContradict(t *testing.T) {
	t.Parallel()
	for names, want := range map[string]float64{
		"Mr. Bell/Mrs. Bell": 1, "Mr Bell/Miss Bell": 1, "Dr. Bell/Mrs. Bell": 0, "Madame Bell/Bell": 0,
		"Monsieur Bell/Frau Bell": 1, "the King/the Queen": 0,
	} {
		entries := []eval.Entry{{ID: 1, Names: strings.Split(names, "/")}}
		figures := eval.Compare(&eval.Gold{Entities: []eval.Entity{{Name: "Bell"}}}, entries, nil)
		if got := value(t, figures, "contradicting titles, of entries with several names"); got != want {
			t.Errorf("%s: %g", names, got)
		}
	}
}

// TestPoolAddsUp: the figures of several stories are those of all their units, whatever the stories are.
func TestPoolAddsUp(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var stories [][]eval.Figure
		part, whole := map[string]float64{}, map[string]float64{}
		for range rapid.IntRange(1, 4).Draw(rt, "stories") {
			gold, counts := &eval.Gold{}, map[string]float64{}
			var entries []eval.Entry
			for i, name := range []string{"Anna", "Tom", "Bell", "Forge"} {
				gold.Entities = append(gold.Entities, eval.Entity{Name: name})
				if at := rapid.IntRange(0, 4).Draw(rt, "entry"); at > 0 {
					other := []string{"Anna", "Zed"}[at%2]
					entries = append(entries, eval.Entry{ID: int64(i), Names: []string{name, other}})
				}
				counts[strings.ToLower(name)] = float64(rapid.IntRange(1, 9).Draw(rt, "mentions"))
			}
			figures := eval.Compare(gold, entries, counts)
			for _, f := range figures {
				part[f.Name], whole[f.Name] = part[f.Name]+f.Part, whole[f.Name]+f.Whole
			}
			stories = append(stories, figures)
		}
		for _, f := range eval.Pool(stories) {
			if math.Abs(f.Part-part[f.Name]) > 1e-9 || math.Abs(f.Whole-whole[f.Name]) > 1e-9 {
				rt.Fatalf("%s: %g of %g, want %g of %g", f.Name, f.Part, f.Whole, part[f.Name], whole[f.Name])
			}
			if f.Whole > 0 && (f.Value < f.Low-1e-9 || f.Value > f.High+1e-9) && len(stories) == 1 {
				rt.Fatalf("%s: %g is not in [%g, %g]", f.Name, f.Value, f.Low, f.High)
			}
		}
	})
}

// TestSheetIsReadBack: the answers on a sheet become figures. A text that a spreadsheet would take for a formula is
// written so that it is none.
func TestSheetIsReadBack(t *testing.T) {
	t.Parallel()
	entries := []eval.Entry{{ID: 1, Facts: []eval.Statement{
		{ID: 1, Text: "=1+1", Open: true}, {ID: 2, Text: "She sings.", Open: true}, {ID: 3, Text: "Over."},
	}}}
	sample := eval.Sample(entries, 10, 1)
	var sheet strings.Builder
	if err := eval.WriteSheet(&sheet, sample); err != nil || len(sample) != 2 {
		t.Fatal(err, len(sample))
	}
	if strings.Contains(sheet.String(), ",=1") {
		t.Errorf("a formula: %s", sheet.String())
	}
	if _, err := eval.ReadSheet(strings.NewReader(sheet.String())); annotator.KindOf(err) != annotator.Misused {
		t.Errorf("an empty sheet: %v", err)
	}
	filled := strings.Replace(sheet.String(), ",,,,,\n", ",yes,,no,,\n", 1)
	filled = strings.Replace(filled, ",,,,,\n", ",partly,,,,\n", 1)
	figures, err := eval.ReadSheet(strings.NewReader(filled))
	if err != nil || value(t, figures, "judged: supported") != .75 || value(t, figures, "judged: quote bears") != 0 {
		t.Errorf("%v, %v", figures, err)
	}
	if _, err := eval.ReadSheet(strings.NewReader(strings.Replace(filled, "yes", "maybe", 1))); err == nil ||
		!strings.Contains(err.Error(), "line") {
		t.Errorf("an unknown answer: %v", err)
	}
}

// FuzzLists: no text makes a reader of lists fail other than with an error.
func FuzzLists(f *testing.F) {
	f.Add([]byte(list))
	f.Add([]byte(`{"entities":[{"name":"a","aliases":[1]}]}`))
	f.Add([]byte("Main Name,Aliases\na,{'b'}\n"))
	f.Add([]byte("T1\tPER 0 4\tTom\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func([]byte) (*eval.Gold, error){eval.Read, eval.FromPDNC, eval.FromLitBank} {
			g, err := read(text)
			if err == nil {
				eval.Compare(g, []eval.Entry{{ID: 1, Names: []string{"a", "Tom"}}}, nil)
			} else if annotator.KindOf(err) != annotator.Misused {
				t.Errorf("%q: %v", text, err)
			}
		}
		_, _ = eval.ReadSheet(strings.NewReader(string(text)))
	})
}

// TestDocumentedList: the list that the document shows is one.
func TestDocumentedList(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "docs", "eval.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "```yaml\n")
	shown, _, found := strings.Cut(rest, "```")
	if !found {
		t.Fatal("docs/eval.md shows no list")
	}
	if g := read(t, shown); len(g.Entities) < 2 {
		t.Errorf("docs/eval.md shows %s", g)
	}
}

// TestListOfTheSample: the posts that the list of the sample names have the words that it quotes.
func TestListOfTheSample(t *testing.T) {
	t.Parallel()
	folder := filepath.Join("..", "testdata", "lanterns")
	list, err := os.ReadFile(filepath.Join(folder, "gold.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	story, err := os.ReadFile(filepath.Join(folder, "lanterns.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	bodies := map[int64]string{}
	for line := range strings.Lines(string(story)) {
		var post struct {
			ID   int64
			Body string
		}
		if err := json.Unmarshal([]byte(line), &post); err != nil {
			t.Fatal(err)
		}
		bodies[post.ID] = post.Body
	}
	g, facts := read(t, string(list)), 0
	for i := range g.Entities {
		for _, f := range g.Entities[i].Facts {
			if facts++; f.Quote == "" || !strings.Contains(bodies[f.Post], f.Quote) {
				t.Errorf("%s: post %d has no %q", g.Entities[i].Name, f.Post, f.Quote)
			}
		}
	}
	if facts < 30 || len(g.Relations) == 0 || len(g.Traps) == 0 {
		t.Errorf("the list has %s", g)
	}
}
