package exporters_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestLorebooksGiveTheEntriesBack: the extensions of a book contain its codex.
func TestLorebooksGiveTheEntriesBack(t *testing.T) {
	t.Parallel()
	type extended struct {
		Extensions struct {
			Entry *exporters.Entry    `json:"annotator/entry"`
			Codex *exporters.Document `json:"annotator/codex"`
		} `json:"extensions"`
	}
	var worldInfo struct {
		extended
		Entries map[string]extended `json:"entries"`
	}
	var card struct {
		Data struct {
			extended
			Book struct {
				Entries []extended `json:"entries"`
			} `json:"character_book"`
		} `json:"data"`
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		for i := range doc.Entries {
			doc.Entries[i].ID = int64(i + 1)
		}
		worldInfo.Entries, card.Data.Book.Entries = nil, nil
		read(t, export(t, named(t, "world-info"), &doc), &worldInfo)
		var entries []exporters.Entry
		for _, e := range worldInfo.Entries {
			entries = append(entries, *e.Extensions.Entry)
		}
		slices.SortFunc(entries, func(a, b exporters.Entry) int { return int(a.ID - b.ID) })
		same(t, &doc, worldInfo.Extensions.Codex, entries)
		for _, name := range []string{"card-v2", "card-v3"} {
			card.Data.Book.Entries = nil
			read(t, export(t, named(t, name), &doc), &card)
			entries = nil
			for _, e := range card.Data.Book.Entries {
				entries = append(entries, *e.Extensions.Entry)
			}
			same(t, &doc, card.Data.Extensions.Codex, entries)
		}
	})
}

func read(t *rapid.T, text []byte, value any) {
	t.Helper()
	if err := json.Unmarshal(text, value); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func same(t *rapid.T, doc, codex *exporters.Document, entries []exporters.Entry) {
	t.Helper()
	got := *codex
	got.Entries = append([]exporters.Entry{}, entries...)
	if diff := cmp.Diff(doc, &got); diff != "" {
		t.Fatal(diff)
	}
}

// TestKeysMatchTheirNames applies the rule of SillyTavern: a key between slashes is a regular expression, and other
// keys are case-insensitive.
func TestKeysMatchTheirNames(t *testing.T) {
	t.Parallel()
	expression := regexp.MustCompile(`(?s)^/(.+)/([gimsuy]*)$`)
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.StringOf(rapid.SampledFrom([]rune("/ab.*(i"))), rapid.String()).
			Filter(func(s string) bool { return s != "" }).Draw(t, "name")
		doc := exporters.Build(exporters.Story{}, []annotator.Entry{{ID: 1, Term: name}}, position)
		var book struct {
			Entries map[string]struct{ Key []string }
		}
		read(t, export(t, named(t, "world-info"), &doc), &book)
		for _, key := range book.Entries["1"].Key {
			term := doc.Entries[0].Term
			parts := expression.FindStringSubmatch(key)
			if parts == nil && !strings.EqualFold(key, term) {
				t.Fatalf("the key of %q is %q", term, key)
			}
			if parts != nil && !regexp.MustCompile(`(?i)`+strings.ReplaceAll(parts[1], `\/`, "/")).MatchString(term) {
				t.Fatalf("the key of %q is %q, which does not match it", term, key)
			}
		}
	})
}

func TestShortKeysMatchWholeWords(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Ann": "true", "Dantès": "null", "Edmond": "null", "東雲": "null",
		"R2": "null",
	} {
		doc := exporters.Build(exporters.Story{}, []annotator.Entry{{ID: 1, Term: name}}, position)
		if text := string(export(t, named(t, "world-info"), &doc)); !strings.Contains(text,
			`"matchWholeWords": `+want+`,`) {
			t.Errorf("%s: matchWholeWords is not %s", name, want)
		}
	}
}

func TestLoreSaysWhoseAClaimIs(t *testing.T) {
	t.Parallel()
	doc := exporters.Build(exporters.Story{}, []annotator.Entry{{ID: 1, Term: "Dawn", Claims: []annotator.Claim{
		{ID: 1, Text: "She sank.", Kind: annotator.Claimed, Until: 1},
		{ID: 2, Text: "She sails for [[Marseille|the port]].", Kind: annotator.Narrated},
		{ID: 3, Text: "[[Danglars]] owns her.", Kind: annotator.Claimed, Speaker: "[[Caderousse]]"},
		{ID: 5, Text: "She is lost.", Kind: annotator.Claimed},
		{ID: 6, Text: "She is fast.", Kind: annotator.Inferred},
		{
			ID: 7, Text: "She is a ghost.", Kind: annotator.Inferred, Until: annotator.PlaceAt(2, 0),
			Ended: annotator.EndRefuted,
		},
	}}}, position)
	const want = `"content": "She sails for the port.\nDanglars owns her. (according to Caderousse) She is lost. ` +
		`(somebody says so) She is fast. (inferred) ` +
		`Thought until scene 2: She is a ghost."`
	if text := string(export(t, named(t, "card-v3"), &doc)); !strings.Contains(text, want) {
		t.Errorf("no %s in\n%s", want, text)
	}
}
