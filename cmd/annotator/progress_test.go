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
	return &progress{out: &out, now: func() time.Time { return noon.Add(time.Minute) }, live: live, colour: colour},
		&out
}

func TestLiveLine(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(true, true)
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 40})
	p.notice(annotator.Notice{
		Time: noon, Kind: annotator.NoticeCall, Total: 40,
		Usage: annotator.Usage{Prompt: 1000, Told: 1000, Cached: 900, Completion: 500},
	})
	for n := 1; n <= 10; n++ {
		at := noon.Add(time.Duration(n) * 6 * time.Second)
		p.notice(annotator.Notice{Time: at, Kind: annotator.NoticeScene, Total: 40, Done: n, Entries: 1})
	}
	for room, want := range map[int]string{
		140: "[#####---------------] 10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 3m00s left, " +
			"until 12:04 UTC",
		96: "10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 3m00s left, until 12:04 UTC",
		92: "[#####---------------] 10 of 40 scenes, 1 entry, 6.0s a scene, 3m00s left, until 12:04 UTC",
		56: "10 of 40 scenes, 1 entry, 3m00s left, until 12:04 UTC",
		46: "10 of 40 scenes, 3m00s left, until 12:04 UTC",
		5:  "10 of 40 scenes",
	} {
		if got := p.totals.liveLine(p.now(), room); got != want {
			t.Errorf("the line for %d characters is\n%s, want\n%s", room, got, want)
		}
	}
	p.notice(annotator.Notice{
		Time: noon.Add(time.Minute), Kind: annotator.NoticeCall, Purpose: "probe", Total: 40,
		Done: 10, Usage: annotator.Usage{Prompt: 9000},
	})
	p.totals.limit = 15
	if got, want := p.totals.liveLine(p.now(), 95),
		"10 of 40 scenes, 1 entry, 1.5k tokens (90 % cached), 6.0s a scene, 30s left, until 12:01 UTC"; got != want {
		t.Errorf("with a limit and behind a probe the line is\n%s, want\n%s", got, want)
	}
	out.Reset()
	p.notice(annotator.Notice{
		Time: noon, Kind: annotator.NoticeWait, Reason: "\x1b[2Jbusy", Duration: time.Second,
		Total: 40, Done: 10,
	})
	drawn := out.String()
	if !strings.HasPrefix(drawn, "\r\x1b[K\x1b[33mwaiting 1.0s: [2Jbusy\x1b[0m\n\r[") {
		t.Errorf("a warning is drawn as %q", drawn)
	}
	p.close()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("the line stays: %q", out)
	}
}

// TestLineShowsTheCurrentCall: the line shows the current call or wait, within the width.
func TestLineShowsTheCurrentCall(t *testing.T) {
	t.Parallel()
	p, _ := newTestProgress(true, true)
	for _, told := range []struct {
		notice annotator.Notice
		want   string // a minute after noon
	}{
		{
			annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "probe"},
			"1 of 40 scenes, trying the server: asking for 1m00s",
		},
		{annotator.Notice{Kind: annotator.NoticeCall, Purpose: "probe"}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeRun}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "annotate"}, "1 of 40 scenes, asking for 1m00s"},
		{
			annotator.Notice{Kind: annotator.NoticeStream, Purpose: "annotate", Bytes: 12_345},
			"1 of 40 scenes, answer of 12.3kB in 1m00s",
		},
		{annotator.Notice{Kind: annotator.NoticeCall, Purpose: "annotate"}, "1 of 40 scenes"},
		{annotator.Notice{Kind: annotator.NoticeWait, Duration: 90 * time.Second}, "1 of 40 scenes, waiting 31s"},
		{
			annotator.Notice{Kind: annotator.NoticeCalling, Purpose: "summarise"},
			"1 of 40 scenes, summing up: asking for 1m00s",
		},
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

// TestPipeGetsLinesAtIntervals reads 100 scenes, one per second. It expects a line at the start, at the end, and each
// time when both ten seconds and five scenes have passed.
func TestPipeGetsLinesAtIntervals(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(false, true)
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 100})
	for n := 1; n <= 100; n++ {
		p.notice(annotator.Notice{
			Time: noon.Add(time.Duration(n) * time.Second), Kind: annotator.NoticeScene,
			Total: 100, Done: n,
		})
	}
	p.notice(annotator.Notice{Time: noon.Add(101 * time.Second), Kind: annotator.NoticeEnd, Total: 100, Done: 100})
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 11 || lines[0] != "0 of 100 scenes" || lines[1] != "10 of 100 scenes, 1.0s a scene, 1m30s left, "+
		"until 12:01 UTC" {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
	if strings.Contains(out.String(), "\x1b") || strings.Contains(out.String(), "\r") {
		t.Errorf("a pipe gets the signs of a terminal: %q", out)
	}
}

