package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"annotator"
)

// count writes a number with its noun.
func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	if stem, ok := strings.CutSuffix(noun, "y"); ok {
		noun = stem + "ie"
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// round writes a large number in few digits: 950, 12.3k, 4.5M.
func round(n int) string {
	switch {
	case n < 1000:
		return fmt.Sprint(n)
	case n < 999_950:
		return fmt.Sprintf("%.1fk", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1fM", float64(n)/1e6)
}

// span writes a time in the units that matter for its length.
func span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%dms", max(d, 0).Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// share is a part of a whole in percent, rounded down so that only the whole is 100.
func share(part, whole int) int {
	if whole == 0 {
		return 0
	}
	return int(math.Floor(100 * float64(part) / float64(whole)))
}

// tokens tells what calls cost.
func tokens(u annotator.Usage) string {
	return fmt.Sprintf("%s tokens in (%d %% cached), %s out", round(u.Prompt), share(u.Cached, u.Prompt), round(u.Completion))
}

// quoted writes a word so that a shell takes it as one.
func quoted(word string) string {
	plain := func(r rune) bool {
		return r == '.' || r == '/' || r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
	}
	if word != "" && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// when writes a time of the clock as the user reads clocks.
func when(millis int64) string {
	return time.UnixMilli(millis).Local().Format("2006-01-02 15:04:05")
}
