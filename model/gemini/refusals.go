package gemini

import (
	"bytes"
	"regexp"

	"annotator/model"
)

// refusals are the messages of servers, most specific first: of Vertex, gateways, and models before Gemini 3.
var refusals = []model.Refusal{
	{Needs: model.NoCallIDs, Pattern: regexp.MustCompile(`unknown name \\?"id\\?" at`), Effect: "calls and results go without ids"},
	{Needs: model.NoSignatures, Pattern: regexp.MustCompile(`(unknown name \\?"|invalid |corrupted )thought[_ ]?signature`), Effect: "calls go without a signature"},
	{Needs: model.NoToolSubset, Pattern: regexp.MustCompile(`function_?calling_?config.*validated`), Effect: "no tools are named where none must be called"},
	{Needs: model.NoSeed, Pattern: model.RefusalOf(`seed`), Effect: "no seed is sent"},
}

// Refusals lists how servers refuse the usual form of a request. See model.Wire.
func (*Client) Refusals() []model.Refusal { return refusals }

var (
	encodedID        = regexp.MustCompile(`("function(?:Call|Response)":\{)"id":"[^"\\]*",`)
	encodedSignature = []byte(`,"thoughtSignature":"` + noSignature + `"`)
)

// adapted removes from a history what the server refuses. The strings cannot match inside a text, where quotes are
// escaped.
func adapted(history []byte, w model.Workarounds) []byte {
	if w.Has(model.NoCallIDs) {
		history = encodedID.ReplaceAll(history, []byte("$1"))
	}
	if w.Has(model.NoSignatures) {
		history = bytes.ReplaceAll(history, encodedSignature, nil)
	}
	return history
}
