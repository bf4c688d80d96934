package exporters_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"annotator/exporters"

	"pgregory.net/rapid"
)

// TestAnnotationsFindTheirQuotations locates quotations by the text around them and by offsets.
func TestAnnotationsFindTheirQuotations(t *testing.T) {
	t.Parallel()
	type selector struct {
		Type, Exact, Prefix, Suffix string
		Start, End                  int
	}
	var set struct {
		Items []struct {
			ID     string
			Target struct {
				Source   string
				Selector []selector
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		codex := withStory(t)
		posts := map[string]string{}
		quotations := 0
		for _, list := range codex.Text.(*storyOf).posts {
			for _, p := range list {
				posts[fmt.Sprintf("urn:annotator:%s:post:%d", codex.Story.CorpusHash, p.ID)] = p.Body
			}
		}
		for _, e := range codex.Entries {
			for _, c := range e.Claims {
				quotations += len(c.Evidence)
			}
		}
		set.Items = nil
		if err := json.Unmarshal(write(t, "annotations", codex), &set); err != nil {
			t.Fatal(err)
		}
		if len(set.Items) != quotations {
			t.Fatalf("%d annotations of %d quotations", len(set.Items), quotations)
		}
		for _, item := range set.Items {
			body := posts[item.Target.Source]
			quote, position := item.Target.Selector[0], item.Target.Selector[1]
			if !strings.Contains(body, quote.Prefix+quote.Exact+quote.Suffix) {
				t.Fatalf("%q does not hold %+v", body, quote)
			}
			if got := string([]rune(body)[position.Start:position.End]); got != quote.Exact {
				t.Fatalf("%d to %d is %q, not %q", position.Start, position.End, got, quote.Exact)
			}
		}
	})
}

func write(t fataler, format string, codex *exporters.Codex) []byte {
	t.Helper()
	var out bytes.Buffer
	f := named(t, format)
	if err := f.WriteOne(context.Background(), &out, codex); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestStandoffIsThatOfTheText reads the annotations as brat does. The text of each is at its offsets in the text file,
// in code points. Each note refers to an earlier annotation.
func TestStandoffIsThatOfTheText(t *testing.T) {
	t.Parallel()
	line := regexp.MustCompile(
		`^(?:(T\d+)\t([A-Za-z0-9_-]+) ((?:\d+ \d+;?)+)\t(.*)|[N#]\d+\t(?:Reference|AnnotatorNotes) (T\d+)(?: ` +
			`Codex:\d+)?\t.*)$`)
	rapid.Check(t, func(t *rapid.T) {
		codex := withStory(t)
		story := codex.Text.(*storyOf)
		for _, list := range story.posts {
			for i := range list {
				length := len([]rune(list[i].Body))
				for range rapid.IntRange(0, 2).Draw(t, "mentions") {
					start := rapid.IntRange(0, length).Draw(t, "start")
					story.mentions[list[i].Place] = append(story.mentions[list[i].Place], exporters.Mention{
						Entry: int64(rapid.IntRange(1, 4).Draw(t, "entry")), Start: start,
						End: rapid.IntRange(start, length).Draw(t, "end"),
					})
				}
			}
		}
		files := unzip(t, write(t, "brat", codex))
		for i := 0; i < len(files); i += 2 {
			text, known := []rune(string(files[i].Data)), map[string]bool{}
			for l := range strings.SplitSeq(strings.TrimSuffix(string(files[i+1].Data), "\n"), "\n") {
				if l == "" {
					continue
				}
				m := line.FindStringSubmatch(l)
				if m == nil {
					t.Fatalf("%s: %q", files[i+1].Name, l)
				}
				if m[1] == "" {
					if !known[m[5]] {
						t.Fatalf("%s: %q is about nothing", files[i+1].Name, l)
					}
					continue
				}
				known[m[1]] = true
				var parts []string
				for span := range strings.SplitSeq(m[3], ";") {
					from, to, _ := strings.Cut(span, " ")
					start, _ := strconv.Atoi(from)
					end, _ := strconv.Atoi(to)
					parts = append(parts, string(text[start:end]))
				}
				if got := strings.Join(parts, " "); got != m[4] {
					t.Fatalf("%s: %q stands at %s, not %q", files[i].Name, got, m[3], m[4])
				}
			}
		}
	})
}
