package runner_test

import (
	"testing"

	"annotator"
	"annotator/runner"
)

// TestEveryStateHasAHandler: a state of the table that the runner does not handle would end a run in its middle.
func TestEveryStateHasAHandler(t *testing.T) {
	t.Parallel()
	for _, row := range annotator.Transitions {
		for _, state := range []annotator.State{row.State, row.Next} {
			if state != annotator.StateExit && !runner.Handles(state) {
				t.Errorf("no handler for %s", state)
			}
		}
	}
}
