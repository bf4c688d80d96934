package main

import (
	"errors"
	"fmt"
	"testing"

	"annotator"
	"annotator/model"
)

func TestExitStatus(t *testing.T) {
	t.Parallel()
	fault := &model.Fault{Kind: annotator.Misconfigured, Message: "no"}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("a fault of ours"), 1},
		{annotator.Errorf(annotator.Misused, "x"), 2},
		{fmt.Errorf("around: %w", annotator.Errorf(annotator.NotFound, "x")), 2},
		{annotator.Errorf(annotator.Halted, "x: %w", fault), 3},
		{fmt.Errorf("around: %w", fault), 3},
		{annotator.Errorf(annotator.InUse, "x"), 3},
		{annotator.Errorf(annotator.Storage, "x"), 3},
		{annotator.Errorf(annotator.Violation, "x"), 4},
		{annotator.Errorf(annotator.Quarantined, "x"), 5},
		{annotator.Errorf(annotator.Interrupted, "x"), 130},
	} {
		if got := exitStatus(c.err); got != c.want {
			t.Errorf("exitStatus(%v) = %d, want %d", c.err, got, c.want)
		}
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	names := []string{"run", "status", "search", "show", "states"}
	for typed, want := range map[string]string{"stauts": "status", "serach": "search", "rnu": "run", "shwo": "show", "states": "states", "zzz": "", "": ""} {
		if got := nearest(typed, names); got != want {
			t.Errorf("nearest(%q) = %q, want %q", typed, got, want)
		}
	}
}
