package main

import (
	"cmp"
	"fmt"
	"io"
	"sync"
	"time"

	"annotator"
	"annotator/corpus/ingest"
)

// progress tells how a run goes on: on a terminal in one line that is drawn again and again, elsewhere in a line now and then.
// It may be told of things from several goroutines.
type progress struct {
	mu     sync.Mutex
	out    io.Writer
	now    func() time.Time
	live   bool // a line that is drawn again
	colour bool
	tally  tally
	text   string // of the live line; empty when none is drawn
	told   tally  // at the newest line now and then
	ticks  chan struct{}
}

// How often a live line is drawn, and the least between two lines that stay.
const (
	redraw    = 250 * time.Millisecond
	plainTime = 10 * time.Second
	plainPart = 20 // of the story's scenes: a twentieth
)

// newProgress returns a progress on standard error of a run that reads so many scenes at most, 0 meaning all; a quiet one says
// nothing.
func newProgress(a *app, quiet bool, limit int) *progress {
	p := &progress{out: a.err, now: a.now, live: a.isTerminal(a.err), colour: a.getenv("NO_COLOR") == "", tally: tally{limit: limit}}
	if quiet {
		p.out, p.live = io.Discard, false
	}
	if p.live {
		p.ticks = make(chan struct{})
		go p.tick(p.ticks)
	}
	return p
}

// tick draws the line also while nothing happens: a model may take minutes for an answer.
func (p *progress) tick(end <-chan struct{}) {
	ticker := time.NewTicker(redraw)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			p.mu.Lock()
			if p.text != "" {
				p.draw(p.tally.liveLine(p.now(), p.room()))
			}
			p.mu.Unlock()
		case <-end:
			return
		}
	}
}

// close takes the live line off the terminal. It may be called again.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
	if p.ticks != nil {
		close(p.ticks)
		p.ticks = nil
	}
}

// say prints a word to the user, above the live line.
func (p *progress) say(text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.print(text)
}

// warn is say for what may need a look.
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
	fmt.Fprint(p.out, "\r", shortened(line, p.room()), "\x1b[K")
}

func (p *progress) erase() {
	if p.text != "" {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
	p.text = ""
}

// room is how many characters the live line may have. In the last column a terminal may begin a new line by itself.
func (p *progress) room() int {
	return cmp.Or(terminalWidth(p.out), 80) - 1
}

// importing is told how far an import has come.
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

// notice is told what happens in a run.
func (p *progress) notice(n annotator.Notice) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tally.add(&n)
	switch n.Kind {
	case annotator.NoticeWarning:
		p.warn("%s", n.Reason)
	case annotator.NoticeCompaction:
		if p.tally.compactions == 1 { // a long story has thousands: that it happens is worth a word, each is not
			p.warn("%s; so it will again, and `annotator status` counts how often", n.Reason)
		}
	case annotator.NoticeWait:
		p.warn("waiting %s: %s", span(n.Duration), n.Reason)
	case annotator.NoticeScene:
		if n.Reason != "" {
			p.warn("scene %d is quarantined: %s", n.Scene, n.Reason)
		}
	}
	if p.live {
		p.show(&n)
	} else {
		p.tell(&n)
	}
}

func (p *progress) show(n *annotator.Notice) {
	switch {
	case n.Kind == annotator.NoticeEnd:
		p.erase()
	case n.Kind == annotator.NoticeRun, n.Kind == annotator.NoticeCalling && p.text == "": // a server may be asked before the run begins
		p.draw(p.tally.liveLine(p.now(), p.room()))
	}
}

// tell prints a line at the beginning, at the end, and between them when both some time and some of the story have passed.
func (p *progress) tell(n *annotator.Notice) {
	switch n.Kind {
	case annotator.NoticeRun:
	case annotator.NoticeEnd:
		if p.told.done == n.Done && p.told.usage == p.tally.usage {
			return
		}
	case annotator.NoticeScene:
		if n.Time.Sub(p.told.at) < plainTime || (n.Done-p.told.done)*plainPart < n.Total {
			return
		}
	default:
		return
	}
	p.told = p.tally
	if p.tally.total > 0 {
		w := p.tally.words(n.Time)
		fmt.Fprintln(p.out, w.line())
	}
}
