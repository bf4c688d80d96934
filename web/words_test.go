package web_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"annotator/corpus"
	"annotator/web"
)

// plainStory has none of the words that pages for readers do not use.
const plainStory = `{"thread":1,"id":1,"title":"Chapter I","body":"Anna Bell met Boris Hart at the Old Mill. Anna Bell ` +
	`is a nurse. Boris Hart is a captain of the Watch.","time":1}
{"thread":1,"id":2,"title":"Chapter I","body":"Boris Hart gave Anna Bell the Green Lamp. The Green Lamp is old.","time":2}
{"thread":2,"id":3,"title":"Chapter II","body":"Anna Bell is a doctor now. Boris Hart lives in the Old Mill.","time":3}
`

// ofTheRun matches addresses of pages about the run, and of the record of an entry.
var ofTheRun = regexp.MustCompile(`^/plain/(run|plots|snapshots?|audit|turn|row|revision|live|post|` +
	`entry/\d+/(history|claim))\b|record=1|format=json`)

// notReaders matches words that only pages about the run use.
var notReaders = regexp.MustCompile(`(?i)\b(posts?|threads?|turns?|rows?|revisions?|claims?|claimed|narrated|corpus|` +
	`alias(es)?|glossary|journal|episodes?|tokens?|quarantined?|tentative|cumulative|endpoint|scene_\w+)\b`)

// TestReadersWords walks through all pages for readers, from the first one, under two limits. They name things by one
// word each: chapter, scene, entry, fact, name.
func TestReadersWords(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, story := filepath.Join(dir, "plain.jsonl"), filepath.Join(dir, "plain.corpus.db")
	path := filepath.Join(dir, "plain.annotator.db")
	if err := os.WriteFile(source, []byte(plainStory), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := importStory(t.Context(), source, story); err != nil {
		t.Fatal(err)
	}
	if err := annotateStory(t.Context(), story, path, nil); err != nil {
		t.Fatal(err)
	}
	s := serve(t, path, func(o *web.Options) {
		text, err := corpus.Open(t.Context(), story)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = text.Close() })
		o.Databases[0].Name, o.Databases[0].Story = "plain", text
	})
	read := map[string]bool{}
	next := []string{
		"/plain/?as-of=all", "/plain/?as-of=scene:1", "/plain/?as-of=nonsense", "/plain/where?chapter=1",
		"/plain/entries?q=who+is+Anna+Bell", "/plain/entries?q=nothing+like+it", "/plain/entry/999",
		"/plain/entry/1/card?at=1", "/plain/chapter/1?facts=shown&names=all",
	}
	for len(next) > 0 {
		page := next[0]
		if next = next[1:]; read[page] || len(read) > 500 {
			continue
		}
		read[page] = true
		body := s.get(page)
		for _, text := range shownTexts(body.body) {
			if word := notReaders.FindString(text); word != "" {
				t.Errorf("%s says %q in %q", page, word, strings.Join(strings.Fields(text), " "))
			}
		}
		for _, link := range regexp.MustCompile(`href="(/plain/[^"#]*)`).FindAllStringSubmatch(body.body, -1) {
			if to := unescape(link[1]); !ofTheRun.MatchString(to) {
				next = append(next, to)
			}
		}
		if to := body.Header.Get("Location"); strings.HasPrefix(to, "/plain/") {
			to, _, _ = strings.Cut(to, "#")
			next = append(next, to)
		}
	}
	if len(read) < 40 {
		t.Errorf("only %d pages were read", len(read))
	}
}

var shownAttributes = regexp.MustCompile(`(?:title|aria-label|placeholder|alt)="([^"]*)"`)

// shownTexts returns the texts of a page, and those of attributes that browsers show or speak.
func shownTexts(html string) (texts []string) {
	for _, m := range shownAttributes.FindAllStringSubmatch(html, -1) {
		texts = append(texts, unescape(m[1]))
	}
	return append(texts, strings.Split(unescape(tags.ReplaceAllString(html, "\n")), "\n")...)
}
