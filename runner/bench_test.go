package runner_test

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
)

// serveEnv makes a process the endpoint of a benchmark, so that the processor time of this one is the program's alone.
const serveEnv = "ANNOTATOR_BENCH_ENDPOINT"

func serveUntilClosed() int {
	listener := httptest.NewServer(scripted.New(scripted.Options{}))
	defer listener.Close()
	fmt.Println(listener.URL + "/v1")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	return 0
}

// serveApart has another process serve the model.
func (s *stage) serveApart() {
	s.t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), serveEnv+"=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	out, err := child.StdoutPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		s.t.Fatal(err)
	}
	s.base = strings.TrimSpace(line)
	s.config.Endpoint = s.base
}

// BenchmarkRun walks whole stories with scenes of about 1,500 tokens. docs/performance.md has the same held against a bare
// loop, and says what the aims are.
func BenchmarkRun(b *testing.B) {
	for _, threads := range []int{2, 20} {
		b.Run(fmt.Sprintf("scenes=%d", threads*50), func(b *testing.B) {
			s := newStage(b, story{threads: threads, scenes: 50, words: 1_100}, scripted.Options{})
			s.serveApart()
			var used time.Duration
			s.bus.Subscribe(func(n annotator.Notice) {
				switch n.Kind {
				case annotator.NoticeRun:
					used -= longtest.ProcessorTime(b)
				case annotator.NoticeEnd:
					used += longtest.ProcessorTime(b)
				}
			})
			b.ReportAllocs()
			round := 0
			for b.Loop() {
				round++
				if err := s.run(fmt.Sprint(round)); err != nil {
					b.Fatal(err)
				}
			}
			scenes := float64(threads * 50)
			b.ReportMetric(float64(used.Microseconds())/float64(round)/scenes, "cpu-us/scene")
			b.ReportMetric(float64(s.fileSize("1"))/scenes, "db-B/scene")
		})
	}
}

// BenchmarkResume goes on with finished runs: all that a start has to do but to open the program.
func BenchmarkResume(b *testing.B) {
	for _, threads := range []int{2, 20} {
		b.Run(fmt.Sprintf("scenes=%d", threads*50), func(b *testing.B) {
			s := newStage(b, story{threads: threads, scenes: 50, words: 1_100}, scripted.Options{})
			s.serveApart()
			if err := s.run("done"); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := s.run("done"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
