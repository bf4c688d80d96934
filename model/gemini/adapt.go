package gemini

import (
	"bytes"
	"regexp"

	"annotator/model"
	"annotator/model/endpoint"
)

// What servers want otherwise: Vertex, gateways, and models before Gemini 3.
const (
	noIDs endpoint.Quirk = 1 << iota // calls and results have no ids: they belong together by their order
	noSignatures
	noValidated // tools cannot be named where the model may also say something
	noSeed
)

// lessons are how servers say so.
var lessons = []endpoint.Lesson{
	{Quirk: noIDs, Said: regexp.MustCompile(`unknown name \\?"id\\?" at`), Does: "calls and results go without ids"},
	{Quirk: noSignatures, Said: regexp.MustCompile(`(unknown name \\?"|invalid |corrupted )thought[_ ]?signature`), Does: "calls go without a signature"},
	{Quirk: noValidated, Said: regexp.MustCompile(`function_?calling_?config.*validated`), Does: "no tools are named where none must be called"},
	{Quirk: noSeed, Said: endpoint.Refuses(`seed`), Does: "no seed is sent"},
}

// Adapt learns what a server wants otherwise. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string { return c.quirks.Learn(f, lessons) }

var (
	encodedID        = regexp.MustCompile(`("function(?:Call|Response)":\{)"id":"[^"\\]*",`)
	encodedSignature = []byte(`,"thoughtSignature":"` + noSignature + `"`)
)

// adapted leaves out of a history what the server does not want. The signs looked for cannot stand within a text: there, quotes
// are escaped.
func adapted(history []byte, q *endpoint.Quirks) []byte {
	if q.Has(noIDs) {
		history = encodedID.ReplaceAll(history, []byte("$1"))
	}
	if q.Has(noSignatures) {
		history = bytes.ReplaceAll(history, encodedSignature, nil)
	}
	return history
}
