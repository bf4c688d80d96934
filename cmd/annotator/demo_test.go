package main

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator/model/replay"
	"annotator/storage"
)

const (
	demoFile      = "demo.zip"
	demoRecording = "../../testdata/lanterns.recording.jsonl.gz"
	maxDemo       = 3 << 20 // bytes of the archive, which every copy of the program has
)

// TestDemo replays the recording of the sample story. The archive in the program has the codex of that; with -update it
// is written anew.
func TestDemo(t *testing.T) {
	t.Parallel()
	replayed := replayDemo(t)
	if *update {
		packDemo(t, replayed)
	}
	archive, err := os.ReadFile(demoFile)
	if err != nil || len(archive) > maxDemo {
		t.Fatalf("%d bytes: %v", len(archive), err)
	}
	if !*update && !bytes.Equal(archive, demoArchive) {
		t.Error("the program has another archive than the folder")
	}
	a, out := newTestApp(nil)
	a.now, a.err = time.Now, io.Discard
	folder := t.TempDir()
	a.cacheDir = func() (string, error) { return folder, nil }
	o := &demoOptions{serveOptions: serveOptions{app: a, settings: newSettings()}}
	path, err := o.unpack(t.Context(), archive)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := o.unpack(t.Context(), archive); err != nil || again != path {
		t.Error("unpacked again: ", again, err)
	}
	want, got := exportOf(t, a, out, replayed, "json"), exportOf(t, a, out, path, "json")
	if want != got {
		t.Errorf("the archive has another codex than the replay of %s; write it with `go test ./cmd/annotator "+
			"-run TestDemo -update`", demoRecording)
	}
	out.Reset()
	if status := a.run(t.Context(), []string{"verify", "--db", path}); status != exitDone {
		t.Errorf("verify ends with %d: %s", status, out)
	}
	if text := out.String(); !strings.Contains(text, "corpus           ok") {
		t.Errorf("the corpus was not compared: %s", text)
	}
}

// demoMade is a replay of the recording of the sample story.
var demoMade madeRun

// replayDemo returns the database of a replay of the recording of the sample story. The clock is that of the recording.
func replayDemo(t *testing.T) string {
	t.Helper()
	folder := demoMade.copy(t, func(folder string) {
		text, err := os.ReadFile("../../testdata/lanterns/lanterns.jsonl")
		source := filepath.Join(folder, "lanterns.jsonl")
		if err = errors.Join(err, os.WriteFile(source, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		recording, err := replay.Load(demoRecording)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := newTestApp(nil)
		a.err = io.Discard
		o := &runOptions{app: a, settings: newSettings(), quiet: true, hooks: &hooks{}}
		o.stories.sources = []string{source}
		o.corpus, o.db = filepath.Join(folder, demoCorpus), filepath.Join(folder, demoDatabase)
		o.recording.path = demoRecording
		a.now = func() time.Time {
			if o.recording.replayer == nil {
				return recording.Made
			}
			return o.recording.replayer.Now()
		}
		if err := o.run(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Logf("%+v", *o.recording.tally())
	})
	return filepath.Join(folder, demoDatabase)
}

// packDemo writes the archive. It names neither this machine nor its folders.
func packDemo(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	clock := time.UnixMilli(0)
	if err := withDatabase(ctx, path, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		clock = time.UnixMilli(run.Updated)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	db, err := storage.OpenWriter(ctx, path, "annotator demo", func() time.Time { return clock })
	if err != nil {
		t.Fatal(err)
	}
	run, err := db.Run.Status(ctx)
	if err == nil {
		err = db.Run.Configure(ctx, run.Endpoint, run.Model, demoCorpus)
	}
	compact := filepath.Join(t.TempDir(), demoDatabase)
	if err = errors.Join(err, db.Maintenance.Backup(ctx, compact), db.Close()); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	for _, file := range []string{compact, filepath.Join(filepath.Dir(path), demoCorpus)} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, local := range []string{filepath.Dir(path), hostname(t)} {
			// Shorter names are in any text.
			if len(local) > 4 && bytes.Contains(content, []byte(local)) {
				t.Errorf("%s names %s", file, local)
			}
		}
		part, err := w.Create(filepath.Base(file))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write(content); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(demoFile, packed.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func hostname(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// TestDemoKeepsFiles: a file that is there is not overwritten, neither the database nor the corpus.
func TestDemoKeepsFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mine.db", demoCorpus} {
		folder := t.TempDir()
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		a, _ := newTestApp(nil)
		a.now = time.Now
		status := a.run(t.Context(), []string{"demo", "--no-open", "--db", filepath.Join(folder, "mine.db")})
		if status != exitMisused {
			t.Errorf("%s: status %d", name, status)
		}
		if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
