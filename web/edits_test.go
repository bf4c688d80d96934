package web_test

import (
	"context"
	"net/http"
	"net/url"
	"testing"

	"annotator"
	"annotator/storage"
	"annotator/view"
	"annotator/web"
)

// editor keeps the operations that it gets.
type editor struct{ operations []annotator.Operation }

func (e *editor) Edit(_ context.Context, _ *storage.DB, op *annotator.Operation) (int64, error) {
	e.operations = append(e.operations, *op)
	return 0, nil
}

// TestEditsAreTakenWhereTheyAreAllowed: forms change the codex only with an Editor, and never with a shared link alone.
func TestEditsAreTakenWhereTheyAreAllowed(t *testing.T) {
	t.Parallel()
	form := url.Values{"back": {"/lanterns/cast?as-of=all"}}
	closed := open(t, nil)
	if got := closed.do(closed.request(http.MethodPost, "/lanterns/undo?as-of=all", form)); got.StatusCode !=
		http.StatusBadRequest {
		t.Errorf("without an editor: status %d", got.StatusCode)
	}
	e, key := &editor{}, make([]byte, web.ShareKeySize)
	s := open(t, func(o *web.Options) {
		o.Editor, o.Token, o.Databases[0].ShareKey = e, "a token of the owner", key
	})
	link := s.get(web.SharedPath("lanterns", key, view.Point{Kind: view.PointScene, ID: 9}))
	if len(link.Cookies()) != 1 {
		t.Fatalf("the shared link: status %d", link.StatusCode)
	}
	r := s.request(http.MethodPost, "/lanterns/undo", form)
	r.AddCookie(link.Cookies()[0])
	if got := s.do(r); got.StatusCode != http.StatusUnauthorized || len(e.operations) > 0 {
		t.Errorf("with a shared link: status %d, %v", got.StatusCode, e.operations)
	}
	r = s.request(http.MethodPost, "/lanterns/undo?as-of=scene:9", form)
	r.Header.Set("Authorization", "Bearer a token of the owner")
	got := s.do(r)
	if got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != "/lanterns/cast?as-of=all&edited=undo" {
		t.Errorf("with the token: status %d, %v", got.StatusCode, got.Header)
	}
	if len(e.operations) != 1 || e.operations[0].Do != annotator.DeedUndo || e.operations[0].From != 0 {
		t.Errorf("the operations are %v", e.operations)
	}
}
