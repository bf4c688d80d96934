package sqlite

import (
	"path/filepath"

	"annotator"
)

// refuseNetwork refuses a file on a network file system, for writing; the error is of kind Misused. SQLite's
// write-ahead log uses shared memory, which a network file system does not have. One machine could overwrite what
// another has committed.
func refuseNetwork(path string) error {
	file := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		file = target
	}
	folder := filepath.Dir(file)
	name := networkOf(folder)
	if name == "" {
		return nil
	}
	return annotator.Errorf(annotator.Misused,
		"open %s to write: %s is on a file system of another machine or program (%s), where a database can be lost",
		path, folder, name).
		WithReason(annotator.ReasonNetworkDisk)
}
