package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"annotator"
	"annotator/internal/atomicfile"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// demoArchive has a run of the sample story: its database and its corpus. TestDemo makes it from a recording.
//
//go:embed demo.zip
var demoArchive []byte

// The files of the archive.
const (
	demoDatabase = "lanterns.annotator.db"
	demoCorpus   = "lanterns.corpus.db"
)

// demoStory is the title of the sample story.
const demoStory = "The Lanterns of Hallowmere"

// demoOptions are the options of `annotator demo`.
type demoOptions struct {
	serveOptions
	db     string
	noOpen bool
}

func newDemo(a *app) *cobra.Command {
	o := &demoOptions{serveOptions: serveOptions{app: a, settings: newSettings()}}
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show the codex of the sample story, which is part of the program",
		Long: longHelp(`
Show a finished codex: that of the sample story, which is part of the program. Its database and the text of the story
are unpacked into one folder, and served to a browser as by serve, until the command is interrupted. Neither a model nor
a network is needed. All other commands can be tried with the database.

Without --db it is unpacked into the folder of this user's caches, once; what is changed there is kept. FILE must not
exist. With --no-open it is only unpacked.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator demo
  annotator demo --no-open --db lanterns.annotator.db
  annotator demo --as-of scene:20`,
	}
	flags := cmd.Flags()
	flags.StringVar(&o.db, "db", "", "new `FILE` for the database; empty: in the folder of this user's caches")
	flags.BoolVar(&o.noOpen, "no-open", false, "unpack the database, say what it is, and exit")
	o.readerFlags(flags)
	o.addTo(flags, askSettings[:]...)
	return untilSignalled(cmd, func(ctx context.Context, _ []string) error { return o.run(ctx) })
}

func (o *demoOptions) run(ctx context.Context) error {
	path, err := o.unpack(ctx, demoArchive)
	if err != nil {
		return err
	}
	err = withDatabase(ctx, path, func(db *storage.DB) error { return o.introduce(ctx, db) })
	if err != nil || o.noOpen {
		return err
	}
	fmt.Fprintln(o.out)
	o.databases, o.open = []string{path}, true
	return o.serveOptions.run(ctx, nil)
}

// unpack returns the path of the database, with its corpus in the same folder. It unpacks them if they are not there
// yet, and brings the database up to date.
func (o *demoOptions) unpack(ctx context.Context, archive []byte) (path string, err error) {
	files, err := readDemo(archive)
	if err != nil {
		return "", err
	}
	path = o.db
	switch {
	case path != "" && exists(path):
		return "", annotator.Errorf(annotator.Misused, "%s exists, and is not overwritten", path).
			WithAdvice("name another file with --db, or show it with `annotator serve --db %s --open`", quoted(path))
	case path == "":
		cache, err := o.cacheDir()
		if err != nil {
			return "", annotator.Errorf(annotator.Misused, "find the folder of this user's caches: %w", err).
				WithAdvice("name a file with --db")
		}
		// another archive gets a folder of its own: the user may have changed what is there
		path = filepath.Join(cache, "annotator", fmt.Sprintf("demo-%x", sha256.Sum256(archive))[:13], demoDatabase)
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	story := filepath.Join(filepath.Dir(path), demoCorpus)
	err = cmp.Or(os.MkdirAll(filepath.Dir(path), 0o755), unpackFile(story, files[demoCorpus]))
	if err == nil && !exists(path) {
		err = unpackFile(path, files[demoDatabase])
	}
	if err != nil {
		return "", annotator.Errorf(annotator.Misused, "unpack the sample story: %w", atomicfile.Cause(err)).
			WithAdvice("name with --db a file in a folder that can be written and has no demo of another version")
	}
	return path, o.settle(ctx, path, story)
}

// readDemo returns the files of an archive by name.
func readDemo(archive []byte) (map[string][]byte, error) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, name := range []string{demoDatabase, demoCorpus} {
		file, err := r.Open(name)
		if err != nil {
			return nil, err
		}
		if files[name], err = io.ReadAll(file); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// unpackFile writes a new file. One with the same content may be there.
func unpackFile(path string, content []byte) error {
	if found, err := os.ReadFile(path); err == nil {
		if bytes.Equal(found, content) {
			return nil
		}
		return fmt.Errorf("%s exists, and has something else", path)
	}
	file, err := atomicfile.CreateShared(path)
	if err != nil {
		return err
	}
	defer file.Discard()
	if err = os.WriteFile(file.Path, content, 0o600); err != nil {
		return err
	}
	if err = file.CommitNew(); errors.Is(err, fs.ErrExist) { // another process was faster
		return nil
	}
	return err
}

// settle brings a database up to date, and records where its corpus is. A database that another process writes has
// been brought up to date by that.
func (o *demoOptions) settle(ctx context.Context, path, story string) error {
	err := o.withWriter(ctx, path, func(db *storage.DB) error {
		run, err := db.Run.Status(ctx)
		if err != nil || run.Corpus.Path == story {
			return err
		}
		return db.Run.Configure(ctx, run.Endpoint, run.Model, story)
	})
	if annotator.KindOf(err) == annotator.InUse {
		return nil
	}
	return err
}

// introduce prints what the codex is of, what made it and when, what it cost, and what can be done with it.
func (o *demoOptions) introduce(ctx context.Context, db *storage.DB) error {
	s, err := readStatus(ctx, db, o.now())
	if err != nil {
		return err
	}
	entries, err := db.Glossary.MostRevised(ctx, 1)
	if err != nil {
		return err
	}
	usage := s.Tokens.usage()
	text := fmt.Sprintf("%s, the sample story: %s, %s\nread on %s by %s\nin %s, %s\n%s", demoStory,
		annotator.Quantity(s.Scenes.Recorded, "scene"), annotator.Quantity(total(s.Entries), "entry"),
		s.Started.UTC().Format(time.DateOnly), oneLine(s.modelAndEndpoint()),
		annotator.Quantity(s.Calls.OK, "call"), tokens(usage), oneLine(db.Path()))
	fmt.Fprintln(o.out, wrapLines(text, terminalWidth(o.out)))
	path, name := quoted(db.Path()), "lantern"
	if len(entries) > 0 {
		name = oneLine(entries[0].Name())
	}
	fmt.Fprintf(o.out, "\nnext, without what the story tells after its eighth scene:\n  %s\n", strings.Join([]string{
		"annotator show --db " + path + " --as-of scene:8 " + quoted(name),
		"annotator search --db " + path + " --as-of scene:8 lantern",
		"annotator serve --db " + path + " --open",
	}, "\n  "))
	return nil
}

// total counts the live entries.
func total(byStatus map[annotator.Status]int) (n int) {
	for status, count := range byStatus {
		if status.Live() {
			n += count
		}
	}
	return n
}
