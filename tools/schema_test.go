package tools_test

import (
	"errors"
	"slices"
	"testing"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// TestEverySchemaIsSound has each tool's schema compiled, which happens at the first call: what does not fit is found
// by the schema, not by what is wrong with it.
func TestEverySchemaIsSound(t *testing.T) {
	t.Parallel()
	registry, err := tools.New(tools.WithPolicy(policy.Default(), tools.All())...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range registry.Names() {
		err := registry.Check(annotator.ToolCall{Name: name, Arguments: `{"no_such_parameter":1}`})
		failure := (*tools.Failure)(nil)
		if !errors.As(err, &failure) || failure.Code != tools.InvalidArguments ||
			!slices.Contains(failure.Errors, "arguments: additional properties 'no_such_parameter' not allowed") {
			t.Errorf("%s: %v %q", name, err, failure.Errors)
		}
	}
}
