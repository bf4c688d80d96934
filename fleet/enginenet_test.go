package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// startEngine starts Temporal, and returns its address. It is built when tests run in full.
func startEngine(t *testing.T) (address string) {
	t.Helper()
	if os.Getenv("ANNOTATOR_LONG") != "1" {
		t.Skip("Temporal is built when tests run in full")
	}
	program := filepath.Join(t.TempDir(), "engine")
	build := exec.CommandContext(t.Context(), "go", "build", "-C", "engine", "-o", program, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as the gate: it takes minutes for each
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = input.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, namespace, _ := strings.Cut(strings.TrimSpace(line), " ")
	t.Setenv("TEMPORAL_NAMESPACE", namespace)
	t.Setenv("TEMPORAL_ADDRESS", address)
	return address
}

// wire is between workers and the engine. It refuses, closes and delays connections.
type wire struct {
	listener net.Listener
	engine   string
	open     sync.WaitGroup

	refused, closed, delayed atomic.Int64
}

// lay lays a wire until the test ends.
func lay(t *testing.T, engine string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{listener: listener, engine: engine}
	ctx, cancel := context.WithCancel(context.Background())
	w.open.Go(func() { w.accept(ctx) })
	t.Cleanup(func() {
		cancel()
		_ = listener.Close()
		w.open.Wait()
	})
	return w
}

// accept refuses a quarter of the connections, and closes each other after some seconds.
func (w *wire) accept(ctx context.Context) {
	random := rand.New(rand.NewPCG(1, 4))
	for {
		near, err := w.listener.Accept()
		if err != nil {
			return
		}
		if random.IntN(4) == 0 {
			w.refused.Add(1)
			_ = near.Close()
			continue
		}
		life := ttl/4 + time.Duration(random.Int64N(int64(2*ttl)))
		choices := rand.New(rand.NewPCG(random.Uint64(), 4))
		w.open.Go(func() { w.connect(ctx, near, life, choices) })
	}
}

func (w *wire) connect(ctx context.Context, near net.Conn, life time.Duration, random *rand.Rand) {
	ctx, cancel := context.WithTimeout(ctx, life)
	defer cancel()
	far, err := net.Dial("tcp", w.engine)
	if err != nil {
		_ = near.Close()
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		choices := rand.New(rand.NewPCG(random.Uint64(), 4))
		both.Go(func() {
			defer cancel()
			w.pass(ctx, way[0], way[1], choices)
		})
	}
	<-ctx.Done()
	if ctx.Err() == context.DeadlineExceeded {
		w.closed.Add(1)
	}
	_ = near.Close()
	_ = far.Close()
	both.Wait()
}

// pass hands on what comes. A twentieth of it is late by up to half of the lease, and all that follows with it.
func (w *wire) pass(ctx context.Context, from io.Reader, to io.Writer, random *rand.Rand) {
	data := make([]byte, 32<<10)
	for {
		n, err := from.Read(data)
		if random.IntN(20) == 0 {
			w.delayed.Add(1)
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(random.Int64N(int64(ttl / 2)))):
			}
		}
		if err != nil {
			return
		}
		if _, err := to.Write(data[:n]); err != nil {
			return
		}
	}
}

// TestBadWire has two workers read stories that an engine hands out, one of them in parts. Connections to the engine
// are refused, closed and late, and requests to the store are as in TestBadNetwork. Each codex is as that of an
// undisturbed run.
func TestBadWire(t *testing.T) {
	s := serve(t)
	engine := startEngine(t)
	n, w := newNetwork(t, s), lay(t, engine)
	percent := n.percent
	n.percent = 0
	t.Setenv("AWS_ENDPOINT_URL", n.open(0))
	want := map[string]string{}
	for i, name := range []string{"one.txt", "two.txt", "parted.txt"} {
		source := story(t, name, 14+2*i)
		parts := []string{"--parts", fmt.Sprint(1 + i/2)}
		want[name] = undisturbed(t, source, parts...)
		if out, status := fleet(t, append(append([]string{"store", "add"}, parts...), source)...); status != exitDone {
			t.Fatal(out)
		}
	}
	n.percent = percent
	t.Setenv("AWS_ENDPOINT_URL", s.url)
	if out, status := fleet(t, "submit", "--ttl", ttl.String()); status != exitDone {
		t.Fatal(out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	var workers sync.WaitGroup
	folder := t.TempDir()
	for i := range 2 {
		dir, url := filepath.Join(folder, fmt.Sprintf("worker%d", i)), n.open(0)
		workers.Go(func() {
			for ctx.Err() == nil {
				cmd := workerCommand(dir)
				cmd.Env = append(os.Environ(), "AWS_ENDPOINT_URL="+url, "TEMPORAL_ADDRESS="+w.listener.Addr().String())
				if err := cmd.Start(); err != nil {
					t.Error(err)
					return
				}
				stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Signal(syscall.SIGTERM) })
				err := cmd.Wait()
				stop()
				if status := cmd.ProcessState.ExitCode(); status != exitAgain && status != exitHalted {
					t.Errorf("a worker ends with %d: %v: %s", status, err, cmd.Stderr)
				}
				time.Sleep(time.Second)
			}
		})
	}
	for name := range want {
		db := filepath.Join(t.TempDir(), "got.annotator.db")
		get := exec.CommandContext(ctx, filepath.Join(programs, "annotator-fleet"), "get", name, db)
		if out, err := get.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		} else if got := export(t, db); got != want[name] {
			t.Errorf("%s: the codex has %d bytes, and that of an undisturbed run %d", name, len(got), len(want[name]))
		}
	}
	out, _ := fleet(t, "status")
	cancel()
	workers.Wait()
	t.Log(out)
	t.Logf("%d connections were refused, %d closed, %d pieces were late", w.refused.Load(), w.closed.Load(),
		w.delayed.Load())
	if w.refused.Load() == 0 || w.closed.Load() == 0 || w.delayed.Load() == 0 {
		t.Error("the engine was not disturbed")
	}
}
