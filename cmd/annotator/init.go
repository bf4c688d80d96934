package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newInit(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "init [FILE]",
		Short: "Write a configuration file with every setting and its meaning",
		Long: longHelp(`
Write a configuration file, for editing. It lists every setting with its meaning and its default, as a comment; it sets
nothing. FILE is annotator.yaml where it is not named. No file is overwritten.`, exitMisused),
		Example: `  annotator init
  annotator init ~/.config/annotator/config.yaml`,
		Args: arguments(0, 1),
	}
	return a.prints(cmd, func(_ context.Context, args []string) (result, error) {
		path := cmp.Or(strings.Join(args, ""), defaultConfigFile)
		text, err := commentedConfig()
		if err != nil {
			return nil, err
		}
		return message{path, map[string]string{"file": path}}, createFile(path, text)
	})
}

// commentedConfig returns a configuration file in which every setting is a comment with its default.
func commentedConfig() (string, error) {
	var b strings.Builder
	b.WriteString("# Settings of annotator. A flag takes precedence over the environment, that over this " +
		"file. The API key does not belong\n# here: set ANNOTATOR_API_KEY, or name a file that holds it. " +
		"`annotator run --print-config` shows what is in force.\n")
	var err error
	newSettings().flags.VisitAll(func(f *pflag.Flag) {
		line, lineErr := settingLine(f, f.DefValue)
		err = errors.Join(err, lineErr)
		usage := strings.ReplaceAll(f.Usage, "`", "")
		if slices.Contains(unsafeSettings[:], f.Name) {
			usage += "; only in a file that --config names, or in the user's own"
		}
		for _, part := range wrap(usage, 110) {
			b.WriteString("\n# " + part)
		}
		b.WriteString("\n#" + line + "\n")
	})
	return b.String(), err
}

// createFile writes a new file, and creates its folder if needed. It never overwrites a file.
func createFile(path, text string) error {
	_ = os.MkdirAll(filepath.Dir(path), 0o755) // after an error, opening the file fails as well
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return annotator.Errorf(annotator.Misused, "%s exists, and is not overwritten", path).
			WithAdvice("name another file")
	}
	if err == nil {
		_, err = file.WriteString(text)
		if err = cmp.Or(err, file.Close()); err != nil {
			_ = os.Remove(path)
		}
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write the configuration: %w", err).
			WithAdvice("name a file in a folder that can be written")
	}
	return nil
}
