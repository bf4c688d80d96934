package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"annotator"
)

var noon = time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)

// newTestProgress returns a progress that writes to a buffer, with a fixed clock.
func newTestProgress(live, colour bool) (*progress, *bytes.Buffer) {
	var out bytes.Buffer
	return &progress{out: &out, now: func() time.Time { return noon.Add(time.Minute) }, live: live, colour: colour}, &out
}

func TestLiveLine(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(true, true)
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 40})
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeCall, Total: 40, Usage: annotator.Usage{Prompt: 1000, Cached: 900, Completion: 500}})
	p.notice(annotator.Notice{Time: noon.Add(time.Minute), Kind: annotator.NoticeScene, Total: 40, Done: 10, Entries: 1})
	for room, want := range map[int]string{
		120: "[#####---------------] 10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 3m00s left",
		79:  "10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 3m00s left",
		73:  "[#####---------------] 10 of 40 scenes, 1 entry, 6.0s a scene, 3m00s left",
		39:  "10 of 40 scenes, 1 entry, 3m00s left",
		30:  "10 of 40 scenes, 3m00s left",
		5:   "10 of 40 scenes",
	} {
		if got := p.totals.liveLine(p.now(), room); got != want {
			t.Errorf("the line for %d characters is\n%s, want\n%s", room, got, want)
		}
	}
	p.notice(annotator.Notice{Time: noon.Add(time.Minute), Kind: annotator.NoticeCall, Purpose: "probe", Total: 40, Done: 10, Usage: annotator.Usage{Prompt: 9000}})
	p.totals.limit = 15
	if got, want := p.totals.liveLine(p.now(), 79), "10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 30s left"; got != want {
		t.Errorf("with a limit and behind a probe the line is\n%s, want\n%s", got, want)
	}
	out.Reset()
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeWait, Reason: "\x1b[2Jbusy", Duration: time.Second, Total: 40, Done: 10})
	drawn := out.String()
	if !strings.HasPrefix(drawn, "\r\x1b[K\x1b[33mwaiting 1.0s: [2Jbusy\x1b[0m\n\r[") {
		t.Errorf("a warning is drawn as %q", drawn)
	}
	p.close()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line stays: %q", out)
	}
}

// TestDoing: the line shows the current call or wait, within the width.
func TestDoing(t *testing.T) {
	t.Parallel()
	p, _ := newTestProgress(true, true)
	for _, told := range []struct {
		notice annotator.Notice
		want   string // a minute after noon
	}{
		{annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "probe"}, "1 of 40 scenes, probe: asking for 1m00s"},
		{annotator.Notice{Kind: annotator.NoticeCall, Purpose: "probe"}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeRun}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "annotate"}, "1 of 40 scenes, asking for 1m00s"},
		{annotator.Notice{Kind: annotator.NoticeStream, Purpose: "annotate", Bytes: 12_345}, "1 of 40 scenes, answer of 12.3kB in 1m00s"},
		{annotator.Notice{Kind: annotator.NoticeCall, Purpose: "annotate"}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeWait, Duration: 90 * time.Second}, "1 of 40 scenes, waiting 31s"},
		{annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "summarise"}, "1 of 40 scenes, summarise: asking for 1m00s"},
	} {
		told.notice.Time, told.notice.Total, told.notice.Done = noon, 40, 1
		p.notice(told.notice)
		if got := strings.TrimPrefix(p.totals.liveLine(p.now(), 41), "[--------------------] "); got != told.want {
			t.Errorf("behind a notice of the kind %s the line is %q, want %q", told.notice.Kind, got, told.want)
		}
	}
}

func TestNoColour(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(true, false)
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeWarning, Reason: "a word"})
	if got := out.String(); got != "a word\n" {
		t.Errorf("a warning without colour is %q", got)
	}
}

// TestPlainLines reads 100 scenes, one per second: it expects a line at the start and the end, and in between when both
// ten seconds and five scenes have passed.
func TestPlainLines(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(false, true)
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 100})
	for n := 1; n <= 100; n++ {
		p.notice(annotator.Notice{Time: noon.Add(time.Duration(n) * time.Second), Kind: annotator.NoticeScene, Total: 100, Done: n})
	}
	p.notice(annotator.Notice{Time: noon.Add(101 * time.Second), Kind: annotator.NoticeEnd, Total: 100, Done: 100})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 11 || lines[0] != "0 of 100 scenes" || lines[1] != "10 of 100 scenes, 1.0s a scene, 1m30s left" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\r") {
		t.Errorf("a pipe gets the signs of a terminal: %q", out)
	}
}

func TestDumbTerminal(t *testing.T) {
	t.Parallel()
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip(err)
	}
	defer terminal.Close()
	for name, want := range map[string]bool{"dumb": false, "xterm": true} {
		a, _ := newTestApp(map[string]string{"TERM": name})
		if got := a.isTerminal(terminal); got != want {
			t.Errorf("TERM=%s is taken for a terminal: %v, want %v", name, got, want)
		}
	}
}
