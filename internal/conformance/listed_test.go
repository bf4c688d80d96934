package conformance_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator/internal/scripted"
	"annotator/internal/wiretest"
)

// TestEveryWireIsListed fails if a wire in a package below model has no row in the table of wires.
func TestEveryWireIsListed(t *testing.T) {
	t.Parallel()
	server := scripted.Start(t, scripted.Options{})
	var listed []string
	for _, w := range wires() {
		listed = append(listed, wiretest.PackageOf(w.connect(t, server)))
	}
	slices.Sort(listed)
	if diff := cmp.Diff(wiretest.Packages(t, "../.."), listed); diff != "" {
		t.Errorf("the table of wires is not what model holds (-model +table):\n%s", diff)
	}
}
