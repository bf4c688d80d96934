package main

import (
	"bufio"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longstory"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/runner"
)

// serveVariable makes a process the server of a benchmark, so that the processor time of this one is the program's
// alone.
const serveVariable = "ANNOTATOR_BENCH_ENDPOINT"

func TestMain(m *testing.M) {
	if os.Getenv(serveVariable) == "" {
		os.Exit(m.Run())
	}
	server := httptest.NewServer(scripted.New(scripted.Options{Script: scripted.Style{Done: true}.Annotate}))
	fmt.Println(server.URL + "/v1")
	_, _ = bufio.NewReader(os.Stdin).ReadByte()
	server.Close()
}

// serveApart starts another process that serves the scripted model, with nothing in its cache, and returns its address.
func serveApart(b *testing.B) string {
	b.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), serveVariable+"=1")
	child.Stderr = os.Stderr
	in, err := child.StdinPipe()
	check(b, err)
	out, err := child.StdoutPipe()
	check(b, err)
	check(b, child.Start())
	b.Cleanup(func() {
		_ = in.Close()
		_ = child.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	check(b, err)
	return strings.TrimSpace(line)
}

func check(b *testing.B, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// notices has a run call a function with each notice, on the run's own goroutine.
type notices func(annotator.Notice)

// Publish implements runner.Publisher.
func (f notices) Publish(n annotator.Notice) { f(n) }

// read reads a story, and returns the processor time at the beginning and behind each scene.
func read(b *testing.B, f files, endpoint string) (marks []time.Duration) {
	b.Helper()
	config := runner.Defaults()
	config.ContextBudget, config.Endpoint = 32_768, endpoint
	run, err := prepare(b.Context(), f, config, nil, notices(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeRun || n.Kind == annotator.NoticeScene {
			marks = append(marks, longtest.ProcessorTime(b))
		}
	}))
	check(b, err)
	check(b, run.runner.Run(b.Context()))
	check(b, run.close())
	return marks
}

// peakMemory returns the most megabytes of memory that this process has held at once, where the kernel reports it. Its
// figure for getrusage will not do: a child begins with its parent's.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kilobytes float64
	_, err = fmt.Sscan(rest, &kilobytes)
	check(b, err)
	return kilobytes * 1024 / 1e6
}

// BenchmarkRun reads generated stories with scenes of about 1,500 tokens, and then has the bare loop repeat what the
// run did. The scene is the unit of all figures but the ratios.
func BenchmarkRun(b *testing.B) {
	for _, scenes := range []int{100, 1_000} {
		b.Run(fmt.Sprintf("scenes=%d", scenes), func(b *testing.B) {
			f := files{corpus: filepath.Join(b.TempDir(), "story.corpus.db")}
			check(b, longstory.Write(b.Context(), f.corpus, scenes))
			var program, bare, second, ninth time.Duration
			var peak float64
			for b.Loop() {
				dir := b.TempDir()
				f.db = filepath.Join(dir, "program.db")
				marks := read(b, f, serveApart(b))
				if peak == 0 {
					peak = peakMemory(b)
				}
				program += marks[scenes] - marks[0]
				second += marks[scenes/5] - marks[scenes/10]
				ninth += marks[scenes*9/10] - marks[scenes*4/5]
				bare += repeat(b, files{corpus: f.corpus, db: filepath.Join(dir, "recorded.db")})
			}
			each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 / float64(b.N*scenes) }
			b.ReportMetric(each(program), "ms(program)/scene")
			b.ReportMetric(each(bare), "ms(bare)/scene")
			b.ReportMetric(float64(program)/float64(bare), "program/bare")
			b.ReportMetric(float64(ninth)/float64(second), "ninth/second-tenth")
			b.ReportMetric(peak, "MB(peak)")
			info, err := os.Stat(f.db)
			check(b, err)
			rows, err := query(b.Context(), f.db,
				`SELECT sum(octet_length(content) + octet_length(attached) + octet_length(reasoning) +
				octet_length(arguments)) FROM trace`)
			check(b, err)
			b.ReportMetric(float64(info.Size())/float64(scenes)/1e3, "KB(database)/scene")
			b.ReportMetric(float64(rows[0][0].(int64))/float64(scenes)/1e3, "KB(messages)/scene")
		})
	}
}

// BenchmarkResume continues finished runs: all that a start has to do but to load the program.
func BenchmarkResume(b *testing.B) {
	for _, scenes := range []int{100, 1_000} {
		b.Run(fmt.Sprintf("scenes=%d", scenes), func(b *testing.B) {
			dir := b.TempDir()
			f := files{corpus: filepath.Join(dir, "story.corpus.db"), db: filepath.Join(dir, "story.db")}
			check(b, longstory.Write(b.Context(), f.corpus, scenes))
			endpoint := serveApart(b)
			read(b, f, endpoint)
			var used time.Duration
			for b.Loop() {
				used -= longtest.ProcessorTime(b)
				used += read(b, f, endpoint)[0]
			}
			b.ReportMetric(float64(used.Microseconds())/1e3/float64(b.N), "ms(processor)/op")
		})
	}
}
