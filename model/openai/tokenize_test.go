package openai_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"annotator/internal/scripted"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

func TestServerThatCannotCountIsNotAskedAgain(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{})
	c := newClient(t, endpoint.Options{BaseURL: server.Endpoint()})
	text := "Dawn <breaks> & " + strings.Repeat("字", 50)
	if n, err := c.CountTokens(context.Background(), "scripted", text); err != nil || n != scripted.Tokens(text) {
		t.Errorf("%d tokens, %v; want %d", n, err, scripted.Tokens(text))
	}
}

// TestCountsOfOtherServers: some list the tokens alone, most answer with something else, and none of it is a count of
// nothing.
func TestCountsOfOtherServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		status int
		body   string
		want   int
	}{
		{200, `{"count":3,"max_model_len":10,"tokens":[1,2,3]}`, 3},
		{200, `{"tokens":[1,2,{"id":3,"piece":"a"}]}`, 3},
		{200, `{"tokens":[]}`, 0},
		{200, `{"count":-1}`, 0},
		{200, `{}`, 0},
		{200, `[1,2]`, 0},
		{200, `<html>`, 0},
		{404, `{"detail":"Not Found"}`, 0},
		{500, `{"count":3}`, 0},
		{307, ``, 0},
	} {
		c := newClient(t, endpoint.Options{HTTP: wiretest.Always(test.status, "application/json", test.body)})
		n, err := c.CountTokens(context.Background(), "m", "text")
		var f *model.Fault
		if n != test.want || (test.want == 0) != errors.As(err, &f) {
			t.Errorf("%d %s: %d tokens, %v", test.status, test.body, n, err)
		}
	}
}

// TestTokenizerAddress: the tokenizer's path is next to /v1, and requests to it have the key.
func TestTokenizerAddress(t *testing.T) {
	t.Parallel()
	var asked *http.Request
	c := newClient(t, endpoint.Options{
		BaseURL: "http://model.test/served/v1", Key: "secret",
		HTTP: wiretest.Network(func(r *http.Request) (*http.Response, error) {
			asked = r
			_, _ = io.Copy(io.Discard, r.Body)
			return wiretest.Response(200, "application/json", strings.NewReader(`{"count":1}`)), nil
		}),
	})
	if _, err := c.CountTokens(context.Background(), "m", "text"); err != nil {
		t.Fatal(err)
	}
	if asked.URL.String() != "http://model.test/served/tokenize" ||
		asked.Header.Get("Authorization") != "Bearer secret" {
		t.Errorf("%s with %q", asked.URL, asked.Header.Get("Authorization"))
	}
}
