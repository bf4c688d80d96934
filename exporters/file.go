package exporters

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"annotator"
	"annotator/internal/atomicfile"
)

// WriteFile writes the file at path atomically: to a temporary file in the same folder, which is synced and then
// renamed. It replaces an existing file; after an error, that file is unchanged. The umask of the process applies to a
// new file. An existing path must be a regular file: a symbolic link would lead to a file that the user did not name.
// Errors about the path are of kind annotator.Misused, disk errors of kind annotator.Halted. An error of write that has
// a kind is returned unchanged.
func WriteFile(path string, write func(io.Writer) error) error {
	if err := checkTarget(path); err != nil {
		return err
	}
	file, err := atomicfile.CreateShared(path)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write %s: %w", path, atomicfile.Cause(err)).
			WithAdvice("choose a folder that exists and can be written to")
	}
	defer file.Discard()
	if err = fill(file.Path, write); err == nil {
		err = file.Commit()
	}
	if err == nil || annotator.KindOf(err) != "" { // the content failed, not the disk
		return err
	}
	return annotator.Errorf(annotator.Halted, "write %s: %w", path, atomicfile.Cause(err)).
		WithAdvice("check the disk, its space and its mount, then run again")
}

// checkTarget returns an error if the path exists and is not a regular file.
func checkTarget(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return annotator.Errorf(annotator.Misused, "write %s: it is a link, a folder or a device, not a regular file",
			path).
			WithAdvice("name a new file, or the file itself where this is a link")
	}
	return nil
}

// fill writes and syncs the file at path.
func fill(path string, write func(io.Writer) error) error {
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = file.Sync()
	}
	return cmp.Or(err, file.Close())
}
