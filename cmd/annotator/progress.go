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
	"annotator/storage"
)

// progress prints the progress of a run: on a terminal one line that is redrawn, elsewhere lines at intervals. Its
// methods may be called from several goroutines.
type progress struct {
	mu      sync.Mutex
	out     io.Writer
	now     func() time.Time
	live    bool // redraw a line
	hidden  bool // the totals are shown elsewhere
	colour  bool
	totals  totals
	text    string // the line on the terminal; empty if there is none
	printed totals // at the newest line that is not redrawn
	stop    func()
	scene   atomic.Int64 // the current one; 0 before the first
}

const (
	redrawInterval = 250 * time.Millisecond
	lineInterval   = 10 * time.Second // least time between two lines that are not redrawn
	maxSilence     = 55 * time.Second // most time between them
	linesPerStory  = 20               // most such lines, where the time between them is less
)

// newProgress returns a progress on standard error, for a run of at most limit scenes; 0 is unlimited. If quiet, it
// prints nothing.
func newProgress(a *app, quiet bool, limit int) *progress {
	p := &progress{
		out: a.err, now: a.now, live: a.isTerminal(a.err), colour: a.getenv("NO_COLOR") == "",
		totals: totals{limit: limit},
	}
	if quiet {
		p.out, p.live = io.Discard, false
		return p
	}
	p.printed.at = a.now()
	p.stop = every(redrawInterval, p.tick)
	return p
}

// every calls a function at an interval, in a new goroutine, until stop is called.
func every(interval time.Duration, do func()) (stop func()) {
	ticker, done := time.NewTicker(interval), make(chan struct{})
	go func() {
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				do()
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}

// tick redraws the line, or prints one after a long silence: a model may take minutes to answer.
func (p *progress) tick() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.live && p.text != "" {
		p.drawTotals()
	} else if now := p.now(); !p.live && now.Sub(p.printed.at) >= maxSilence {
		p.printLine(now)
	}
}

// printLine prints a line that is not redrawn.
func (p *progress) printLine(now time.Time) {
	p.printed = p.totals
	p.printed.at = now
	parts := p.totals.parts(now)
	parts.current = p.totals.current(now)
	if line := parts.line(); line != "" {
		fmt.Fprintln(p.out, line)
	}
}

// close removes the line from the terminal. It may be called again.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	if p.stop != nil {
		p.stop()
		p.stop = nil
	}
}

// seed sets the end times of the newest scenes of earlier runs, newest first.
func (p *progress) seed(ends []time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.totals.ends = ends
}

// say prints a message above the redrawn line.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(wrapLines(text, terminalWidth(p.out)))
}

// warn prints a warning above the redrawn line. The caller holds the mutex.
func (p *progress) warn(format string, args ...any) {
	text := wrapLines(oneLine(fmt.Sprintf(format, args...)), terminalWidth(p.out))
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
	p.totals.importing = ""
	if at.Done < at.Total {
		p.totals.importing = fmt.Sprintf("importing %s: %d %%", oneLine(at.Source), 100*at.Done/at.Total)
	}
	switch {
	case !p.live:
	case at.Done >= at.Total:
		p.erase()
	default:
		p.draw(p.totals.importing)
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
			const text = "the model cannot hold more of the story at once: from now on, summaries take the place of " +
				"what it read first; `annotator status` counts how often"
			p.print(wrapLines(text, terminalWidth(p.out)))
		}
	case annotator.NoticeWait:
		p.warn("%s", describeWait(&n))
	case annotator.NoticeScene:
		if n.Reason != "" {
			p.warn("scene %d could not be annotated and is put aside: %s", n.Scene, n.Reason)
		}
	}
	if !p.live {
		if !p.hidden {
			p.printTotals(&n)
		}
		return
	}
	switch {
	case n.Kind == annotator.NoticeEnd:
		p.erase()
	case n.Kind == annotator.NoticeRun,
		n.Kind == annotator.NoticeCalling && p.text == "": // a probe precedes the run
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
	p.printLine(n.Time)
}

// current returns the totals so far.
func (p *progress) current() totals {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.totals
	t.ends = slices.Clone(t.ends)
	return t
}

// totals are the sums of a run's notices.
type totals struct {
	limit       int         // scenes that this run reads at most; 0: all
	first       int         // scenes that earlier runs have completed
	ends        []time.Time // of the newest scenes, newest first
	importing   string      // the source and its progress; empty after the import
	done        int
	total       int
	entries     int
	compactions int
	usage       annotator.Usage
	call        annotator.Notice // the newest notice of the current call; of no kind if there is none
	callBegan   time.Time
	silence     annotator.Notice // the newest since the current call last streamed; of no kind if there is none
	wait        annotator.Notice // the newest since the current call began; of no kind if there is none
	at          time.Time        // of the newest notice
}

