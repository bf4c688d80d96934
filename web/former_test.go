package web_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/web"
)

// TestFormerQuotationsAreMarked reads a story whose source changes. The page of an entry says of a quotation that the
// source no longer has it, and does not lead to its place. Other quotations are not marked.
func TestFormerQuotationsAreMarked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	source, story := filepath.Join(dir, "book.txt"), filepath.Join(dir, "book.corpus.db")
	path := filepath.Join(dir, "book.annotator.db")
	const first, second = "CHAPTER I\n\nCaptain Ysolde Marrow was a sailor of Gallows Quay.\n\n",
		"CHAPTER II\n\nCaptain Ysolde Marrow was the owner of a brig. She sold it to Mik Tarrant.\n\n"
	read := func(text string) {
		t.Helper()
		if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := importStory(t.Context(), source, story); err != nil {
			t.Fatal(err)
		}
		if err := annotateStory(t.Context(), story, path, nil); err != nil {
			t.Fatal(err)
		}
	}
	read(first + second)
	s := serve(t, path, func(o *web.Options) {
		text, err := corpus.Open(t.Context(), story)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = text.Close() })
		o.Databases[0].Name, o.Databases[0].Story = "book", text
	})
	e := s.entry("Ysolde Marrow")
	if len(e.Claims) == 0 || len(e.Claims[0].Evidence) == 0 {
		t.Fatalf("the entry %+v has no quotation", e)
	}
	quoted := e.Claims[0].Evidence[0]
	_, err := writer{path}.Edit(t.Context(), s.db, &annotator.Operation{
		Do: annotator.DeedAdd, Entry: e.ID, Text: "She went to sea.", Evidence: &quoted,
	})
	if err != nil {
		t.Fatal(err)
	}
	const mark = "the source no longer has this text"
	page := fmt.Sprintf("/book/entry/%d", e.ID)
	if body := s.want(page, http.StatusOK); strings.Contains(body, mark) {
		t.Error("a quotation is marked before the source has changed")
	}
	read(strings.Replace(first, "a sailor", "a cook", 1) + second)
	body := s.want(page, http.StatusOK, "scene 1 ("+mark+")", `</p><span class="note">`+mark+"</span></blockquote>")
	if strings.Contains(body, fmt.Sprintf(`"/book/post/%d?`, quoted.Post)) || strings.Count(body, mark) != 3 {
		t.Errorf("other quotations are marked, or one has a link:\n%s", body)
	}
	s.want(page+"?format=json", http.StatusOK, `"former":true`)
}
