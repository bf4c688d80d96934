package tools_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/tools"
)

// TestDefinitionsRoundTrip: encoded definitions decode to the same bytes.
func TestDefinitionsRoundTrip(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.All()...)
	if err != nil {
		t.Fatal(err)
	}
	want := registry.Definitions()
	got, err := tools.DecodeDefinitions(tools.EncodeDefinitions(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFromRecord(t *testing.T) {
	t.Parallel()
	want := []annotator.ToolDefinition{{Name: "a", Description: "<b>", Schema: []byte(`{"type":"object"}`)}}
	got, err := tools.DecodeDefinitions(`[{"name":"a","description":"<b>","parameters":{"type":"object"}}]`)
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	for _, none := range []string{"", "[]"} {
		if got, err := tools.DecodeDefinitions(none); got != nil || err != nil {
			t.Errorf("%q: %v, %v", none, got, err)
		}
	}
	if _, err := tools.DecodeDefinitions(`{"a`); !errors.Is(err, annotator.Violation) {
		t.Errorf("a broken record: %v", err)
	}
}
