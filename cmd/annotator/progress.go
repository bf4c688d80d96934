package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"annotator"
	"annotator/corpus/ingest"
)

// progress prints the progress of a run: on a terminal as one line that is redrawn, elsewhere as a line now and then.
// Its methods may be called from several goroutines.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	now     func() time.Time
	live    bool // redraw a line
	colour  bool
	totals  totals
	text    string // the line that is drawn now; empty if there is none
	printed totals // at the newest line that is not redrawn
	stop    chan struct{}
	scene   atomic.Int64 // the current one; 0 before the first
}

const (
	redrawInterval = 250 * time.Millisecond
	lineInterval   = 10 * time.Second // least time between two lines that are not redrawn
	linesPerStory  = 20               // most such lines
)

// newProgress returns a progress on standard error, for a run of at most limit scenes; 0 is unlimited. A quiet one
// prints nothing.
func newProgress(a *app, quiet bool, limit int) *progress {
	p := &progress{out: a.err, now: a.now, live: a.isTerminal(a.err), colour: a.getenv("NO_COLOR") == "", totals: totals{limit: limit}}
	if quiet {
		p.out, p.live = io.Discard, false
	}
	if p.live {
		p.stop = make(chan struct{})
		go p.redraw(p.stop)
	}
	return p
}

// redraw redraws the line between notices: a model may take minutes to answer.
func (p *progress) redraw(stop <-chan struct{}) {
	ticker := time.NewTicker(redrawInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mu.Lock()
			if p.text != "" {
				p.drawTotals()
			}
			p.mu.Unlock()
		case <-stop:
			return
		}
	}
}

// close removes the line from the terminal. It may be called again.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	if p.stop != nil {
		close(p.stop)
		p.stop = nil
	}
}

// say prints a message above the redrawn line.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(text)
}

// warn prints a warning above the redrawn line. The caller holds the mutex.
func (p *progress) warn(format string, args ...any) {
	text := oneLine(fmt.Sprintf(format, args...))
	if p.live && p.colour {
		text = "\x1b[33m" + text + "\x1b[0m"
	}
	p.print(text)
}

func (p *progress) print(text string) {
	line := p.text
	p.erase()
	fmt.Fprintln(p.out, text)
	if line != "" {
		p.draw(line)
	}
}

func (p *progress) draw(line string) {
	p.text = line
	fmt.Fprint(p.out, "\r", shorten(line, p.width()), "\x1b[K")
}

func (p *progress) drawTotals() { p.draw(p.totals.liveLine(p.now(), p.width())) }

func (p *progress) erase() {
	if p.text != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.text = ""
}

// width is that of the redrawn line. A character in the last column would make some terminals begin a new line.
func (p *progress) width() int { return cmp.Or(terminalWidth(p.out), 80) - 1 }

// importing shows the progress of an import.
func (p *progress) importing(at ingest.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.live:
	case at.Done >= at.Total:
		p.erase()
	default:
		p.draw(fmt.Sprintf("importing %s: %d %%", oneLine(at.Source), 100*at.Done/at.Total))
	}
}

// notice shows an event of a run.
func (p *progress) notice(n annotator.Notice) {
	p.scene.Store(int64(n.Scene))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals.add(&n)
	switch n.Kind {
	case annotator.NoticeWarning:
		p.warn("%s", n.Reason)
	case annotator.NoticeCompaction:
		if p.totals.compactions == 1 { // a long story has thousands
			p.warn("%s; further compactions are not shown, `annotator status` counts them", n.Reason)
		}
	case annotator.NoticeWait:
		p.warn("waiting %s: %s", duration(n.Duration), n.Reason)
	case annotator.NoticeScene:
		if n.Reason != "" {
			p.warn("scene %d is quarantined: %s", n.Scene, n.Reason)
		}
	}
	if !p.live {
		p.printTotals(&n)
		return
	}
	switch {
	case n.Kind == annotator.NoticeEnd:
		p.erase()
	case n.Kind == annotator.NoticeRun, n.Kind == annotator.NoticeCalling && p.text == "": // a call may come before the run begins
		p.drawTotals()
	}
}

// printTotals prints a line at the start, at the end, and in between when both enough time and enough of the story have
// passed.
func (p *progress) printTotals(n *annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeRun:
	case annotator.NoticeEnd:
		if p.printed.done == n.Done && p.printed.usage == p.totals.usage {
			return
		}
	case annotator.NoticeScene:
		if n.Time.Sub(p.printed.at) < lineInterval || (n.Done-p.printed.done)*linesPerStory < n.Total {
			return
		}
	default:
		return
	}
	p.printed = p.totals
	if p.totals.total > 0 {
		parts := p.totals.parts(n.Time)
		fmt.Fprintln(p.out, parts.line())
	}
}

