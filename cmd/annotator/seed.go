package main

import (
	"fmt"

	"annotator"
	"annotator/edits"
)

// readSeed returns the entries that the run is to begin with; nil for none.
func (o *runOptions) readSeed() (*annotator.Operation, error) {
	if o.seed == "" {
		return nil, nil
	}
	file := fileEdits{edit: edit{app: o.app}, yes: true}
	text, err := file.read(o.seed)
	if err != nil {
		return nil, err
	}
	seed, err := edits.ReadSeed(o.seed, text, o.seedAs == "hints")
	if annotator.KindOf(err) == annotator.Misused {
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", o.seed, err).
			WithAdvice("correct the file, and run again; nothing was begun")
	}
	if err != nil {
		return nil, err
	}
	const few = 10
	for i, left := range seed.Left {
		if i == few {
			o.progress.say(fmt.Sprintf("%s: and %d more are left out", o.seed, len(seed.Left)-few))
			break
		}
		o.progress.say(fmt.Sprintf("%s: line %d: left out: %s", o.seed, left.Line, oneLine(left.Text)))
	}
	return &seed.Operation, nil
}
