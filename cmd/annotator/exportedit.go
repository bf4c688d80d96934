package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/storage"
)

// editableFormats are those that import-edits reads, with their extensions.
var editableFormats = map[string]string{"yaml": ".yaml", "json": ".json", "names": ".csv"}

// editInEditor opens an editor on what a search finds, or on all of the codex, and imports the file that it leaves.
func (o *exportOptions) editInEditor(ctx context.Context, path, query string) error {
	o.format = cmp.Or(o.format, "yaml")
	extension := editableFormats[o.format]
	if extension == "" {
		return annotator.Errorf(annotator.Misused, "the format %s cannot be edited", o.format).
			WithAdvice("edit yaml, json or names")
	}
	o.query = query
	var before bytes.Buffer
	err := withDatabase(ctx, path, func(db *storage.DB) error {
		_, codex, err := o.read(ctx, db)
		switch {
		case err != nil:
			return err
		case codex.Count == 0:
			return annotator.Errorf(annotator.NotFound, "no entry was found to edit").
				WithAdvice("`annotator search ''` lists all entries")
		case o.format == "yaml":
			return exporters.WriteEditable(&before, codex.Document)
		}
		format, err := exporters.ByName(o.format)
		if err == nil {
			err = format.WriteOne(ctx, &before, codex)
		}
		return err
	})
	if err != nil {
		return err
	}
	file, err := writeTemporary("annotator-*"+extension, before.Bytes())
	if err != nil {
		return err
	}
	after, err := o.edited(ctx, file)
	if err != nil {
		return err
	}
	if bytes.Equal(before.Bytes(), after) {
		fmt.Fprintln(o.app.out, "the file is as it was: nothing was changed")
		return os.Remove(file)
	}
	taken := &fileEdits{edit: edit{app: o.app, corpus: o.corpus}, yes: o.yes}
	done, err := taken.take(ctx, path, file, after)
	if done {
		return os.Remove(file)
	}
	fmt.Fprintf(o.err, "the file is kept: `annotator import-edits --db %s %s`\n", quoted(path), quoted(file))
	return err
}

// writeTemporary writes a new file that only this user reads, and returns its path.
func writeTemporary(pattern string, text []byte) (string, error) {
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", annotator.Errorf(annotator.Storage, "make a file for the editor: %w", err)
	}
	_, err = file.Write(text)
	if err = cmp.Or(err, file.Close()); err != nil {
		return "", annotator.Errorf(annotator.Storage, "write %s: %w", file.Name(), err)
	}
	return file.Name(), nil
}

// edited opens the user's editor on a file, and returns what it leaves in it.
func (a *app) edited(ctx context.Context, file string) ([]byte, error) {
	editor := cmp.Or(a.getenv("VISUAL"), a.getenv("EDITOR"), "vi")
	command := exec.CommandContext(ctx, "sh", "-c", editor+` "$1"`, editor, file) // it may have arguments
	if runtime.GOOS == "windows" {
		words := append(strings.Fields(cmp.Or(a.getenv("VISUAL"), a.getenv("EDITOR"), "notepad")), file)
		command = exec.CommandContext(ctx, words[0], words[1:]...)
	}
	command.Stdin, command.Stdout, command.Stderr = a.in, os.Stdout, a.err
	if out := fileOf(a.out); out != nil {
		command.Stdout = out
	}
	if err := command.Run(); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "the editor %s: %w", editor, err).
			WithAdvice("name another with VISUAL or EDITOR; the file is %s", filepath.ToSlash(file))
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "read what the editor has left: %w", err)
	}
	return text, nil
}
