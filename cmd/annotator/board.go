package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"annotator"
	"annotator/storage"
)

// board shows the progress of several stories. On a terminal, a line for each that is read and one for all are redrawn.
// Elsewhere it prints lines at intervals. Its methods may be called from several goroutines.
type board struct {
	out   io.Writer
	now   func() time.Time
	live  bool
	began time.Time

	mu      sync.Mutex
	stories []boardStory
	drawn   []string // lines on the terminal
	printed time.Time
	stop    func()
}

// boardStory is a story on the board.
type boardStory struct {
	name     string
	progress *progress // nil before it begins
	ended    bool
}

// newBoard returns a board on standard error. If quiet, it prints nothing.
func newBoard(a *app, quiet bool, stories []storyResult) *board {
	b := &board{out: a.err, now: a.now, live: a.isTerminal(a.err), began: a.now(), printed: a.now()}
	for i := range stories {
		b.stories = append(b.stories, boardStory{name: stories[i].name})
	}
	if quiet {
		b.out, b.live = io.Discard, false
		return b
	}
	b.stop = every(redrawInterval, b.tick)
	return b
}

// begin shows a story, and returns its progress.
func (b *board) begin(i int, a *app, limit int) *progress {
	p := &progress{out: a.err, now: a.now, totals: totals{limit: limit}, hidden: b.live}
	p.printed.at = a.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stories[i].progress = p
	return p
}

// end says what became of a story.
func (b *board) end(result *storyResult) {
	text := "done"
	if result.Error != "" {
		text = result.Error
	}
	b.mu.Lock()
	for i := range b.stories {
		if b.stories[i].name == result.name {
			b.stories[i].ended = true
		}
	}
	b.mu.Unlock()
	b.say(result.name + ": " + text)
}

// writer returns where the messages of a story are written: above the lines, with its name.
func (b *board) writer(i int) io.Writer { return &storyWriter{b, b.stories[i].name} }

type storyWriter struct {
	board *board
	name  string
}

// Write prints a message.
func (w *storyWriter) Write(text []byte) (int, error) {
	w.board.say(w.name + ": " + strings.TrimRight(string(text), "\n"))
	return len(text), nil
}

// say prints a message above the redrawn lines.
func (b *board) say(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	lines := b.drawn
	b.erase()
	fmt.Fprintln(b.out, wrapLines(text, terminalWidth(b.out)))
	b.draw(lines)
}

// tick redraws the lines, or prints one for all stories after a while.
func (b *board) tick() {
	now := b.now()
	lines, total := b.lines(now)
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.stop == nil: // closed
	case b.live:
		b.erase()
		b.draw(append(lines, total))
	case now.Sub(b.printed) >= maxSilence:
		b.printed = now
		fmt.Fprintln(b.out, total)
	}
}

// draw writes lines that are redrawn. The caller holds the mutex.
func (b *board) draw(lines []string) {
	for _, line := range lines {
		fmt.Fprint(b.out, line, "\x1b[K\n")
	}
	b.drawn = lines
}

// erase removes the redrawn lines. The caller holds the mutex.
func (b *board) erase() {
	if len(b.drawn) > 0 {
		fmt.Fprintf(b.out, "\x1b[%dA\r\x1b[J", len(b.drawn))
	}
	b.drawn = nil
}

// close removes the lines from the terminal. It may be called again.
func (b *board) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.erase()
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
}

// boardSums are the sums of all stories.
type boardSums struct {
	stories, ended, reading int
	done, total, known      int // scenes; stories whose scenes are known
	read                    int // scenes, in this run
	entries                 int
	usage                   annotator.Usage
}

// lines returns a line for each story that is read, as many as the terminal has room for, and one for all stories.
func (b *board) lines(now time.Time) (lines []string, total string) {
	b.mu.Lock()
	stories := slices.Clone(b.stories)
	b.mu.Unlock()
	width, height := b.size()
	nameWidth := 0
	for _, s := range stories {
		nameWidth = min(max(nameWidth, len([]rune(s.name))), max(12, width/4))
	}
	sums := boardSums{stories: len(stories)}
	for _, s := range stories {
		if s.progress == nil {
			if s.ended {
				sums.ended++
			}
			continue
		}
		t := s.progress.current()
		sums.add(&t, s.ended)
		if s.ended {
			continue
		}
		name := shorten(s.name, nameWidth)
		name += strings.Repeat(" ", max(0, nameWidth-len([]rune(name)))) + " "
		lines = append(lines, shorten(name+t.liveLine(now, width-nameWidth-1), width))
	}
	if len(lines) > height-2 {
		lines = lines[:max(0, height-2)]
	}
	return lines, shorten(sums.text(now, now.Sub(b.began)), width)
}

// size is that of the terminal.
func (b *board) size() (width, height int) {
	if b.live {
		if w, h := terminalSize(b.out); w > 0 {
			return w - 1, h
		}
	}
	return 200, 24
}

func (s *boardSums) add(t *totals, ended bool) {
	if ended {
		s.ended++
	} else {
		s.reading++
	}
	if t.total > 0 {
		s.known++
	}
	s.done, s.total, s.read = s.done+t.done, s.total+t.total, s.read+t.done-t.first
	s.entries += t.entries
	s.usage.Prompt += t.usage.Prompt
	s.usage.Told += t.usage.Told
	s.usage.Cached += t.usage.Cached
	s.usage.Completion += t.usage.Completion
}

// text is the line of all stories. Stories that have not begun are taken to be as long as the others.
func (s *boardSums) text(now time.Time, took time.Duration) string {
	text := fmt.Sprintf("%d of %s done, %d reading: %d of %s", s.ended, annotator.Quantity(s.stories, "story"),
		s.reading, s.done, annotator.Quantity(s.total, "scene"))
	if s.entries > 0 {
		text += ", " + annotator.Quantity(s.entries, "entry")
	}
	if sum := s.usage.Prompt + s.usage.Completion; sum > 0 {
		text += fmt.Sprintf(", %s tokens (%s)", shortNumber(sum), cached(&s.usage))
	}
	if s.read >= storage.EstimatedScenes/4 && s.known > 0 {
		left := s.total - s.done + (s.stories-s.known)*s.total/s.known
		if left > 0 {
			text += ", " + timeLeft(took/time.Duration(s.read)*time.Duration(left), now)
		}
	}
	return text
}
