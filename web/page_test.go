package web

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// TestShorten: a shortened text is a prefix within the maximum. It ends with a word if one ends in its second half.
func TestShorten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[a-zé]{1,12}( [a-zé]{1,12}){0,12}`).Draw(t, "text")
		limit := rapid.IntRange(2, 60).Draw(t, "limit")
		got := shorten(text, limit)
		if utf8.RuneCountInString(text) <= limit {
			if got != text {
				t.Fatalf("%q was changed into %q", text, got)
			}
			return
		}
		kept, cut := strings.CutSuffix(got, "…")
		if !cut || utf8.RuneCountInString(got) > limit || !strings.HasPrefix(text, kept) {
			t.Fatalf("%q is %q within %d", text, got, limit)
		}
		rest := strings.TrimPrefix(text, kept)
		if i := strings.LastIndexByte(kept, ' '); rest[0] != ' ' && i > len(kept)/2 {
			t.Fatalf("%q ends within a word after %q", got, kept[:i])
		}
	})
}

// TestFormsThatEditHaveTheToken: each form that is sent has the token of forms, apart from those that change nothing in
// the codex.
func TestFormsThatEditHaveTheToken(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("templates/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d templates, %v", len(files), err)
	}
	parts, _ := filepath.Glob("templates/parts/*.html")
	form := regexp.MustCompile(`(?s)<form[^>]* method="post".*?</form>`)
	exempt := regexp.MustCompile(`class="(read-on|answers|scenes)"|action="(/sign-in|{{\$p\.Link "(verify|snapshot)"` +
		`[^}]*}})"`)
	for _, file := range append(files, parts...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range form.FindAllString(string(text), -1) {
			if !exempt.MatchString(f) && !strings.Contains(f, `{{template "form" `) {
				t.Errorf("%s: a form without the token: %.120s", file, f)
			}
		}
	}
}
