package exporters_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"pgregory.net/rapid"
)

// elements returns the elements of a page with a name.
func elements(t fataler, page []byte, name atom.Atom) (found []*html.Node) {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range root.Descendants() {
		if n.DataAtom == name {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func textOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// TestPageRunsNothingOfTheStory: for any texts, the page has one script, one style sheet and one link for each link of
// a claim. It contains the texts.
func TestPageRunsNothingOfTheStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		hostile := rapid.SampledFrom([]string{
			"<script>x()</script>", "</script><b onclick=x>",
			`" autofocus onfocus="x()`, "<style>", "</title>", "<!--", "]]>", "&lt;b&gt;",
		})
		for i := range doc.Entries {
			doc.Entries[i].Term, doc.Entries[i].ID = hostile.Draw(t, "term"), int64(i+1)
		}
		doc.Story.Title = hostile.Draw(t, "story")
		page := export(t, named(t, "html"), &doc)
		for name, want := range map[atom.Atom]int{
			atom.Script: 1, atom.Style: 1, atom.B: 0,
			atom.Article: len(doc.Entries),
		} {
			if got := len(elements(t, page, name)); got != want {
				t.Fatalf("%d elements %s, not %d\n%s", got, name, want, page)
			}
		}
		terms := map[string]string{}
		for _, e := range doc.Entries {
			terms[fmt.Sprintf("e%d", e.ID)] = e.Term
		}
		for _, h := range elements(t, page, atom.H2) {
			if got, want := textOf(h), terms[attribute(h.Parent, "id")]; !strings.HasPrefix(got, want) {
				t.Fatalf("the heading %q, not %q", got, want)
			}
		}
	})
}

func TestPolicyAllowsTheScriptOfThePage(t *testing.T) {
	t.Parallel()
	doc := sample()
	page := export(t, named(t, "html"), &doc)
	policy := attribute(elements(t, page, atom.Meta)[2], "content")
	for _, name := range []atom.Atom{atom.Script, atom.Style} {
		sum := sha256.Sum256([]byte(textOf(elements(t, page, name)[0])))
		if source := fmt.Sprintf("%s-src 'sha256-%s'", name,
			base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, source) {
			t.Errorf("no %s in %q", source, policy)
		}
	}
}

// TestValuesOfAPageHaveIntervals: each value has the scenes in which it is in force, and is hidden if it is not in
// force at the end. A link leads to the entry that has the name at the time.
func TestValuesOfAPageHaveIntervals(t *testing.T) {
	t.Parallel()
	revision := func(entry int64, seen annotator.Order, field annotator.Field, old, new string) annotator.Revision {
		return annotator.Revision{
			Entry: entry, Seen: seen, At: annotator.PlaceAt(seen, 0), Field: field,
			Old: old, New: new,
		}
	}
	claim := annotator.Claim{
		ID: 1, Text: "He fears [[the Hood]].", Kind: annotator.Narrated,
		From: annotator.PlaceAt(2, 0),
	}
	ended := claim
	ended.Until = annotator.PlaceAt(9, 0)
	alias := func(name string, seen annotator.Order) string {
		return annotator.EncodeJSON(annotator.Alias{Name: name, From: annotator.PlaceAt(seen, 0)})
	}
	doc := exporters.Document{Story: exporters.Story{Scenes: 40}}
	history := &memoryHistory{revisions: map[int64][]annotator.Revision{
		1: {
			revision(1, 2, annotator.FieldTerm, "", "Edmond"),
			revision(1, 2, annotator.FieldAlias, "", alias("Edmond", 2)),
			revision(1, 2, annotator.FieldClaim, "", annotator.EncodeJSON(claim)),
			revision(1, 9, annotator.FieldClaim, annotator.EncodeJSON(claim), annotator.EncodeJSON(ended)),
			revision(1, 30, annotator.FieldTerm, "Edmond", "Monte Cristo"),
			revision(1, 35, annotator.FieldAlias, "", alias("the Hood", 35)),
		},
		2: {
			revision(2, 1, annotator.FieldTerm, "", "the Hood"),
			revision(2, 35, annotator.FieldMerge, "tentative", "1"),
		},
	}}
	page := write(t, "html", &exporters.Codex{Document: &doc, Scenes: someScenes(), History: history})
	var got []string
	for _, name := range []atom.Atom{atom.Article, atom.Span, atom.Li, atom.A} {
		for _, e := range elements(t, page, name) {
			if attribute(e, "data-in")+attribute(e, "data-to") != "" {
				hidden := slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == "hidden" })
				got = append(got, strings.TrimSpace(fmt.Sprint(name, " ", attribute(e, "class"),
					attribute(e, "data-in"), attribute(e, "href"), " ", hidden)))
			}
		}
	}
	want := []string{
		"article 2 false", "article 1 35 true",
		"span 2 30 true", "span 30 false", "span status2 false", "span alias30 false", "span alias35 false",
		"span until9 false",
		"span 1 35 true", "span status1 false",
		"li 2 false", "a #e1 false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	targets := attribute(elements(t, page, atom.Div)[1], "data-targets")
	if want := `[[{"entry":1,"in":[35]},{"entry":2,"in":[1,35]}]]`; targets != want {
		t.Errorf("the targets %s, not %s", targets, want)
	}
}

