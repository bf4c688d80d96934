//go:build linux && (amd64 || arm64)

package faults_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"annotator"
	"annotator/corpus/ingest"
	"annotator/exporters"
	"annotator/internal/scripted"
	"annotator/runner"
	"annotator/runner/notify"
	"annotator/storage"
)

// scenarioEnv is the environment variable with the scenario that a child of the test binary runs.
const scenarioEnv = "ANNOTATOR_TEST_SCENARIO"

// scenario is a sequence of steps of the program in a folder. It imports a source, reads a story in two runs, and makes
// a copy and a branch. Then it exports a file, and another that replaces it.
type scenario struct {
	Folder, Source, Corpus, Server string
	Config                         runner.Config
	Alone                          bool   // nothing else on the system can be written
	Link                           string // to a database in a folder on another machine; nothing may be written there
}

func (l *scenario) database() string { return filepath.Join(l.Folder, "story.db") }
func (l *scenario) backup() string   { return filepath.Join(l.Folder, "copy.db") }
func (l *scenario) branch() string   { return filepath.Join(l.Folder, "branch.db") }
func (l *scenario) export() string   { return filepath.Join(l.Folder, "codex.json") }
func (l *scenario) importing() ingest.Options {
	return ingest.Options{Sources: []string{l.Source}, Corpus: filepath.Join(l.Folder, "imported.corpus.db")}
}

// newScenario returns a scenario before its first step, with its own server.
func newScenario(t *testing.T, b *bench) scenario {
	t.Helper()
	server := scripted.Start(t, scripted.Options{Script: keepsGlossary})
	source := filepath.Join(t.TempDir(), "tale.txt")
	if err := os.WriteFile(source, []byte(strings.Repeat("The lantern burned in room 1 while the warden slept.\n\n",
		300)), 0o600); err != nil {
		t.Fatal(err)
	}
	return scenario{Folder: t.TempDir(), Source: source, Corpus: b.corpus, Server: server.URL, Config: b.config}
}

// environment returns the setting by which a child of the test binary runs the scenario.
func (l *scenario) environment(t *testing.T) string {
	t.Helper()
	encoded, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	return scenarioEnv + "=" + string(encoded)
}

// exported is the content of the export: not a codex, but long enough for a partial write.
func exported(n int) string { return strings.Repeat(fmt.Sprintf("This is export %d. ", n), 200) }

// acknowledged is the state that a scenario has acknowledged as durable.
type acknowledged struct {
	Step                                     string // the step it is in
	Imported, Copied, Branched               bool
	Exported                                 int
	Compacted                                bool
	Journal, Codex, Calls, Scenes, Snapshots int // rows
}

// none reports whether the database may be missing.
func (b *acknowledged) none() bool { return b.Journal+b.Codex+b.Calls+b.Scenes+b.Snapshots == 0 }

// exceeds reports whether a state has less than was acknowledged.
func (b *acknowledged) exceeds(seen *acknowledged) bool {
	return b.Journal > seen.Journal || b.Codex > seen.Codex || b.Calls > seen.Calls || b.Scenes > seen.Scenes ||
		b.Snapshots > seen.Snapshots
}

// count counts the rows that another connection to the database sees.
func (b *acknowledged) count(db *sql.DB) error {
	return db.QueryRow(`SELECT (SELECT count(*) FROM trace), (SELECT count(*) FROM revision),
		(SELECT count(*) FROM call),
		(SELECT count(*) FROM scene WHERE state = 'recorded'), (SELECT count(*) FROM snapshot)`).
		Scan(&b.Journal, &b.Codex, &b.Calls, &b.Scenes, &b.Snapshots)
}

// runScenario runs an encoded scenario and returns the exit status.
func runScenario(encoded string) int {
	var l scenario
	if err := json.Unmarshal([]byte(encoded), &l); err != nil {
		fmt.Println(err)
		return 1
	}
	calls, run := append(recordedCalls(), unsupportedCalls()...), l.run
	if l.Link != "" {
		calls, run = []int{syscall.SYS_STATFS}, l.runOnNetwork
	}
	ready := func() error { return filter(calls, tellTracer) }
	if l.Alone {
		ready = func() error { return leaveOnly(l.Folder) }
	}
	if err := ready(); err != nil {
		fmt.Println(err)
		return noMeans
	}
	if err := run(context.Background()); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// run executes all steps, and acknowledges each when the program reports it as done.
func (l *scenario) run(ctx context.Context) error {
	var now acknowledged
	out := os.NewFile(ackFD, "acknowledged")
	acknowledge := func() {
		text, _ := json.Marshal(now)
		_, _ = out.Write(text)
	}
	for _, stage := range []struct {
		name string
		do   func() error
		done func()
	}{
		{
			"the import", func() error { _, err := ingest.Import(ctx, l.importing(), nil); return err },
			func() { now.Imported = true },
		},
		{"the first run", func() error { return l.readSome(ctx, 2, &now, acknowledge) }, nil},
		{"the second run", func() error { return l.readSome(ctx, 0, &now, acknowledge) }, nil},
		{"the copy", func() error { return l.copy(ctx) }, func() { now.Copied = true }},
		{
			"the branch", func() error { return storage.Branch(ctx, l.database(), l.branch(), 2) },
			func() { now.Branched = true },
		},
		{"the first export", func() error { return l.write(1) }, func() { now.Exported = 1 }},
		{"the second export", func() error { return l.write(2) }, func() { now.Exported = 2 }},
	} {
		now.Step = stage.name
		acknowledge()
		if err := stage.do(); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
		if stage.done != nil {
			stage.done()
		}
		acknowledge()
	}
	return nil
}

// readSome reads some scenes of the story. At every notice it acknowledges the rows that another connection sees. After
// every scene it checkpoints the write-ahead log, as the run itself does for a long log.
func (l *scenario) readSome(ctx context.Context, limit int, now *acknowledged, acknowledge func()) error {
	aside, err := sql.Open("sqlite", "file:"+l.database()+"?mode=ro")
	if err != nil {
		return err
	}
	var failed error
	p := l.program()
	p.config.Limit = limit
	p.watcher = watcher(func(n annotator.Notice) {
		failed = errors.Join(failed, now.count(aside))
		now.Compacted = now.Compacted || n.Kind == annotator.NoticeCompaction
		acknowledge()
		switch n.Kind {
		case annotator.NoticeScene:
			failed = errors.Join(failed, fold(ctx, l.database()))
		case annotator.NoticeEnd:
			failed = errors.Join(failed, aside.Close()) // the run must be the last that closes the database
		}
	})
	return errors.Join(p.run(ctx), failed)
}

func (l *scenario) copy(ctx context.Context) error {
	db, err := storage.Open(ctx, l.database())
	if err != nil {
		return err
	}
	return errors.Join(db.Maintenance.Backup(ctx, l.backup()), db.Close())
}

func (l *scenario) write(n int) error {
	return exporters.WriteFile(l.export(), func(w io.Writer) error {
		_, err := io.WriteString(w, exported(n))
		return err
	})
}

func (l *scenario) program() program {
	return program{
		corpus: l.Corpus, db: l.database(), wire: wires()[0], server: l.Server, config: l.Config,
		watcher: &notify.Bus{},
	}
}
