package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"annotator/fleet/store"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

var programs string // the folder of both programs

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "fleet"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(programs) }()
	for _, build := range []*exec.Cmd{
		exec.Command("go", "build", "-o", filepath.Join(programs, "annotator-fleet"), "."),
		exec.Command("go", "build", "-C", "..", "-o", programs, "./cmd/annotator"),
	} {
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v: %s\n", build, err, out)
			return 1
		}
	}
	return m.Run()
}

// server is an S3 server that can be silent.
type server struct {
	silent  atomic.Bool
	handler http.Handler
	url     string
}

func serve(t *testing.T) *server {
	t.Helper()
	backend := s3mem.New()
	if err := backend.CreateBucket("fleet"); err != nil {
		t.Fatal(err)
	}
	s := new(server)
	next := gofakes3.New(backend).Server()
	s.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.silent.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
	listener := httptest.NewServer(s.handler)
	t.Cleanup(listener.Close)
	s.url = listener.URL
	for name, value := range map[string]string{
		"AWS_ENDPOINT_URL": s.url, "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret",
		"AWS_CONFIG_FILE": "none", "AWS_SHARED_CREDENTIALS_FILE": "none", "ANNOTATOR_STORE": "s3://fleet/test",
		"JOB_COMPLETION_INDEX": "", "SLURM_ARRAY_TASK_ID": "", "TEMPORAL_ADDRESS": "", "TEMPORAL_CONFIG_FILE": "none",
	} {
		t.Setenv(name, value)
	}
	return s
}

// story writes a book of that many chapters, in which people meet at places.
func story(t *testing.T, name string, chapters int) string {
	t.Helper()
	random := rand.New(rand.NewPCG(uint64(chapters), 7))
	people := []string{"Marrow", "Dobrow", "Ysolde", "Tamsin Vale", "Captain Orrin", "Aldous"}
	places := []string{"Gullhaven", "the Salt Tower", "Merrowgate", "Ashfield"}
	var b strings.Builder
	for chapter := range chapters {
		fmt.Fprintf(&b, "Chapter %d\n\n", chapter+1)
		for range 60 {
			fmt.Fprintf(&b, "%s met %s at %s and they spoke. \"I came from %s,\" said %s, \"and I have %d keys.\"\n\n",
				people[random.IntN(6)], people[random.IntN(6)], places[random.IntN(4)], places[random.IntN(4)],
				people[random.IntN(6)], random.IntN(90))
		}
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// fleet runs a command to its end and returns its output and exit status.
func fleet(t *testing.T, args ...string) (out string, status int) {
	t.Helper()
	cmd := exec.Command(filepath.Join(programs, "annotator-fleet"), args...)
	text, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return string(text), cmd.ProcessState.ExitCode()
}

const ttl = 4 * time.Second // of leases

// workerCommand is a worker with a folder of its own.
func workerCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join(programs, "annotator-fleet"), append([]string{
		"worker", "--annotator", filepath.Join(programs, "annotator"), "--dir", dir, "--name", filepath.Base(dir),
		"--ttl", ttl.String(), "--look", "300ms",
	}, args...)...)
	cmd.Stderr = new(bytes.Buffer)
	return cmd
}

