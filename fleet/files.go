package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"annotator/fleet/store"
)

// files are those of a story, or of a part of one, on this machine.
type files struct {
	name, dir, source string
	story             string   // the database of the story
	db                string   // what this run writes: that database, or the one of the part
	flags             []string // of annotator run: which part
}

// newFiles returns the files of a story or part, given the number of the story's parts.
func (w *worker) newFiles(name string, parts int) files {
	story, part, of := store.PartOf(name)
	f := files{name: name, dir: filepath.Join(w.dir, strings.ReplaceAll(name, "/", "."))}
	f.source = filepath.Join(f.dir, story)
	f.story = filepath.Join(f.dir, "story.annotator.db")
	if parts = max(parts, of); parts > 0 {
		f.story = joinedOf(f.source) // its journal names the databases of the parts
		f.flags = []string{"--parts", strconv.Itoa(parts)}
	}
	f.db = f.story
	if part > 0 {
		f.db = partOf(f.source, part)
		f.flags = append(f.flags, "--part", strconv.Itoa(part))
	}
	return f
}

// joinedOf and partOf return the databases that annotator run has by itself for a source and its parts.
func joinedOf(source string) string {
	return strings.TrimSuffix(source, filepath.Ext(source)) + ".annotator.db"
}

func partOf(source string, part int) string {
	folder := strings.TrimSuffix(source, filepath.Ext(source)) + ".parts"
	return filepath.Join(folder, fmt.Sprintf("part%d.annotator.db", part))
}

// holder says whose work the database in a folder is.
type holder struct {
	Fence int64  `json:"fence"`
	Token string `json:"token"`
}

// open makes the files of a story or part. A database that this machine has is used if nobody had the story since: it
// may be ahead of the copy. Any other is set aside.
func (w *worker) open(
	ctx context.Context, name string, lease *store.Lease, before *store.Manifest,
) (f files, err error) {
	f = w.newFiles(name, before.Parts)
	note := filepath.Join(f.dir, "lease.json")
	var local holder
	text, err := os.ReadFile(note)
	if err == nil {
		_ = json.Unmarshal(text, &local)
	}
	if _, err := os.Stat(f.dir); err == nil && (local.Token == "" || local.Token != before.Token) {
		aside := fmt.Sprintf("%s.aside-%d-%d", f.dir, local.Fence, time.Now().UnixNano())
		if err := os.Rename(f.dir, aside); err != nil {
			return f, err
		}
		w.say("%s: another worker has had it since; the former database is set aside in %s", name, aside)
	}
	if _, err := os.Stat(f.dir); err != nil {
		if err := w.restore(ctx, f, before); err != nil {
			return f, err
		}
	}
	m := lease.Manifest()
	text, err = json.Marshal(holder{m.Fence, m.Token})
	if err == nil {
		err = os.WriteFile(note+".new", text, 0o600)
	}
	if err == nil {
		err = os.Rename(note+".new", note)
	}
	return f, err
}

// restore begins with what the store has. A join has the databases of all parts.
func (w *worker) restore(ctx context.Context, f files, before *store.Manifest) (err error) {
	story, _, _ := store.PartOf(f.name)
	source, err := w.store.Source(ctx, story)
	if err != nil {
		return fmt.Errorf("read the file of %s: %w", story, err)
	}
	if err := os.Mkdir(f.dir, 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.RemoveAll(f.dir)
		}
	}()
	if err := os.WriteFile(f.source, source, 0o600); err != nil {
		return err
	}
	if err := fetchParts(ctx, w.store, story, before.Parts, f.source); err != nil {
		return err
	}
	return fetch(ctx, w.store, before, f.db)
}

// fetchParts writes the newest copies of a story's parts to where a run of the source has them.
func fetchParts(ctx context.Context, s *store.Store, story string, parts int, source string) error {
	for i, name := range store.Parts(story, parts) {
		m, _, err := s.Read(ctx, name)
		if err == nil {
			err = fetch(ctx, s, &m, partOf(source, i+1))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// fetch writes the copy that a manifest names to a new file, if it names one.
func fetch(ctx context.Context, s *store.Store, m *store.Manifest, path string) error {
	data, err := s.Database(ctx, m)
	if err != nil || data == nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", errMisuse, err)
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}
