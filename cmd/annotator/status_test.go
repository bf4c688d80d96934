package main

import (
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/storage"
)

// TestStatusCountsQuotes: the status has the number of quotations and of weak ones.
func TestStatusCountsQuotes(t *testing.T) {
	t.Parallel()
	for want, quotes := range map[string]storage.QuoteCount{
		"": {}, "quotes 7, none weak": {Total: 7},
		"quotes 121, 5 weak (4 %): they lack words of their fact": {Total: 121, Weak: 5},
	} {
		var b strings.Builder
		s := &status{Quotes: quotes}
		s.print(&b)
		got := ""
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "quotes") {
				got = strings.Join(strings.Fields(line), " ")
			}
		}
		if got != want {
			t.Errorf("%+v is %q, want %q", quotes, got, want)
		}
		if encoded := annotator.EncodeJSON(s); !strings.Contains(encoded, fmt.Sprintf(`"quotes":{"total":%d,"weak":%d}`,
			quotes.Total, quotes.Weak)) {
			t.Errorf("%s", encoded)
		}
	}
}

// TestStatusCountsRequests: the status counts the scenes without a request, and the results of follow-up requests.
func TestStatusCountsRequests(t *testing.T) {
	t.Parallel()
	s := &status{FollowUps: followUpStatus{Edits: 2, Nothing: 6, LeftOut: 40, End: true}}
	s.Scenes.Unasked = []storage.ReasonCount{
		{Reason: "no text", Count: 2},
		{Reason: "nothing but dice, numbers and votes", Count: 1},
	}
	var b strings.Builder
	s.print(&b)
	for _, want := range []string{
		"2 scenes with no text, 1 scene with nothing but dice, numbers and votes",
		"2 brought edits, 6 nothing, 40 left out; they are left out now, and tried again in every tenth scene",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("status does not say %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	(&status{}).print(&b)
	if strings.Contains(b.String(), "follow-ups") || strings.Contains(b.String(), "not asked") {
		t.Errorf("status tells of nothing:\n%s", b.String())
	}
}
