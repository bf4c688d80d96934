package web_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator/internal/longtest"
	"annotator/web"
)

// TestReplacedDatabaseIsNotShown deletes, moves and replaces the file of a served database. Every page has an error,
// and shows nothing of either file.
func TestReplacedDatabaseIsNotShown(t *testing.T) {
	t.Parallel()
	longtest.Unix(t, "an open file cannot be moved elsewhere")
	for name, change := range map[string]func(path, other string) error{
		"deleted":  func(path, _ string) error { return os.Remove(path) },
		"moved":    func(path, _ string) error { return os.Rename(path, path+".moved") },
		"replaced": func(path, other string) error { return os.Rename(other, path) },
		"link": func(path, other string) error {
			if err := os.Remove(path); err != nil {
				return err
			}
			return os.Symlink(other, path)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, other := copySample(t), copySample(t)
			if name == "link" {
				if err := os.Rename(path, path+".first"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Base(path)+".first", path); err != nil {
					t.Fatal(err)
				}
			}
			s := serve(t, path, nil)
			databaseList := serve(t, path,
				func(o *web.Options) { o.Unreadable = []web.Unreadable{{File: "other.db", Err: os.ErrNotExist}} })
			s.want("/lanterns/", http.StatusOK)
			live, stop := s.stream("/lanterns/live", "")
			defer stop()
			events(t, live, "Entries")
			pages := s.everyPage()
			if err := change(path, other); err != nil {
				t.Fatal(err)
			}
			const says = "was deleted, moved or replaced"
			for _, page := range pages {
				if body := s.want(page, http.StatusServiceUnavailable, says); strings.Contains(body, "Lanterns") {
					t.Errorf("%s shows something of the story", page)
				}
			}
			databaseList.want("/", http.StatusOK, says)
			events(t, live, says)
		})
	}
}