func (t *totals) add(n *annotator.Notice) {
	t.at, t.done, t.total = n.Time, n.Done, n.Total
	switch n.Kind {
	case annotator.NoticeRun:
		t.first = n.Done
		if len(t.ends) == 0 {
			t.ends = []time.Time{n.Time}
		}
	case annotator.NoticeScene:
		t.entries = n.Entries
		t.ends = slices.Insert(t.ends[:min(len(t.ends), storage.EstimatedScenes)], 0, n.Time)
	case annotator.NoticeCompaction:
		t.compactions++
	case annotator.NoticeCalling:
		t.call, t.callBegan, t.wait, t.silence = *n, n.Time, annotator.Notice{}, annotator.Notice{}
	case annotator.NoticeStream:
		t.call, t.silence = *n, annotator.Notice{}
	case annotator.NoticeSilence:
		t.silence = *n
	case annotator.NoticeWait:
		t.wait = *n
	case annotator.NoticeCall:
		t.call = annotator.Notice{}
		if n.Purpose == annotator.PurposeProbe { // the totals of a run exclude probes
			return
		}
		t.usage.Prompt += n.Usage.Prompt
		t.usage.Told += n.Usage.Told
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
	if t.total == 0 {
		return progressParts{done: t.importing}
	}
	p := progressParts{done: fmt.Sprintf("%d of %s", t.done, annotator.Quantity(t.total, "scene"))}
	if t.entries > 0 {
		p.entries = annotator.Quantity(t.entries, "entry")
	}
	if sum := t.usage.Prompt + t.usage.Completion; sum > 0 {
		p.tokens = fmt.Sprintf("%s tokens (%s)", shortNumber(sum), cached(&t.usage))
	}
	last := t.total
	if t.limit > 0 {
		last = min(t.first+t.limit, t.total)
	}
	if each := storage.SceneTime(t.ends); each > 0 {
		p.perScene = duration(each) + " a scene"
		if t.done < last {
			p.left = timeLeft(each*time.Duration(last-t.done), now)
		}
	}
	return p
}

// timeLeft formats a remaining time and its end.
func timeLeft(left time.Duration, now time.Time) string {
	return fmt.Sprintf("%s left, until %s", duration(left), clockTime(now.Add(left), now, "15:04 MST"))
}

// clockTime formats a time of day, with the date unless it is today.
func clockTime(t, now time.Time, layout string) string {
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		layout = time.DateOnly + " " + layout
	}
	return t.Format(layout)
}

// describeWait formats the duration and the reason of a wait. For a server that does not answer, it adds the start of
// the outage and the deadline.
func describeWait(n *annotator.Notice) string {
	return fmt.Sprintf("waiting %s%s: %s", duration(n.Duration), outage(n), n.Reason)
}

func outage(n *annotator.Notice) string {
	if n.Patience == 0 {
		return ""
	}
	since, layout := n.Time.Add(-n.Waited), "15:04:05 MST"
	until := since.Add(n.Patience)
	return fmt.Sprintf(", since %s, until %s at the latest", clockTime(since, n.Time, layout),
		clockTime(until, n.Time, layout))
}

// current describes the current wait, or the current call after two seconds.
func (t *totals) current(now time.Time) string {
	if left := t.wait.Time.Add(t.wait.Duration).Sub(now); left > 0 {
		return "waiting " + duration(left.Truncate(time.Second)+time.Second) + outage(&t.wait)
	}
	took := now.Sub(t.callBegan)
	if t.call.Kind == "" || took <= 2*time.Second {
		return ""
	}
	text := "asking for " + duration(took.Truncate(time.Second))
	if t.call.Bytes > 0 {
		text = fmt.Sprintf("answer of %sB in %s", shortNumber(t.call.Bytes), duration(took.Truncate(time.Second)))
	}
	if t.silence.Kind != "" {
		text += ", nothing new for " + duration((t.silence.Duration + now.Sub(t.silence.Time)).Truncate(time.Second))
	}
	if what := purposeText(t.call.Purpose); what != "" {
		text = what + ": " + text
	}
	return text
}

// purposeText says what a call is for; empty for that of a scene.
func purposeText(p annotator.CallPurpose) string {
	switch p {
	case annotator.PurposeAnnotate:
		return ""
	case annotator.PurposeProbe:
		return "trying the server"
	case annotator.PurposeSummarise:
		return "summing up"
	case annotator.PurposeCurate:
		return "reviewing entries"
	}
	return string(p)
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
