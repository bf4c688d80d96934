package exporters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestPeopleAreShownNoSettledClaim: formats for people have every claim but those that only the history has. Formats
// for programs have all. In any, the claims have one order, whatever order the entry has them in.
func TestPeopleAreShownNoSettledClaim(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var claims []annotator.Claim
		for i := range rapid.IntRange(1, 8).Draw(t, "claims") {
			c := annotator.Claim{
				ID: int64(i + 1), Text: fmt.Sprintf("Claim %d.", i+1), Kind: annotator.Inferred,
				From: place().Draw(t, "from"), Identity: rapid.Bool().Draw(t, "identity"),
				Evidence: []annotator.Evidence{{Post: 1, Start: i, End: i + 1, Quote: "x"}},
				As:       rapid.SampledFrom([]string{"", "Sorrel", "tirzah"}).Draw(t, "as"),
				Ended: rapid.SampledFrom([]annotator.Ending{
					"", annotator.EndConfirmed, annotator.EndRefuted, annotator.EndOver, annotator.EndWrong,
					annotator.EndReworded, annotator.EndMoved,
				}).Draw(t, "ended"),
			}
			if c.Ended != "" {
				c.Until = c.From + 1
			}
			claims = append(claims, c)
		}
		entry := annotator.Entry{ID: 1, Term: "Tirzah", Status: annotator.Confirmed, Claims: claims}
		doc := exporters.Build(story, []annotator.Entry{entry}, position)
		entry.Claims = rapid.Permutation(claims).Draw(t, "shuffled")
		if diff := cmp.Diff(doc, exporters.Build(story, []annotator.Entry{entry}, position)); diff != "" {
			t.Fatalf("the order of claims depends on that of the entry: %s", diff)
		}
		shown := doc.Entries[0].Reading(nil)
		for _, c := range claims {
			settled := c.Settled() || c.Ended == annotator.EndWrong
			has := func(other exporters.Claim) bool { return other.ID == c.ID }
			if slices.ContainsFunc(shown.Claims(), has) == settled {
				t.Fatalf("%q is shown or not: %+v", c.Ended, shown)
			}
			for format, all := range map[string]bool{
				"obsidian": false, "novelai": false, "json": true, "yaml": true, "jsonld": true,
			} {
				text := string(export(t, named(t, format), &doc))
				if format == "obsidian" {
					text = noteOf(t, &doc)
				}
				if !all && settled && strings.Contains(text, c.Text) || all && !strings.Contains(text, c.Text) {
					t.Fatalf("%s, of a claim that ended as %q: %s", format, c.Ended, text)
				}
			}
		}
	})
}

// noteOf returns the note of the only entry of a document.
func noteOf(t fataler, doc *exporters.Document) string {
	t.Helper()
	for _, file := range unzip(t, export(t, named(t, "obsidian"), doc)) {
		if strings.HasPrefix(file.Name, "Codex/") {
			return string(file.Data)
		}
	}
	t.Fatal("the vault has no note of an entry")
	return ""
}

// TestFormerQuotationsAreMarked: the page and the notes say which quotations the source no longer has.
func TestFormerQuotationsAreMarked(t *testing.T) {
	t.Parallel()
	former := map[int64]bool{7: true}
	doc := exporters.Build(exporters.Story{Title: "T"}, []annotator.Entry{{
		ID: 1, Term: "Dawn", Status: annotator.Confirmed, Revisions: 1, Claims: []annotator.Claim{{
			ID: 1, Text: "She sinks.", Kind: annotator.Narrated, From: annotator.PlaceAt(1, 0),
			Evidence: []annotator.Evidence{
				{Post: 7, Start: 0, End: 8, Quote: "it sinks"}, {Post: 8, Start: 0, End: 8, Quote: "it sank."},
			},
		}},
	}}, position)
	doc.Entries[0].MarkFormer(former)
	codex := &exporters.Codex{
		Document: &doc, History: historyOf(&doc), Text: new(storyOf), Scenes: someScenes(), Former: former,
	}
	page := string(write(t, "html", codex))
	var notes string
	for _, file := range unzip(t, write(t, "obsidian", codex)) {
		notes += string(file.Data)
	}
	for text, marked := range map[string]string{
		page:  "<summary>post 7 (the source no longer has this text)</summary>",
		notes: "> [!quote]- post 7 (the source no longer has this text)\n> it sinks\n",
	} {
		if !strings.Contains(text, marked) || strings.Count(text, exporters.FormerText) != 1 {
			t.Errorf("not one %q in\n%s", marked, text)
		}
	}
}

// TestReadingHasHeadings: chapters are named if there are several, and another name once before each run of claims
// that were noted under it.
func TestReadingHasHeadings(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	entry := annotator.Entry{Term: "Tirzah", Claims: []annotator.Claim{
		{ID: 1, Text: "is", Identity: true, From: at(30, 0)},
		{ID: 2, Text: "a", From: at(2, 0)},
		{ID: 3, Text: "b", From: at(3, 0), As: "Sorrel"},
		{ID: 4, Text: "c", From: at(4, 0), As: "Sorrel"},
		{ID: 5, Text: "d", From: at(5, 0), As: "TIRZAH"},
		{ID: 6, Text: "e", From: at(11, 0), As: "Sorrel"},
	}}
	for _, test := range []struct {
		titles map[int64]string
		claims int
		want   []string
	}{
		{
			map[int64]string{100: "One", 101: "Two"},
			6,
			[]string{
				"/One/: a", "//as Sorrel, scenes 3 to 11: b c", "//as Tirzah: d", "/Two/as Sorrel, scenes 3 to 11: e",
			},
		},
		{nil, 6, []string{
			"//: a", "//as Sorrel, scenes 3 to 11: b c", "//as Tirzah: d", "//as Sorrel, scenes 3 to 11: e",
		}},
		{map[int64]string{100: "One"}, 3, []string{"//: a", "//as Sorrel, scene 3: b"}},
	} {
		part := entry
		part.Claims = entry.Claims[:test.claims]
		exported := exporters.NewEntry(&part, position)
		var got []string
		for _, p := range exported.Reading(test.titles).Passages {
			line := "/" + p.Chapter + "/" + p.As + ":"
			for _, c := range p.Claims {
				line += " " + c.Text
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Error(diff)
		}
	}
}
