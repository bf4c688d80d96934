package web_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/storage"
)

// asker gives every question the same answer, or fails.
type asker struct {
	answer    string
	err       error
	questions []string
}

func (a *asker) Ask(_ context.Context, _ *storage.DB, _ int64, question string) (string, error) {
	a.questions = append(a.questions, question)
	return a.answer, a.err
}

// copySample returns the path of a copy of the sample's database.
func copySample(t *testing.T) string {
	t.Helper()
	if err := runSample(); err != nil {
		t.Fatal(err)
	}
	db, err := storage.Open(t.Context(), filepath.Join(sampleDir, "lanterns.annotator.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	path := filepath.Join(t.TempDir(), "copy.annotator.db")
	if err := db.Maintenance.Backup(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// addEntries makes an entry with each name, which is also its fact and its tag.
func addEntries(t *testing.T, path string, names []string) (ids []int64) {
	t.Helper()
	return addEntriesWith(t, path, names, func(name string) []string { return []string{name} })
}

// addEntriesWith makes an entry with each name, which is also its tag, and some facts.
func addEntriesWith(t *testing.T, path string, names []string, facts func(name string) []string) (ids []int64) {
	t.Helper()
	return addRevised(t, path, names, func(name string) (more []annotator.Revision) {
		for i, text := range facts(name) {
			more = append(more, newClaim(annotator.Claim{ID: int64(i + 1), Ord: i, Text: text}))
		}
		return more
	})
}

// newClaim is the revision that makes a claim, narrated unless it says otherwise.
func newClaim(c annotator.Claim) annotator.Revision {
	c.Kind = cmp.Or(c.Kind, annotator.Narrated)
	return annotator.Revision{Field: annotator.FieldClaim, New: annotator.EncodeJSON(c)}
}

// addRevised makes an entry with each name, which is also its tag, by more revisions at the last scene. The claims
// among them are told there.
func addRevised(t *testing.T, path string, names []string, more func(name string) []annotator.Revision) (ids []int64) {
	t.Helper()
	ctx := t.Context()
	db, err := storage.OpenWriter(ctx, path, "test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	run, err := db.Run.Status(ctx)
	if err != nil {
		t.Fatal(err)
	}
	scene, err := db.Scenes.OfTurn(ctx, run.Turn)
	if err != nil {
		t.Fatal(err)
	}
	at := annotator.PlaceAt(scene.Order, 0)
	for i, name := range names {
		row := &annotator.Trace{
			Turn: run.Turn, Seq: 1000 + i, Kind: annotator.TraceResult, Scene: scene.N,
			Tool: "glossary_create", Content: name,
		}
		err := db.Journal.RunTool(ctx, row, nil, func(g *storage.Glossary, _ *annotator.Trace) error {
			revisions := []annotator.Revision{
				{Field: annotator.FieldTerm, New: name, At: at, Actor: annotator.ActorModel},
				{
					Field: annotator.FieldAlias, New: annotator.EncodeJSON(annotator.Alias{Name: name, From: at}),
					At:    at,
					Actor: annotator.ActorModel,
				},
				{Field: annotator.FieldTag, New: name, At: at, Actor: annotator.ActorModel},
			}
			for _, r := range more(name) {
				r.At, r.Actor = at, annotator.ActorModel
				r.New = strings.Replace(r.New, `"from":0`, fmt.Sprintf(`"from":%d`, at), 1)
				revisions = append(revisions, r)
			}
			e, err := g.Revise(ctx, revisions)
			if err == nil {
				ids = append(ids, e.ID)
			}
			return err
		}, func(*annotator.Trace, error) { t.Error("the entry breaks a constraint") })
		if err != nil {
			t.Fatal(err)
		}
	}
	return ids
}
