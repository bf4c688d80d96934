package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
	"annotator/metrics"
	"annotator/storage"
	"annotator/view"
	"annotator/web"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// serveOptions are the options of `annotator serve`.
type serveOptions struct {
	*app
	*settings
	address
	databases []string
	asOf      string
	share     string
	open      bool
	edits     bool
	by        string // who edits
}

func newServe(a *app) *cobra.Command {
	o := &serveOptions{app: a, settings: newSettings()}
	cmd := &cobra.Command{
		Use:   "serve [SOURCE]...",
		Short: "Show codexes in a browser, during a run or after it",
		Long: longHelp(`
Show codexes in a browser: entries with their quotations in place, the story with its names linked, the run while it
goes on, snapshots, plots and the audit. Every page can be limited to a point of the story; it then shows nothing that
is told later. With --as-of, no reader can be shown more than that, whatever they set.

Pages change nothing, unless --allow-edits lets them take edits of a person. A form of another site is refused, and so
is one of a reader who has no more than a shared link.

SOURCE is a story whose run has a database beside it, or such a database. Without any, all databases in this folder are
served. Each has its own address, by its name. Where there are several, one that cannot be read is named and left out.

Questions can be put to a snapshot if an endpoint is named, by a flag, the environment or a configuration file. An
address beyond this machine requires --token-file; whoever opens a page is asked for the token. --share prints a link
that opens the pages without it, up to a point of the story. The limit is signed: an edited link opens nothing. The key
is in a file with the name of the database and ".share"; links are void when it is removed.

/metrics has figures of the runs for Prometheus, unless --as-of sets a limit. /health says whether the server works.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator serve book.epub
  annotator serve --db book.annotator.db --db quest.annotator.db --open
  annotator serve book.epub --allow-edits
  annotator serve book.epub --endpoint http://localhost:8000/v1
  annotator serve book.epub --as-of scene:200
  annotator serve book.epub --listen 192.168.1.20:8420 --token-file token.txt`,
		Args: arguments(0, unlimited),
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&o.databases, "db", nil, "database `FILE` of a run; may be repeated")
	o.readerFlags(flags)
	flags.StringVar(&o.share, "share", "",
		"print a link that shows pages up to this `POINT` without the token; empty: none")
	flags.BoolVar(&o.open, "open", false, "open the first page in the browser")
	o.addTo(flags, askSettings[:]...)
	return untilSignalled(cmd, o.run)
}

// readerFlags declares the flags that say where pages are served, to whom, and how far into the story.
func (o *serveOptions) readerFlags(flags *pflag.FlagSet) {
	o.addressFlags(flags, "127.0.0.1:8420", "`ADDRESS` and port to listen on; port 0: a free one")
	flags.StringVar(&o.asOf, "as-of", "",
		"the furthest `POINT` of the story that pages show: "+pointForms+"; empty: no limit")
	flags.BoolVar(&o.edits, "allow-edits", false,
		"take edits from forms on pages; whoever may open them without a shared link may send them")
	flags.StringVar(&o.by, "by", "", "the `NAME` of who edits on pages, which the history keeps; empty: nobody says")
}

func (o *serveOptions) run(ctx context.Context, sources []string) (err error) {
	if err := o.load(o.app); err != nil {
		return err
	}
	token, err := readToken(o.listen, o.tokenFile)
	if err != nil {
		return err
	}
	if o.share != "" && token == "" {
		return annotator.Errorf(annotator.Misused, "--share needs --token-file: without a token, all is open").
			WithAdvice("make one: `openssl rand -hex 16 > token.txt && chmod 600 token.txt`")
	}
	paths, err := o.paths(ctx, sources)
	if err != nil {
		return err
	}
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	options := web.Options{Token: token, Hosts: o.names(), Now: o.now, Log: func(err error) { o.printError(err) }}
	if o.sources["endpoint"] != defaultSource {
		options.Asker = o
	}
	if o.asOf == "" {
		options.Metrics = metrics.New(release, o.now)
	}
	if o.edits {
		options.Editor, options.FormToken = o, rand.Text()
		if options.By, err = editor(o.by); err != nil {
			return err
		}
	}
	for _, path := range paths {
		database, err := o.openForWeb(ctx, path, &open)
		if ctx.Err() != nil || err != nil && len(paths) == 1 {
			return err
		}
		if err != nil {
			options.Unreadable = append(options.Unreadable, web.Unreadable{File: filepath.Base(path), Err: advise(err)})
			continue
		}
		database.Name = nameForWeb(path, options.Databases)
		options.Databases = append(options.Databases, *database)
		if options.Metrics != nil {
			options.Metrics.Add(resolved(path), database.DB)
		}
	}
	for _, u := range options.Unreadable {
		o.printError(u.Err)
	}
	if len(options.Databases) == 0 {
		return annotator.Errorf(annotator.Misused, "none of %d databases can be read", len(paths)).
			WithAdvice("each is named above, with what to do")
	}
	server, err := web.New(options)
	if err != nil {
		return err
	}
	paths, err = o.sharedPaths(ctx, &options)
	if err != nil {
		return err
	}
	return o.serve(ctx, server, paths)
}

// paths returns the databases to serve: those named, those of the sources, else all in this folder. Of a source that is
// a folder, all are served.
func (o *serveOptions) paths(ctx context.Context, sources []string) ([]string, error) {
	paths := append([]string{}, o.databases...)
	for _, path := range paths {
		if !exists(path) {
			return nil, annotator.Errorf(annotator.NotFound, "there is no database at %s", path).
				WithAdvice("start a run with `annotator run SOURCE`, or name its database with --db")
		}
	}
	for _, source := range sources {
		if found, err := databasesIn(source); err == nil && len(found) > 1 && !exists(databaseOf(source)) {
			paths = append(paths, found...)
			continue
		}
		path, err := runOf(ctx, source)
		if err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if len(paths) > 0 {
		return paths, nil
	}
	paths, err := databasesIn(".")
	if len(paths) == 0 && err == nil {
		_, err = findDatabase("") // says what to do
	}
	return paths, err
}

// isRunDatabase reports whether a file is named like the database of a run, or is one.
func isRunDatabase(ctx context.Context, path string) bool {
	return isRunName(filepath.Base(path)) || withDatabase(ctx, path, func(*storage.DB) error { return nil }) == nil
}

// nameForWeb returns the name of a database in URLs: that of its file, with a number if it is taken.
func nameForWeb(path string, others []web.Database) string {
	stem := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".db"), ".annotator")
	stem = strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '.', r == '_':
			return r
		}
		return '-'
	}, stem), "-.")
	if slices.Contains([]string{"", "static", "sign-in", "metrics", "health"}, stem) {
		stem = "codex"
	}
	taken := map[string]bool{}
	for i := range others {
		taken[others[i].Name] = true
	}
	name := stem
	for n := 2; taken[name]; n++ {
		name = fmt.Sprintf("%s-%d", stem, n)
	}
	return name
}

