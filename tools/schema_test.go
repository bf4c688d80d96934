package tools_test

import (
	"errors"
	"slices"
	"testing"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// TestEverySchemaIsSound compiles each tool's schema, which otherwise happens at the first call.
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
