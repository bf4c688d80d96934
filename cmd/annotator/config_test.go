package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"unicode"

	"annotator"
	"annotator/policy"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

// newTestApp returns an app with an environment.
func newTestApp(environment map[string]string) (a *app, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	lookup := func(name string) (string, bool) {
		value, ok := environment[name]
		return value, ok
	}
	return &app{out: out, err: &bytes.Buffer{}, lookup: lookup, configDir: func() (string, error) {
		return "",
			os.ErrNotExist
	}, cacheDir: func() (string, error) { return "", os.ErrNotExist }, servers: scriptedServers}, out
}

// TestPrecedence sets each setting in every combination of sources.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	newSettings().flags.VisitAll(func(f *pflag.Flag) {
		for places := range 1 << 4 {
			flag, first, second, file := places&1 != 0, places&2 != 0, places&4 != 0, places&8 != 0
			checkPrecedence(t, f, flag, first, second, file)
		}
	})
}

func checkPrecedence(t *testing.T, f *pflag.Flag, inFlag, inFirst, inSecond, inFile bool) {
	t.Helper()
	want, source := f.DefValue, defaultSource
	values := valuesOf(f)
	file, environ := &configFile{path: "x.yaml"}, map[string]string{}
	if inFile {
		want, source = values[3], "file x.yaml:7"
		file.values = map[string]*yaml.Node{keyOf(f.Name): {Kind: yaml.ScalarNode, Value: want, Line: 7}}
	}
	for i, given := range []bool{inSecond, inFirst} {
		names := environment(f.Name)
		if at := 1 - i; given && at < len(names) {
			want, source = values[1+at], "environment "+names[at]
			environ[names[at]] = want
		}
	}
	settings := newSettings()
	if inFlag {
		want, source = values[0], "flag --"+f.Name
		if err := settings.flags.Parse([]string{"--" + f.Name + "=" + want}); err != nil {
			t.Fatal(err)
		}
	}
	a, _ := newTestApp(environ)
	if err := settings.merge(a, file); err != nil {
		t.Fatal(err)
	}
	if got := valueText(settings.flags.Lookup(f.Name)); got != want || settings.sources[f.Name] != source {
		t.Errorf("--%s is %q from %q, want %q from %q", f.Name, got, settings.sources[f.Name], want, source)
	}
}

// valuesOf returns a value for each source of a setting, as the flag prints it.
func valuesOf(f *pflag.Flag) [4]string {
	switch f.Value.Type() {
	case "bool":
		return [4]string{"false", "true", "false", "false"}
	case "duration":
		return [4]string{"1m0s", "2m0s", "3m0s", "4m0s"}
	case "int":
		return [4]string{"1", "2", "3", "4"}
	case "float64":
		return [4]string{"0.5", "1", "1.5", "2"}
	}
	if c, ok := f.Value.(*checked); ok {
		last := c.words[len(c.words)-1]
		return [4]string{last, c.words[0], last, c.words[0]}
	}
	return [4]string{"from-flag", "from-first", "from-second", "from-file"}
}

// TestPrintedConfigReadsBack prints random settings and reads the output as a configuration file.
func TestPrintedConfigReadsBack(t *testing.T) {
	t.Parallel()
	printable := rapid.StringOf(rapid.Rune().
		Filter(func(r rune) bool { return unicode.IsPrint(r) && r != unicode.ReplacementChar }))
	rapid.Check(t, func(t *rapid.T) {
		given := newSettings()
		given.Model = printable.Draw(t, "model")
		given.LogFile = printable.Draw(t, "log file")
		given.MaxTokens = rapid.IntMin(1).Draw(t, "max tokens")
		given.Temperature = rapid.Float64Range(0, 2).Draw(t, "temperature")
		given.Stream = rapid.Bool().Draw(t, "stream")
		a, out := newTestApp(nil)
		if err := given.print(a); err != nil {
			t.Fatal(err)
		}
		file, err := parseConfigFile("printed.yaml", out.Bytes())
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		read := newSettings()
		if err := read.merge(a, file); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(given.Config, read.Config, cmpopts.EquateEmpty(),
			cmp.AllowUnexported(policy.Policy{})); diff != "" {
			t.Fatalf("%s\n%s", diff, out)
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	for _, text := range []string{
		"", "model: a\n", "model: [a]\n", "model:\n", "- a\n", "model: a\nmodel: b\n", "a: &x b\nc: *x\n",
		"? {a: b}\n: c\n", "<<: a\n", "\xff", "---\n---\n",
		"model: !!binary aGk=\n", "max_tokens: 0x10\n", "null",
		"curator: {prompt: shared, off: true}\n", "curator: {prompt: {a: b}}\n",
		"curator.prompt: a\ncurator_prompt: b\n", "curator:\n  [a]: b\n",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, err := parseConfigFile("x.yaml", []byte(text))
		if err == nil {
			a, _ := newTestApp(nil)
			err = newSettings().merge(a, file)
		}
		if err != nil && (annotator.KindOf(err) != annotator.Misused || !strings.HasPrefix(err.Error(), "x.yaml:")) {
			t.Errorf("%q is refused with %v, of kind %q", text, err, annotator.KindOf(err))
		}
	})
}
