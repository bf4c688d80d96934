package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"annotator"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
	"github.com/spf13/pflag"
)

func newMan(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Long: longHelp(`
Write a manual page for each command into the folder DIR, which is made if it does not exist. Without DIR, print the
page of annotator itself.`, exitMisused),
		Example: `  annotator man | man -l -
  annotator man ~/.local/share/man/man1`,
		Args: arguments(0, 1),
		RunE: func(_ *cobra.Command, args []string) error {
			return a.writeManual(strings.Join(args, ""))
		},
	}
}

func (a *app) writeManual(dir string) error {
	root := newRoot(a)
	date := a.now()
	if seconds, err := strconv.ParseInt(a.getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil { // of a repeatable build
		date = time.Unix(seconds, 0).UTC()
	}
	header := doc.GenManHeader{Section: "1", Source: "annotator", Manual: "annotator", Date: &date}
	if dir == "" {
		return writeManualPage(a.out, root, header)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return annotator.Errorf(annotator.Misused, "write the manual: %w", err).
			WithAdvice("name a folder that can be written")
	}
	return writeManualPages(dir, root, header)
}

// writeManualPages writes the pages of a command and its subcommands. Existing pages are replaced.
func writeManualPages(dir string, cmd *cobra.Command, header doc.GenManHeader) error {
	var page bytes.Buffer
	if err := writeManualPage(&page, cmd, header); err != nil {
		return err
	}
	name := strings.ReplaceAll(cmd.CommandPath(), " ", "-") + ".1"
	if err := os.WriteFile(filepath.Join(dir, name), page.Bytes(), 0o644); err != nil {
		return annotator.Errorf(annotator.Misused, "write the manual: %w", err).
			WithAdvice("name a folder that can be written")
	}
	for _, command := range cmd.Commands() {
		if err := writeManualPages(dir, command, header); err != nil {
			return err
		}
	}
	return nil
}

// writeManualPage writes the page of a command. The generator reads Markdown, in which the list of exit statuses would
// be one paragraph.
func writeManualPage(w io.Writer, cmd *cobra.Command, header doc.GenManHeader) error {
	text, statuses, found := strings.Cut(cmd.Long, "Exit status:\n")
	if found {
		cmd.Long = text + "Exit status:\n\n" + strings.ReplaceAll("\n"+statuses, "\n  ", "\n    ")
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) { f.DefValue = strings.TrimSuffix(f.DefValue, "[]") }) // of an empty list
	cmd.DisableAutoGenTag = true
	return doc.GenMan(cmd, &header, w)
}
