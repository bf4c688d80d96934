package runner_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/model/offline"
	"annotator/runner"
	"annotator/storage"
)

// TestOrdinaryWorkIsFarFromTheCap counts, scene by scene, the known entries that a story names and the edits that the
// offline model makes of them. With -update books are read too, where they are, and the table is written down.
func TestOrdinaryWorkIsFarFromTheCap(t *testing.T) {
	t.Parallel()
	sources := []string{"../testdata/lanterns/lanterns.jsonl"}
	if *update {
		books, err := filepath.Glob("../../shared/corpora/*.epub")
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, books...)
	}
	table := "| Story | Scenes | Known entries that a scene names, median | 90 % of the scenes | most | Scenes that " +
		"name more than the cap |" +
		" Most edits of a scene that take something away |\n|---|---|---|---|---|---|---|\n"
	for _, source := range sources {
		w := workOf(t, source)
		table += w.row(source)
		if limit := runner.Defaults().EditCap; w.tookAway >= limit {
			t.Errorf("%s: the offline model takes something away %d times in a scene, of %d", source, w.tookAway, limit)
		}
	}
	t.Log("\n" + table)
	if *update {
		documented(t, "cap", table)
	}
}

// work is what there is to do in the scenes of a story.
type work struct {
	named    []int // known entries, by scene; sorted
	tookAway int   // the most edits of a scene that take something away
}

func (w *work) row(source string) string {
	n := len(w.named)
	more, _ := slices.BinarySearch(w.named, runner.Defaults().EditCap+1)
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d | %d |\n",
		strings.TrimSuffix(filepath.Base(source), filepath.Ext(source)), n,
		w.named[n/2], w.named[n*9/10], w.named[n-1], n-more, w.tookAway)
}

// workOf has the offline model read a story, and looks at what it made of it.
func workOf(t *testing.T, source string) *work {
	t.Helper()
	ctx := context.Background()
	s := &stage{
		t: t, dir: t.TempDir(), base: "http://offline/v1", config: defaults(),
		transport: offline.New(offline.Options{}),
	}
	s.corpus = filepath.Join(s.dir, "story.corpus.db")
	if _, err := ingest.Import(ctx, ingest.Options{Sources: []string{source}, Corpus: s.corpus}, nil); err != nil {
		t.Fatal(err)
	}
	if err := s.run("work"); err != nil {
		t.Fatal(err)
	}
	db := s.open("work")
	w, tookAway := &work{}, map[int]int{} // by scene
	for call, err := range db.Journal.Audit(ctx, storage.AuditFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if codex.Destructive(call.Revisions) {
			tookAway[call.Scene]++
			w.tookAway = max(w.tookAway, tookAway[call.Scene])
		}
	}
	var known []knownName
	for e, err := range db.Glossary.All(ctx) {
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Aliases {
			known = append(known, knownName{a, e.ID})
		}
	}
	slices.SortFunc(known, func(a, b knownName) int { return int(a.From - b.From) })
	w.count(t, s, db, known)
	return w
}

// knownName is a name of an entry.
type knownName struct {
	annotator.Alias
	entry int64
}

// count finds in each scene the names that were known before it.
func (w *work) count(t *testing.T, s *stage, db *storage.DB, known []knownName) {
	t.Helper()
	ctx := context.Background()
	source, err := corpus.Open(ctx, s.corpus)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = source.Close() }()
	names, index := map[int64][]string{}, mention.New()
	for n := 1; n <= s.state("work").Corpus.Scenes; n++ {
		for len(known) > 0 && known[0].From.Order() < annotator.Order(n)*annotator.OrderStep {
			entry := known[0].entry
			names[entry] = append(slices.Clone(names[entry]), known[0].Name)
			index.SetNames(entry, names[entry])
			known = known[1:]
		}
		row, err := db.Scenes.Get(ctx, n)
		if err != nil {
			t.Fatal(err)
		}
		posts, err := source.Scene(ctx, row.Thread.ID, row.Posts)
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for i := range posts {
			text.WriteString(posts[i].Body + "\n\n")
		}
		w.named = append(w.named, len(index.Find(text.String())))
	}
	slices.Sort(w.named)
}