// TestSilenceIsShown: a pipe and a terminal show the time since the last token.
func TestSilenceIsShown(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		p, out := newTestProgress(live, false)
		p.notice(annotator.Notice{
			Time: noon.Add(-time.Minute), Kind: annotator.NoticeCalling,
			Purpose: annotator.PurposeAnnotate, Total: 1,
		})
		p.notice(annotator.Notice{
			Time: noon, Kind: annotator.NoticeSilence, Duration: time.Minute, Total: 1,
			Reason: "no token",
		})
		p.tick() // a minute after noon
		if !strings.HasSuffix(strings.TrimSuffix(strings.TrimSpace(out.String()), "\x1b[K"),
			"0 of 1 scene, asking for 2m00s, nothing new for 2m00s") {
			t.Errorf("live %v: %q", live, out)
		}
		p.notice(annotator.Notice{
			Time: noon, Kind: annotator.NoticeStream, Purpose: annotator.PurposeAnnotate,
			Bytes: 10, Total: 1,
		})
		if got := p.totals.current(p.now()); strings.Contains(got, "no token") {
			t.Errorf("behind a token: %q", got)
		}
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

// TestPipeGetsALineEachMinute: without any notice, a pipe gets a line at least every minute.
func TestPipeGetsALineEachMinute(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(false, false)
	now := noon
	p.now = func() time.Time { return now }
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 40})
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeCalling, Purpose: "annotate", Total: 40})
	for range 4 * 60 * 3 {
		now = now.Add(redrawInterval)
		p.tick()
	}
	want := "0 of 40 scenes\n0 of 40 scenes, asking for 55s\n0 of 40 scenes, asking for 1m50s\n0 of 40 " +
		"scenes, asking for 2m45s\n"
	if got := out.String(); got != want {
		t.Errorf("three minutes of silence print\n%swant\n%s", got, want)
	}
}

// TestOutageHasStartAndDeadline: a wait for a server that does not answer shows its start and its deadline.
func TestOutageHasStartAndDeadline(t *testing.T) {
	t.Parallel()
	p, out := newTestProgress(false, false)
	n := annotator.Notice{
		Time: noon, Kind: annotator.NoticeWait, Duration: 90 * time.Second, Waited: 5 * time.Minute,
		Patience: 45 * time.Minute, Reason: "refused", Total: 4,
	}
	p.notice(n)
	if got, want := out.String(),
		"waiting 1m30s, since 11:55:00 UTC, until 12:40:00 UTC at the latest: refused\n"; got != want {
		t.Errorf("an outage is printed as %q, want %q", got, want)
	}
	out.Reset()
	p.tick()
	if got, want := out.String(),
		"0 of 4 scenes, waiting 31s, since 11:55:00 UTC, until 12:40:00 UTC at the latest\n"; got != want {
		t.Errorf("a minute later the line is %q, want %q", got, want)
	}
	if got := clockTime(noon.Add(13*time.Hour), noon, "15:04 MST"); got != "2026-01-02 01:00 UTC" {
		t.Errorf("tomorrow is %q", got)
	}
}

// TestTimeLeftFollowsTheNewestScenes: a pause between two runs has little weight.
func TestTimeLeftFollowsTheNewestScenes(t *testing.T) {
	t.Parallel()
	p, _ := newTestProgress(false, false)
	p.seed([]time.Time{noon.Add(-24 * time.Hour), noon.Add(-24*time.Hour - 2*time.Second)})
	p.notice(annotator.Notice{Time: noon, Kind: annotator.NoticeRun, Total: 100, Done: 2})
	for n := 3; n <= 50; n++ {
		p.notice(annotator.Notice{
			Time: noon.Add(time.Duration(n) * time.Second), Kind: annotator.NoticeScene,
			Total: 100, Done: n,
		})
	}
	parts := p.totals.parts(noon)
	if want := "50s left, until 12:00 UTC"; parts.left != want {
		t.Errorf("%q, want %q", parts.left, want)
	}
}
