package endpoint_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator/model"
	"annotator/model/endpoint"
)

// TestKeyInDisguise: an answer may hold the key escaped by JSON or a URL, once or more, and only in parts; it is masked all the same.
func TestKeyInDisguise(t *testing.T) {
	t.Parallel()
	const key = "sk-canary/7Qm4+Xv2&Nd8==K"
	rapid.Check(t, func(t *rapid.T) {
		var sent strings.Builder
		for _, sign := range key {
			sent.WriteString(rapid.SampledFrom([]string{
				string(sign), string(sign), `\` + string(sign), fmt.Sprintf(`\u%04x`, sign), fmt.Sprintf(`\\\u%04X`, sign),
				fmt.Sprintf("%%%02x", sign), fmt.Sprintf("%%25%02X", sign), url.QueryEscape(string(sign)),
			}).Draw(t, "sign"))
		}
		body := "who is " + sent.String() + "?"
		c, err := endpoint.New(endpoint.Options{BaseURL: "http://model.test/v1", Key: key, HTTP: refusing(body)}, endpoint.API{Header: endpoint.Bearer})
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), &endpoint.Call{URL: c.BaseURL()}, &listener{})
		var f *model.Fault
		if !errors.As(err, &f) || string(f.Raw) != "who is [key]?" || f.Message != "who is [key]?" {
			t.Fatalf("%s: %v", body, err)
		}
	})
}

// refusing is a network that answers every request with a refusal.
type refusing string

// RoundTrip answers.
func (r refusing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := answering{"text/plain", bytes.NewReader([]byte(r))}.RoundTrip(request)
	response.StatusCode = http.StatusForbidden
	return response, err
}
