package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"annotator"
)

// tally is what the notices of a run add up to.
type tally struct {
	limit   int // scenes that this run reads at most; 0: all
	began   time.Time
	first   int // scenes done before this run
	done    int
	total   int
	entries int
	usage   annotator.Usage
	call    annotator.Notice // the newest of the call that is being made; no kind where none is
	asked   time.Time        // when that call began
	wait    time.Time        // until when the run waits
	at      time.Time        // of the newest notice

	compactions int
}

func (t *tally) add(n *annotator.Notice) {
	t.at, t.done, t.total = n.Time, n.Done, n.Total
	switch n.Kind {
	case annotator.NoticeRun:
		t.began, t.first = n.Time, n.Done
	case annotator.NoticeScene:
		t.entries = n.Entries
	case annotator.NoticeCompaction:
		t.compactions++
	case annotator.NoticeCalling:
		t.call, t.asked, t.wait = *n, n.Time, time.Time{}
	case annotator.NoticeStream:
		t.call = *n
	case annotator.NoticeWait:
		t.wait = n.Time.Add(n.Duration)
	case annotator.NoticeCall:
		t.call = annotator.Notice{}
		if n.Purpose == annotator.PurposeProbe { // which is no part of the run's totals either
			return
		}
		t.usage.Prompt += n.Usage.Prompt
		t.usage.Cached += n.Usage.Cached
		t.usage.Completion += n.Usage.Completion
	}
}

// words are the tally as it is told; what cannot be said yet is empty.
type words struct{ done, entries, tokens, each, left, doing string }

func (w *words) line() string {
	said := slices.DeleteFunc([]string{w.done, w.entries, w.tokens, w.each, w.left, w.doing}, func(part string) bool { return part == "" })
	return strings.Join(said, ", ")
}

func (t *tally) words(now time.Time) words {
	w := words{done: fmt.Sprintf("%d of %s", t.done, count(t.total, "scene"))}
	if t.entries > 0 {
		w.entries = count(t.entries, "entry")
	}
	if all := t.usage.Prompt + t.usage.Completion; all > 0 {
		w.tokens = fmt.Sprintf("%s tokens (%d %% cached)", round(all), share(t.usage.Cached, t.usage.Prompt))
	}
	if read, took := t.done-t.first, now.Sub(t.began); !t.began.IsZero() && read > 0 && took > 0 {
		each := took / time.Duration(read)
		w.each = span(each) + " a scene"
		if end := t.end(); t.done < end {
			w.left = span(each*time.Duration(end-t.done)) + " left"
		}
	}
	return w
}

// end is how many scenes are done when this run is.
func (t *tally) end() int {
	if t.limit == 0 {
		return t.total
	}
	return min(t.first+t.limit, t.total)
}

// doing says what a run waits for at the moment, if it has for a while.
func (t *tally) doing(now time.Time) string {
	const while = 2 * time.Second
	if left := t.wait.Sub(now); left > 0 {
		return "waiting " + span(left.Truncate(time.Second)+time.Second)
	}
	took := now.Sub(t.asked)
	if t.call.Kind == "" || took <= while {
		return ""
	}
	doing := "asking for " + span(took.Truncate(time.Second))
	if t.call.Bytes > 0 {
		doing = fmt.Sprintf("answer of %sB in %s", round(t.call.Bytes), span(took.Truncate(time.Second)))
	}
	if t.call.Purpose != annotator.PurposeAnnotate {
		doing = string(t.call.Purpose) + ": " + doing
	}
	return doing
}

// liveLine is the tally behind a bar, with what the run waits for, in so many characters: what there is no room for is left out,
// the least important first.
func (t *tally) liveLine(now time.Time, room int) string {
	w := t.words(now)
	w.doing = t.doing(now)
	for _, least := range []*string{&w.tokens, &w.each, &w.entries, &w.left} {
		if len(w.line()) <= room {
			break
		}
		*least = ""
	}
	const width = 20
	filled := 0
	if t.total > 0 {
		filled = width * t.done / t.total
	}
	line := "[" + strings.Repeat("#", filled) + strings.Repeat("-", width-filled) + "] " + w.line()
	if len(line) > room {
		return w.line()
	}
	return line
}
