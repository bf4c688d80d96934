package endpoint_test

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestEscapedKey: a key is masked if it is escaped by JSON or a URL, once or more, and if it was cut.
func TestEscapedKey(t *testing.T) {
	t.Parallel()
	const key, maskText = "sk-canary/7Qm4+Xv2&Nd8==K", "[key]"
	rapid.Check(t, func(t *rapid.T) {
		var sent strings.Builder
		for _, sign := range key {
			sent.WriteString(rapid.SampledFrom([]string{
				string(sign), string(sign), `\` + string(sign), fmt.Sprintf(`\u%04x`, sign),
				fmt.Sprintf(`\\\u%04X`, sign),
				fmt.Sprintf("%%%02x", sign), fmt.Sprintf("%%25%02X", sign), url.QueryEscape(string(sign)),
			}).Draw(t, "sign"))
		}
		body := "who is " + sent.String() + "?"
		if rapid.Bool().Draw(t, "cut") {
			body = "who is [key]?" + key[:rapid.IntRange(8, len(key)-1).Draw(t, "at")]
		}
		c, err := endpoint.New(endpoint.Options{
			BaseURL: "http://model.test/v1", Key: key,
			HTTP: wiretest.Always(403, "text/plain", body),
		}, api)
		if err != nil {
			t.Fatal(err)
		}
		_, err = c.Complete(t.Context(), &endpoint.Call{URL: c.BaseURL()}, &listener{})
		var f *model.Fault
		if !errors.As(err, &f) || strings.TrimSuffix(string(f.Raw), maskText) != "who is [key]?" ||
			string(f.Raw) != f.Message {
			t.Fatalf("%s: %v", body, err)
		}
	})
}