// totals are the sums of a run's notices.
type totals struct {
	limit       int // scenes that this run reads at most; 0: all
	began       time.Time
	first       int // scenes that earlier runs have done
	done        int
	total       int
	entries     int
	compactions int
	usage       annotator.Usage
	call        annotator.Notice // the newest notice of the current call; of no kind if there is none
	callBegan   time.Time
	waitUntil   time.Time
	at          time.Time // of the newest notice
}

func (t *totals) add(n *annotator.Notice) {
	t.at, t.done, t.total = n.Time, n.Done, n.Total
	switch n.Kind {
	case annotator.NoticeRun:
		t.began, t.first = n.Time, n.Done
	case annotator.NoticeScene:
		t.entries = n.Entries
	case annotator.NoticeCompaction:
		t.compactions++
	case annotator.NoticeCalling:
		t.call, t.callBegan, t.waitUntil = *n, n.Time, time.Time{}
	case annotator.NoticeStream:
		t.call = *n
	case annotator.NoticeWait:
		t.waitUntil = n.Time.Add(n.Duration)
	case annotator.NoticeCall:
		t.call = annotator.Notice{}
		if n.Purpose == annotator.PurposeProbe { // the totals of a run exclude probes
			return
		}
		t.usage.Prompt += n.Usage.Prompt
		t.usage.Cached += n.Usage.Cached
		t.usage.Completion += n.Usage.Completion
	}
}

// progressParts are the parts of a line. Unknown parts are empty.
type progressParts struct{ done, entries, tokens, perScene, left, current string }

func (p *progressParts) line() string {
	all := []string{p.done, p.entries, p.tokens, p.perScene, p.left, p.current}
	return strings.Join(slices.DeleteFunc(all, func(part string) bool { return part == "" }), ", ")
}

func (t *totals) parts(now time.Time) progressParts {
	p := progressParts{done: fmt.Sprintf("%d of %s", t.done, plural(t.total, "scene"))}
	if t.entries > 0 {
		p.entries = plural(t.entries, "entry")
	}
	if sum := t.usage.Prompt + t.usage.Completion; sum > 0 {
		p.tokens = fmt.Sprintf("%s tokens (%d %% cached)", shortNumber(sum), percent(t.usage.Cached, t.usage.Prompt))
	}
	read, took, last := t.done-t.first, now.Sub(t.began), t.total
	if t.limit > 0 {
		last = min(t.first+t.limit, t.total)
	}
	if !t.began.IsZero() && read > 0 && took > 0 {
		each := took / time.Duration(read)
		p.perScene = duration(each) + " a scene"
		if t.done < last {
			p.left = duration(each*time.Duration(last-t.done)) + " left"
		}
	}
	return p
}

// current describes the call or the wait that the run is in, after two seconds.
func (t *totals) current(now time.Time) string {
	if left := t.waitUntil.Sub(now); left > 0 {
		return "waiting " + duration(left.Truncate(time.Second)+time.Second)
	}
	took := now.Sub(t.callBegan)
	if t.call.Kind == "" || took <= 2*time.Second {
		return ""
	}
	text := "asking for " + duration(took.Truncate(time.Second))
	if t.call.Bytes > 0 {
		text = fmt.Sprintf("answer of %sB in %s", shortNumber(t.call.Bytes), duration(took.Truncate(time.Second)))
	}
	if t.call.Purpose != annotator.PurposeAnnotate {
		text = string(t.call.Purpose) + ": " + text
	}
	return text
}

// liveLine returns the totals behind a bar, within a number of columns. It omits the less important parts, then the
// bar.
func (t *totals) liveLine(now time.Time, width int) string {
	p := t.parts(now)
	p.current = t.current(now)
	for _, part := range []*string{&p.tokens, &p.perScene, &p.entries, &p.left} {
		if len(p.line()) <= width {
			break
		}
		*part = ""
	}
	const barWidth = 20
	filled := 0
	if t.total > 0 {
		filled = barWidth * t.done / t.total
	}
	line := "[" + strings.Repeat("#", filled) + strings.Repeat("-", barWidth-filled) + "] " + p.line()
	if len(line) > width {
		return p.line()
	}
	return line
}
