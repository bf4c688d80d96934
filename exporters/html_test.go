package exporters_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
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

// TestPageRunsNothingOfTheStory: whatever the texts are, the page has one script, one style sheet and one link for each
// link of a claim, and the texts are there.
func TestPageRunsNothingOfTheStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		hostile := rapid.SampledFrom([]string{"<script>x()</script>", "</script><b onclick=x>", `" autofocus onfocus="x()`, "<style>", "</title>", "<!--", "]]>", "&lt;b&gt;"})
		for i := range doc.Entries {
			doc.Entries[i].Term, doc.Entries[i].ID = hostile.Draw(t, "term"), int64(i+1)
		}
		doc.Story.Title = hostile.Draw(t, "story")
		page := export(t, named(t, "html"), &doc)
		for name, want := range map[atom.Atom]int{atom.Script: 1, atom.Style: 1, atom.B: 0, atom.Article: len(doc.Entries)} {
			if got := len(elements(t, page, name)); got != want {
				t.Fatalf("%d elements %s, not %d\n%s", got, name, want, page)
			}
		}
		for i, h := range elements(t, page, atom.H2) {
			if got, want := textOf(h), doc.Entries[i].Term; !strings.HasPrefix(got, want) {
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
		if source := fmt.Sprintf("%s-src 'sha256-%s'", name, base64.StdEncoding.EncodeToString(sum[:])); !strings.Contains(policy, source) {
			t.Errorf("no %s in %q", source, policy)
		}
	}
}

// TestPageDatesWhatItShows: the limit of the page hides by these dates.
func TestPageDatesWhatItShows(t *testing.T) {
	t.Parallel()
	at := annotator.PlaceAt
	doc := exporters.Build(exporters.Story{Scenes: 40}, []annotator.Entry{{
		ID: 4, Term: "Monte Cristo", First: at(2, 0), Aliases: []annotator.Alias{
			{Name: "Edmond", From: at(2, 0)}, {Name: "Monte Cristo", From: at(30, 0)}, {Name: "the Count", From: at(31, 0)},
		},
		Claims: []annotator.Claim{{
			ID: 1, Text: "He sails.", Kind: annotator.Narrated, From: at(2, 0), Until: at(9, 0),
			Evidence: []annotator.Evidence{{Claim: 1, Post: 12000, Quote: "sailed"}},
		}},
	}}, position)
	page := export(t, named(t, "html"), &doc)
	var names []map[string]any
	if err := json.Unmarshal([]byte(attribute(elements(t, page, atom.H2)[0], "data-names")), &names); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{{"name": "Edmond", "from": 2.0}, {"name": "Monte Cristo", "from": 30.0}}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Error(diff)
	}
	for name, dates := range map[atom.Atom][2]string{atom.Article: {"2", ""}, atom.Li: {"2", "9"}, atom.Details: {"12", ""}} {
		e := elements(t, page, name)[0]
		if got := [2]string{attribute(e, "data-from"), attribute(e, "data-until")}; got != dates {
			t.Errorf("%s: %v, not %v", name, got, dates)
		}
	}
}
