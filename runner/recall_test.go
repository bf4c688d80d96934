package runner_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/corpus/ingest"
	"annotator/eval"
	"annotator/model/offline"
)

// TestRecallOfTheSample prints how much of the hand-made glossary the offline model finds, and how much else it makes.
// It is a baseline: the bounds only keep it from getting worse unawares.
func TestRecallOfTheSample(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := &stage{
		t: t, dir: t.TempDir(), base: "http://offline/v1", config: defaults(),
		transport: offline.New(offline.Options{}),
	}
	s.corpus = filepath.Join(s.dir, "lanterns.corpus.db")
	_, err := ingest.Import(ctx, ingest.Options{
		Sources: []string{"../testdata/lanterns/lanterns.jsonl"},
		Corpus:  s.corpus,
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.run("lanterns"); err != nil {
		t.Fatal(err)
	}
	s.verify("lanterns")

	encoded, err := os.ReadFile("../testdata/lanterns/gold.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list, err := eval.Read(encoded)
	if err != nil {
		t.Fatal(err)
	}
	wanted := list.Entities
	golden, found := map[string]int{}, map[int]bool{}
	for i, g := range wanted {
		term, _ := codex.SplitName(g.Name)
		for _, name := range append(g.Aliases, eval.Name(term), eval.Name(g.Name)) {
			golden[codex.Normalize(strings.TrimPrefix(string(name), "the "))] = i
		}
	}
	entries, right := 0, 0
	for e, err := range s.open("lanterns").Glossary.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		if !e.Status.Live() {
			continue
		}
		entries++
		if at, ok := match(golden, e); ok {
			right++
			found[at] = true
		}
	}
	recall, precision := share(len(found), len(wanted)), share(right, entries)
	t.Logf("the offline model finds %d of %d gold names (recall %.2f); %d of its %d entries are gold (precision %.2f)",
		len(found), len(wanted), recall, right, entries, precision)
	if recall < 0.5 || precision < 0.8 {
		t.Errorf("recall %.2f, precision %.2f", recall, precision)
	}
}

func match(golden map[string]int, e *annotator.Entry) (int, bool) {
	for _, alias := range e.Aliases {
		if at, ok := golden[codex.Normalize(strings.TrimPrefix(alias.Name, "the "))]; ok {
			return at, true
		}
	}
	return 0, false
}

func share(part, whole int) float64 { return float64(part) / float64(max(whole, 1)) }