// storyOf opens the corpus of a database. It returns nil for a missing corpus, and prints why one cannot be read.
func (o *serveOptions) storyOf(ctx context.Context, db *storage.DB, path string) *corpus.DB {
	story, err := openCorpus(ctx, db, path, autoCorpus, false)
	if err != nil {
		o.printError(annotator.Errorf(annotator.Misused, "%s is served without the text of its story: %w", path, err))
	}
	return story
}

// openForWeb opens a database for reading, and its corpus if possible: most pages need none.
func (o *serveOptions) openForWeb(ctx context.Context, path string, open *closers) (*web.Database, error) {
	db, err := storage.Open(ctx, path)
	if err != nil {
		return nil, explainCorpus(ctx, path, err)
	}
	open.add(db.Close)
	database := &web.Database{DB: db}
	if o.asOf != "" {
		if database.Point, err = view.ParsePoint(o.asOf); err != nil {
			return nil, err
		}
		if database.Limit, err = view.LimitAt(ctx, db, database.Point); err != nil {
			return nil, err
		}
	}
	if database.ShareKey, err = readShareKey(path+shareSuffix, o.share != ""); err != nil {
		return nil, err
	}
	if story := o.storyOf(ctx, db, path); story != nil {
		open.add(story.Close)
		database.Story = story
		database.Source = func(ctx context.Context) (*storage.Source, error) { return sourceOf(ctx, story) }
	}
	return database, nil
}

// serve serves until a signal ends it, which closes live pages immediately.
func (o *serveOptions) serve(ctx context.Context, server *web.Server, shared []string) error {
	return listenAndServe(ctx, o.listen, server.HTTP(ctx), func(address string) {
		fmt.Fprintf(o.out, "serving http://%s/ until it is interrupted\n", address)
		for _, path := range shared {
			fmt.Fprintf(o.out, "shared up to %s: http://%s%s\n", oneLine(o.share), address, path)
		}
		if o.open {
			go o.openBrowser("http://" + address + "/")
		}
	})
}

// openBrowser opens an address in the user's browser. It may return only when the user closes the browser.
func (o *serveOptions) openBrowser(address string) {
	command := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	if err := exec.Command(command[0], command[1:]...).Run(); err != nil { //nolint:noctx // see above
		o.say(fmt.Sprintf("the browser could not be opened (%v): open %s yourself", err, address))
	}
}

// Edit applies an operation of a person, or stores it for the run that is under way. See web.Editor.
func (o *serveOptions) Edit(ctx context.Context, db *storage.DB, op *annotator.Operation) (row int64, err error) {
	if err := checkEdit(ctx, db, *op); err != nil {
		return 0, err
	}
	quiet := *o.app
	quiet.err = io.Discard // the reader has the page, not this terminal
	done, err := (&edit{app: &quiet, corpus: autoCorpus}).submit(ctx, db.Path(), *op)
	if err != nil {
		return 0, err
	}
	return done.Row, nil
}

// Ask asks the model as of a snapshot, and records question and answer. See web.Asker.
func (o *serveOptions) Ask(ctx context.Context, db *storage.DB, snapshot int64,
	question string,
) (answer string, err error) {
	quiet := *o.app
	quiet.err = io.Discard // the reader has the page, not this terminal
	ask := &snapshotAskOptions{app: &quiet, settings: o.settings, corpus: autoCorpus}
	at, err := db.Snapshots.Get(ctx, snapshot)
	if err != nil {
		return "", err
	}
	err = ask.converse(ctx, db, &at, func(c *conversation) (err error) {
		answer, err = c.answer(ctx, question)
		return err
	})
	return answer, err
}
