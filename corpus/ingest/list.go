package ingest

import (
	"context"
	"os"
	"path/filepath"

	"annotator"
	"annotator/corpus"
)

// Listed is a thread that an import would make.
type Listed struct {
	Title  string `json:"title"`
	Words  int    `json:"words"`
	Scenes int    `json:"scenes"`
	Begins string `json:"begins"` // its first words
}

// List says what an import would make, and writes nothing: the corpus is made in a folder for temporary files, and
// removed.
func List(ctx context.Context, o Options, progress func(Progress)) (*Report, []Listed, error) {
	folder, err := os.MkdirTemp("", "annotator-list-")
	if err != nil {
		return nil, nil, annotator.Errorf(annotator.Storage, "make a folder for the list: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	o.Corpus = filepath.Join(folder, "list.corpus.db")
	report, err := Import(ctx, o, progress)
	if err != nil {
		return nil, nil, err
	}
	db, err := corpus.Open(ctx, report.Corpus)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = db.Close() }()
	var all []Listed
	for scene, err := range db.Scenes(ctx, 0) {
		if err != nil {
			return nil, nil, err
		}
		if scene.Opens {
			all = append(all, Listed{Title: scene.Thread.Title, Begins: firstWords(scene.Posts[0].Body)})
		}
		last := &all[len(all)-1]
		last.Words += scene.Words()
		last.Scenes++
	}
	return report, all, nil
}