// TestPageHasHeadingsWithoutScript: the facts of an entry stand below the chapters in which they are told, and below
// the name under which the entry was known. A fact that is not shown at the last scene has no heading.
func TestPageHasHeadingsWithoutScript(t *testing.T) {
	t.Parallel()
	fact := func(id int64, scene annotator.Order, as string) annotator.Revision {
		at := annotator.PlaceAt(scene, 0)
		c := annotator.Claim{ID: id, Text: fmt.Sprintf("Fact %d.", id), Kind: annotator.Narrated, From: at, As: as}
		return annotator.Revision{
			Entry: 1, Seen: scene, At: at, Field: annotator.FieldClaim, New: annotator.EncodeJSON(c),
		}
	}
	wrong := fact(4, 6, "")
	wrong.Old, wrong.Seen = wrong.New, 8
	wrong.New = strings.Replace(wrong.New, `{`, `{"ended":"wrong",`, 1)
	doc := exporters.Document{
		Story: exporters.Story{Scenes: 9},
		Chapters: []exporters.Chapter{
			{Thread: 1, Title: "I & you", FromScene: 1, ToScene: 4},
			{Thread: 2, Title: "II", FromScene: 5, ToScene: 6},
			{Thread: 3, Title: "III", FromScene: 7, ToScene: 9},
		},
	}
	history := &memoryHistory{revisions: map[int64][]annotator.Revision{1: {
		{Entry: 1, Seen: 2, At: annotator.PlaceAt(2, 0), Field: annotator.FieldTerm, New: "Mik"},
		fact(1, 2, ""), fact(2, 3, ""), fact(3, 4, "Sorrel"), fact(4, 6, ""), fact(5, 7, ""), wrong, fact(6, 9, ""),
	}}}
	page := write(t, "html", &exporters.Codex{Document: &doc, Scenes: someScenes(), History: history})
	var got []string
	for _, e := range elements(t, page, atom.Li) {
		hidden := slices.ContainsFunc(e.Attr, func(a html.Attribute) bool { return a.Key == "hidden" })
		if attribute(e, "data-n")+attribute(e, "class") != "" && !hidden {
			text := textOf(e)
			if attribute(e, "class") == "" {
				text, _, _ = strings.Cut(text, " scene ")
			}
			got = append(got, text)
		}
	}
	want := []string{
		"Fact 1.", "I & you", "Fact 2.", "as Sorrel, scene 4", "Fact 3.", "III", "Fact 5.", "Fact 6.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
