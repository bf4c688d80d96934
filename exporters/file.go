package exporters

import (
	"cmp"
	"errors"
	"io"
	"io/fs"
	"os"

	"annotator"
	"annotator/internal/draft"
)

// WriteFile puts what the function writes into the file at path, whole or not at all: it is written and synced under
// another name in the same folder, then renamed. A file that was there is replaced, and stays as it was if anything fails.
// The file can be read by its owner only. What is at path may only be a regular file: a symbolic link would lead the
// text to a place that nobody named. Errors about the path are of kind annotator.Misused, those of the disk annotator.Halted; what
// the function returns with a kind of its own comes back as it is.
func WriteFile(path string, write func(io.Writer) error) error {
	if err := replaceable(path); err != nil {
		return err
	}
	d, err := draft.New(path)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write %s: %w", path, err).
			WithAdvice("choose a folder that exists and can be written to")
	}
	defer d.Discard()
	if err = fill(d.Path, write); err == nil {
		err = d.Place()
	}
	if err == nil || annotator.KindOf(err) != "" { // that is about what was to be written
		return err
	}
	return annotator.Errorf(annotator.Halted, "write %s: %w", path, err).WithAdvice("check the disk, its space and its mount, then run again")
}

// replaceable returns an error if something other than a regular file is at the path.
func replaceable(path string) error {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write %s: %w", path, err)
	}
	if !info.Mode().IsRegular() {
		return annotator.Errorf(annotator.Misused, "write %s: it is a link, a folder or a device, not a regular file", path).
			WithAdvice("name a new file, or the file itself where this is a link")
	}
	return nil
}

// fill writes the draft to disk.
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
