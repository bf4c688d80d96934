package main

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/context/mention"
	"annotator/storage"
)

// commonKind is the third kind of names: with words that most entries hold in their names or definitions.
const commonKind = 2

// glossaryName is the name of the i-th entry of a made-up glossary. There are three kinds: a word, two, or two with small ones
// around them.
func glossaryName(i int) string {
	switch i % 3 {
	case 0:
		return properName(i)
	case 1:
		return properName(i%1_000) + " " + properName(i)
	}
	return "The " + properName(i) + " of " + properName(i/7)
}

// sceneNaming is a text of 2,000 words, in which every sentence but a few is followed by a name out of the glossary.
func sceneNaming(entries int) string {
	random := rand.New(rand.NewPCG(1, 2))
	var text strings.Builder
	for annotator.CountWords(text.String()) < 2_000 {
		sentence(&text, random)
		fmt.Fprintf(&text, " There stood %s.\n\n", glossaryName(random.IntN(entries)))
	}
	return text.String()
}

// timing is what a size of glossary costs.
type timing struct {
	entries int
	each    time.Duration // to find what a scene names, or to search for a name
	common  time.Duration // to search for a name with words that most entries have
	fill    time.Duration // to fill the index of names, or to write the entries
}

// timeMatching finds the names of a glossary in a scene.
func timeMatching(entries int) timing {
	began := time.Now()
	index := mention.New()
	for i := range entries {
		index.SetNames(int64(i), []string{glossaryName(i)})
	}
	t := timing{entries: entries, fill: time.Since(began)}
	text := sceneNaming(entries)
	t.each = perOperation(func() error {
		index.Find(text)
		return nil
	})
	return t
}

// timeSearch searches a glossary for names that it has.
func timeSearch(ctx context.Context, folder string, entries int) (timing, error) {
	db, err := storage.OpenWriter(ctx, filepath.Join(folder, fmt.Sprintf("search-%d.db", entries)), "measure", time.Now)
	if err != nil {
		return timing{}, err
	}
	defer func() { _ = db.Close() }()
	began := time.Now()
	if err := writeGlossary(ctx, db, entries); err != nil {
		return timing{}, err
	}
	t := timing{entries: entries, fill: time.Since(began)}
	if t.each, err = timeNames(ctx, db, entries, 1); err != nil {
		return t, err
	}
	t.common, err = timeNames(ctx, db, entries, commonKind)
	return t, err
}

// timeNames searches for names of one kind, as glossaryName has them.
func timeNames(ctx context.Context, db *storage.DB, entries, kind int) (time.Duration, error) {
	var failed error
	random := rand.New(rand.NewPCG(3, 4))
	each := perOperation(func() error {
		name := glossaryName(random.IntN(entries/3)*3 + kind)
		found, err := db.Glossary.Search(ctx, annotator.Query{Text: name, Limit: 10})
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("%q is there and is not found", name)
		}
		if err != nil {
			failed = err
		}
		return err
	})
	return each, failed
}

// writeGlossary writes the entries a thousand to a transaction.
func writeGlossary(ctx context.Context, db *storage.DB, entries int) error {
	scene := annotator.Scene{N: 1, Thread: annotator.Thread{ID: 1, Order: 1}, Posts: []annotator.Post{{ID: 1, Thread: 1}}}
	var listed iter.Seq2[*annotator.Scene, error] = func(yield func(*annotator.Scene, error) bool) { yield(&scene, nil) }
	if err := db.Run.Begin(ctx, storage.Corpus{Title: "made up"}, listed); err != nil {
		return err
	}
	const batch = 1_000
	for first := 0; first < entries; first += batch {
		row := annotator.Trace{Kind: annotator.TraceResult, Tool: "glossary_create", CallID: fmt.Sprint("batch", first)}
		err := db.Journal.RunTool(ctx, &row, nil, func(g *storage.Glossary, _ *annotator.Trace) error {
			for i := first; i < min(first+batch, entries); i++ {
				if err := writeEntry(ctx, g, i); err != nil {
					return err
				}
			}
			return nil
		}, func(row *annotator.Trace, cause error) { row.Error = cause.Error() })
		if err == nil && row.Error != "" {
			err = fmt.Errorf("write a glossary: %s", row.Error)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func writeEntry(ctx context.Context, g *storage.Glossary, i int) error {
	name := glossaryName(i)
	var definition strings.Builder
	fmt.Fprintf(&definition, "%s is number %d. ", name, i)
	sentence(&definition, rand.New(rand.NewPCG(uint64(i), 5)))
	text := definition.String()
	revisions, err := codex.Revise(&annotator.Entry{}, codex.Edit{
		Name: &name, Definition: &text, Tags: []string{"person"}, Actor: annotator.ActorModel, At: annotator.PlaceAt(1, 0),
	})
	if err != nil {
		return err
	}
	_, err = g.Revise(ctx, revisions)
	return err
}

// perOperation is how long an operation takes on the wall clock, on the average of a second.
func perOperation(operation func() error) time.Duration {
	result := testing.Benchmark(func(b *testing.B) {
		for b.Loop() {
			if err := operation(); err != nil {
				b.Fatal(err)
			}
		}
	})
	return time.Duration(result.NsPerOp())
}
