package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkRunDuringServe runs the sample in a new process, without and with a concurrent `annotator serve` with 50
// readers. Each reader has a live page open and reads another page each second, except one, which never reads. The
// results are the medians of wall-clock time, of the run's processor time, and of the ratios of consecutive runs.
func BenchmarkRunDuringServe(b *testing.B) {
	var alone, beside, processor, processorBeside, ratio []float64
	for b.Loop() {
		a, c := runOnce(b, 0)
		d, e := runOnce(b, 50)
		alone, beside, ratio = append(alone, a), append(beside, d), append(ratio, d/a)
		processor, processorBeside = append(processor, c), append(processorBeside, e)
	}
	for name, values := range map[string][]float64{
		"s(alone)": alone, "s(beside)": beside, "ratio": ratio, "s(alone,processor)": processor,
		"s(beside,processor)": processorBeside,
	} {
		slices.Sort(values)
		b.ReportMetric(values[len(values)/2], name)
	}
	b.ReportMetric(0, "ns/op")
}

// runOnce reads the sample except its first scene, with a number of concurrent readers. It returns the seconds of
// wall-clock time and of processor time.
func runOnce(b *testing.B, readers int) (clock, processor float64) {
	b.Helper()
	source, err := filepath.Abs("../../testdata/lanterns/lanterns.jsonl")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	db := filepath.Join(dir, "beside.annotator.db")
	args := []string{"run", source, "--db", db, "--corpus", filepath.Join(dir, "beside.corpus.db"), "--quiet"}
	if out, err := exec.Command("annotator", append(args, "--limit", "1")...).CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	if readers > 0 {
		defer startReaders(b, db, readers)()
	}
	run := exec.Command("annotator", args...)
	start := time.Now()
	if out, err := run.CombinedOutput(); err != nil && run.ProcessState.ExitCode() != 5 {
		b.Fatalf("%v: %s", err, out)
	}
	return time.Since(start).Seconds(), (run.ProcessState.UserTime() + run.ProcessState.SystemTime()).Seconds()
}

// startReaders serves a database to a number of readers, until stop is called.
func startReaders(b *testing.B, db string, readers int) (stop func()) {
	b.Helper()
	ctx, cancel := context.WithCancel(b.Context())
	serve := exec.CommandContext(ctx, "annotator", "serve", "--db", db, "--listen", "127.0.0.1:0")
	out, err := serve.StdoutPipe()
	if err == nil {
		err = serve.Start()
	}
	if err != nil {
		b.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	fields := strings.Fields(line)
	if err != nil || len(fields) < 2 {
		b.Fatalf("%v: %q", err, line)
	}
	for n := range readers {
		go readPages(ctx, b, fields[1]+"beside/", n > 0)
	}
	return func() { cancel(); _ = serve.Wait() }
}

// readPages keeps a live page open, and opens another page each second.
func readPages(ctx context.Context, b *testing.B, book string, reads bool) {
	client := &http.Client{Transport: &http.Transport{}}
	get := func(path string) io.ReadCloser {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, book+path, nil)
		if err != nil {
			return nil
		}
		got, err := client.Do(r)
		if err != nil {
			return nil
		}
		if got.StatusCode != http.StatusOK {
			b.Errorf("%s: status %d", path, got.StatusCode)
		}
		return got.Body
	}
	live := get("live")
	if live == nil || !reads {
		<-ctx.Done()
		return
	}
	go func() { _, _ = io.Copy(io.Discard, live) }()
	for pages := []string{"", "entries", "entry/1", "cast", "scene/1"}; ctx.Err() == nil; time.Sleep(time.Second) {
		if body := get(pages[0]); body != nil {
			_, _ = io.Copy(io.Discard, body)
			_ = body.Close()
		}
		pages = append(pages[1:], pages[0])
	}
}
