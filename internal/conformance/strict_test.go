package conformance_test

import (
	"bytes"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model"
	"annotator/model/endpoint"
)

// TestStrictToolsKeepTheirSchemas: wires that support it mark each tool of a request as strict, for any names,
// descriptions and schemas. They change no other byte of the tools' schemas.
func TestStrictToolsKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	const tricky = `"strict":false},"function":{"name":","input_schema":`
	tools := []annotator.ToolDefinition{
		{Name: "one", Description: tricky, Schema: []byte(
			`{"type":"object","properties":{"name":{"type":"string"}},"additionalProperties":false}`)},
		{Name: "two", Description: "2", Schema: []byte(
			`{"type":"object","properties":{"function":{"type":"string"}}}`)},
	}
	for _, w := range wires() {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			sent := wiretest.Recorder{Answer: "{}"}
			c, err := w.dial(endpoint.Options{BaseURL: "http://model.test" + w.path, HTTP: &sent})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			known := new(model.Capabilities)
			able := known.Adopt(model.StrictTools, c.Refusals())
			encoded, err := c.EncodeTools(tools)
			if err != nil {
				t.Fatal(err)
			}
			for _, workarounds := range []model.Workarounds{
				0, known.Workarounds,
				known.Workarounds | model.NoStrictTools,
			} {
				_, _ = c.Complete(t.Context(), &model.Request{Tools: encoded, Workarounds: workarounds})
				want := 0
				if able && workarounds.Strict() {
					want = len(tools)
				}
				if n := bytes.Count(sent.Body, []byte(`"strict":true`)); n != want ||
					bytes.Count(sent.Body, tools[0].Schema) != 1 {
					t.Errorf("%d tools are strict, want %d: %s", n, want, sent.Body)
				}
			}
		})
	}
}