// export returns the codex in a database.
func export(t *testing.T, db string) string {
	t.Helper()
	out, err := exec.Command(filepath.Join(programs, "annotator"), "export", "--db", db, "--format", "json").Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// undisturbed is the codex of a story that one run has read, with more flags.
func undisturbed(t *testing.T, source string, flags ...string) string {
	t.Helper()
	db := filepath.Join(t.TempDir(), "story.annotator.db")
	corpus := filepath.Join(t.TempDir(), "corpus.db")
	args := append([]string{"run", source, "--db", db, "--corpus", corpus, "--quiet"}, flags...)
	if out, err := exec.Command(filepath.Join(programs, "annotator"), args...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return export(t, db)
}

// TestKilledWorkers has two workers read three stories. They are killed, stopped and drained, and the store is silent
// for a time. Each codex is as that of an undisturbed run.
func TestKilledWorkers(t *testing.T) {
	s := serve(t)
	names := []string{"one.txt", "two.txt", "three.txt"}
	want := map[string]string{}
	for i, name := range names {
		source := story(t, name, 9+disturbed()+6*i)
		want[name] = undisturbed(t, source)
		if out, status := fleet(t, "store", "add", source); status != 0 {
			t.Fatal(out)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	ended := make(chan error, 2)
	folder := t.TempDir()
	for i := range 2 {
		choices := rand.New(rand.NewPCG(random.Uint64(), 1))
		start := func() *exec.Cmd { return workerCommand(filepath.Join(folder, fmt.Sprintf("worker%d", i))) }
		go func() { ended <- manage(ctx, start, disturbed(), atRandom(choices)) }()
	}
	time.Sleep(5 * time.Second)
	s.silent.Store(true)
	time.Sleep(5 * time.Second) // longer than the lease
	s.silent.Store(false)
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	for _, name := range names {
		db := filepath.Join(t.TempDir(), "got.db")
		if out, status := fleet(t, "store", "get", name, db); status != 0 {
			t.Fatal(out)
		}
		if got := export(t, db); got != want[name] {
			t.Errorf("%s: the codex has %d bytes, and that of an undisturbed run %d", name, len(got), len(want[name]))
		}
	}
	out, _ := fleet(t, "store", "list", "--json")
	t.Log(out)
	if strings.Count(out, `"state":"done"`) != len(names) {
		t.Error("not all stories are done")
	}
}

// disturbed is how often each worker is disturbed: killed, stopped for longer than its lease, and drained.
func disturbed() int {
	if os.Getenv("ANNOTATOR_LONG") == "1" {
		return 12
	}
	return 5
}

// atRandom gives moments in a worker's first seconds.
func atRandom(random *rand.Rand) func() <-chan time.Time {
	return func() <-chan time.Time { return time.After(time.Duration(1000+random.IntN(3000)) * time.Millisecond) }
}

// manage starts a worker again and again until it has ended with 0. It disturbs the first of its lives at moments.
func manage(ctx context.Context, start func() *exec.Cmd, disturbed int, moment func() <-chan time.Time) error {
	for life := 0; ctx.Err() == nil; life++ {
		cmd := start()
		if err := cmd.Start(); err != nil {
			return err
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		var disturb <-chan time.Time
		if life < disturbed {
			disturb = moment()
		}
		select {
		case <-ended:
		case <-disturb:
			switch life % 3 {
			case 0:
				_ = cmd.Process.Kill()
			case 1: // longer than the lease
				_ = cmd.Process.Signal(syscall.SIGSTOP)
				time.Sleep(5 * time.Second)
				_ = cmd.Process.Signal(syscall.SIGCONT)
			case 2:
				_ = cmd.Process.Signal(syscall.SIGTERM)
			}
			<-ended
		}
		switch status := cmd.ProcessState.ExitCode(); status {
		case exitDone:
			return nil
		case -1, exitAgain, exitHalted: // killed, or to be started again
		default:
			return fmt.Errorf("a worker ends with %d: %s", status, cmd.Stderr)
		}
	}
	return ctx.Err()
}

// TestExitStatuses: a supervisor decides by them.
func TestExitStatuses(t *testing.T) {
	s := serve(t)
	dir := t.TempDir()
	annotator := filepath.Join(programs, "annotator")
	bad := filepath.Join(dir, "bad.epub")
	if err := os.WriteFile(bad, []byte("no book"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{bad, story(t, "good.txt", 2)} {
		if out, status := fleet(t, "store", "add", file); status != exitDone {
			t.Fatal(out)
		}
	}
	work := func(args ...string) []string {
		return append([]string{"worker", "--annotator", annotator, "--dir", filepath.Join(dir, "work")}, args...)
	}
	for _, c := range []struct {
		args   []string
		status int
		says   string
	}{
		{[]string{"--help"}, exitDone, "Exit status"},
		{[]string{"worker", "--help"}, exitDone, "-index"},
		{[]string{"strore"}, exitMisuse, "no command"},
		{[]string{"store", "list", "--ttl", "1s"}, exitMisuse, "at least"},
		{[]string{"store", "get", "x"}, exitMisuse, "takes 2"},
		{[]string{"store", "add", "--parts", "-1", "x"}, exitMisuse, "at least 0"},
		{[]string{"store", "get", "good.txt", "x"}, exitMisuse, "no copy"},
		{[]string{"store", "list", "--store", "s3://elsewhere"}, exitHalted, "NoSuchBucket"},
		{work("--annotator", "missing"), exitMisuse, "the program"},
		{work("--", "--unknown-flag"), exitMisuse, "unknown-flag"},
		{[]string{"cancel"}, exitMisuse, "takes stories"},
		{[]string{"submit", "--temporal", "127.0.0.1:1"}, exitHalted, "Temporal at 127.0.0.1:1"},
		{work("--index", "7", "--temporal", "127.0.0.1:1"), exitMisuse, "exclude each other"},
		{work("--index", "7"), exitDone, ""},
		{work("--index", "1"), exitDone, "has ended with 0"},
		{work("--index", "0"), exitFailed, "store list"},
		{work(), exitFailed, "store list"},
		{[]string{"store", "release", "bad.epub"}, exitDone, ""},
		{[]string{"store", "add", "--parts", "2", filepath.Join(dir, "bad.epub")}, exitMisuse, "begun otherwise"},
		{[]string{"store", "release", "good.txt"}, exitHalted, "nothing to release"},
		{[]string{"store", "list"}, exitDone, "good.txt\tdone"},
	} {
		if out, status := fleet(t, c.args...); status != c.status || !strings.Contains(out, c.says) {
			t.Errorf("%q ends with %d: %s", c.args, status, out)
		}
	}
	s.silent.Store(true)
	if out, status := fleet(t, "store", "check"); status != exitHalted {
		t.Errorf("a store that is away: %d: %s", status, out)
	}
}

// TestBounds simulates a story of many scenes: what is lost at any moment, and what is uploaded in all.
func TestBounds(t *testing.T) {
	for _, total := range []int{5, 50, 150, 1000, 5000} {
		for _, pace := range []time.Duration{time.Second, time.Minute, 20 * time.Minute} {
			m := store.Manifest{}
			since, worst := time.Duration(0), 0
			for scene := 1; scene <= total; scene++ {
				since += pace
				if isDue(&m, scene, since) {
					m.Scene, m.Bytes, since = scene, int64(scene)*1000, 0
					m.Uploaded += m.Bytes
				}
				if lost := scene - m.Scene; lost > max(lostScenes-1, scene/7) {
					t.Fatalf("%d scenes, one in %s: %d are lost at scene %d", total, pace, lost, scene)
				} else {
					worst = max(worst, lost)
				}
			}
			final := int64(total) * 1000
			if m.Uploaded+final > 10*final {
				t.Errorf("%d scenes, one in %s: %.1f times the final size is uploaded", total, pace,
					float64(m.Uploaded+final)/float64(final))
			}
			t.Logf("%d scenes, one in %s: at most %d are lost, %.1f times the size is uploaded", total, pace, worst,
				float64(m.Uploaded+final)/float64(final))
		}
	}
}
