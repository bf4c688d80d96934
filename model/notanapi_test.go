package model_test

import (
	"strings"
	"testing"

	"annotator"
	"annotator/model"
)

// TestFilteredStoryIsNotAServersLimit: a refusal of a content filter is recognised, whatever the filter's name, and if
// it quotes the story.
func TestFilteredStoryIsNotAServersLimit(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"error":{"message":"x","code":"content_filter"}}`: true,
		`{"error":{"message":"x requires moderation. Your input was flagged","code":403,` +
			`"metadata":{"flagged_input":"model not found"}}}`: true,
		`{"error":{"message":"Invalid prompt: your prompt was flagged.","code":"invalid_prompt"}}`:          true,
		`{"error":{"message":"Output blocked by content filtering policy","type":"invalid_request_error"}}`: true,
		`{"error":{"message":"inappropriate","code":"data_inspection_failed"}}`:                             true,
		`{"code":"no permission","error":"Content violates usage guidelines."}`:                             true,
		`{"error":{"message":"model not found"}}`:                                                           false,
		`{"error":{"message":"bad"}}`:                                                                       false,
	} {
		f := model.Classify(400, nil, []byte(body))
		if f.Filtered != want || want && f.Kind != annotator.Refused {
			t.Errorf("%s: %s, filtered: %v", body, f.Kind, f.Filtered)
		}
	}
}

// TestOtherThanAnAPIIsReported: a server without the API is distinguished from a model server that reports an error.
func TestOtherThanAnAPIIsReported(t *testing.T) {
	t.Parallel()
	const page = "\n<!DOCTYPE html><html><head><title>Nobody\n is here</title></head></html>"
	for _, test := range []struct {
		status   int
		body     string
		notAnAPI bool
		says     string
	}{
		{200, page, true, `a web page came in place of a reply: "Nobody is here"`},
		{200, `{"status":"queued"}`, true, "no reason is given"},
		{200, `upstream connect error`, true, "upstream connect error"},
		{403, page, true, `403: a web page came in place of a reply: "Nobody is here"`},
		{404, page, true, `404: a web page came in place of a reply: "Nobody is here"`},
		{404, "default backend - 404", true, "default backend"},
		{404, "", true, "404: Not Found"},
		{404, `{"detail":"Not Found"}`, false, "404: Not Found"},
		{404, `model "x" not found`, false, "not found"},
		{404, `{"error":{"message":"No such deployment","code":"DeploymentNotFound"}}`, false, "No such deployment"},
		{401, page, false, `401: a web page came in place of a reply: "Nobody is here"`},
		{400, page, false, "400: Bad Request"},
		{200, `{"error":{"message":"boom"}}`, false, "boom"},
		{200, `{"code":1113,"msg":"Insufficient balance"}`, false, "Insufficient balance"},
		{522, page, false, `522: a web page came in place of a reply: "Nobody is here"`},
		{503, page, false, `503: a web page came in place of a reply: "Nobody is here"`},
		{520, "", false, "520: no reason is given"},
	} {
		f := model.Classify(test.status, nil, []byte(test.body))
		if f.NotAnAPI != test.notAnAPI || !strings.Contains(f.Error(), test.says) {
			t.Errorf("%d %s: %v, not an API: %v", test.status, test.body, f, f.NotAnAPI)
		}
		if test.notAnAPI && f.Reason != annotator.ReasonNotAnAPI && f.Reason != annotator.ReasonForbidden {
			t.Errorf("%d %s: the reason is %q", test.status, test.body, f.Reason)
		}
	}
}
