package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"slices"
	"strings"

	"annotator"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// settings are the settings that a command works with: their values, the flags that hold them, and where each value
// comes from. A flag takes precedence over the environment, that over the configuration file, that over the default.
type settings struct {
	Config
	flags   *pflag.FlagSet
	file    string            // configuration file that --config names; empty: the default one, if it exists
	sources map[string]string // by flag name
	key     apiKey
}

// defaultSource marks a setting that was set nowhere.
const defaultSource = "default"

func newSettings() *settings {
	s := &settings{flags: pflag.NewFlagSet("settings", pflag.ContinueOnError), sources: map[string]string{}}
	s.flags.SortFlags = false
	s.declare(s.flags)
	return s
}

// addTo adds --config and the named settings to a command's flags, in the order of their names.
func (s *settings) addTo(flags *pflag.FlagSet, names ...string) {
	flags.SortFlags = false
	flags.StringVar(&s.file, "config", "", "configuration `FILE`; empty: annotator.yaml in this folder, if it exists")
	for _, name := range names {
		flags.AddFlag(s.flags.Lookup(name))
	}
}

// load sets and checks every setting. The command line has been parsed.
func (s *settings) load(a *app) error {
	file, err := readConfigFile(s.file)
	if err != nil {
		return err
	}
	if err := s.merge(a, file); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	s.key, err = a.readKey(&s.Config, s.sources["api-key-file"])
	return err
}

// merge sets the flags that were not given on the command line.
func (s *settings) merge(a *app, file *configFile) (err error) {
	for key := range file.values {
		if s.flags.Lookup(flagOf(key)) == nil {
			return s.unknownKey(file, key)
		}
	}
	s.flags.VisitAll(func(f *pflag.Flag) {
		if err == nil {
			s.sources[f.Name], err = a.setFlag(f, file)
		}
	})
	return err
}

// setFlag sets a flag that was not given on the command line, and returns where its value comes from.
func (a *app) setFlag(f *pflag.Flag, file *configFile) (source string, err error) {
	if f.Changed {
		return "flag --" + f.Name, nil
	}
	set := func(where, value string) error {
		if f.Value.Set(value) != nil {
			return invalidValue(where, f, value)
		}
		return nil
	}
	for _, name := range environment(f.Name) {
		if value := a.getenv(name); value != "" {
			return "environment " + name, set(name, value)
		}
	}
	if value, ok := file.values[keyOf(f.Name)]; ok {
		where := fmt.Sprintf("%s:%d", file.path, value.Line)
		return "file " + where, set(where+": "+keyOf(f.Name), value.Value)
	}
	return defaultSource, nil
}

// keyOf returns a flag's key in the configuration file.
func keyOf(flag string) string { return strings.ReplaceAll(flag, "-", "_") }

// flagOf returns the flag of a key. A key in a nested mapping has its parent's name before it: curator.prompt.
func flagOf(key string) string {
	if key == "curator.off" {
		return "no-curator"
	}
	return strings.NewReplacer("_", "-", ".", "-").Replace(key)
}

// configFile is a parsed configuration file.
type configFile struct {
	path   string
	values map[string]*yaml.Node // scalars by key; curator.prompt is curator_prompt
}

// defaultConfigFile is read if it exists and no other file is named.
const defaultConfigFile = "annotator.yaml"

// readConfigFile reads the named file, else the default one. A missing default file is an empty one.
func readConfigFile(named string) (*configFile, error) {
	path := named
	if path == "" {
		path = defaultConfigFile
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && named == "" {
		return &configFile{}, nil
	}
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the configuration: %w", err).WithAdvice("name a file with --config")
	}
	return parseConfigFile(path, text)
}

// parseConfigFile parses a mapping of keys to scalars. Keys with a common prefix may stand in a nested mapping. The
// path is for errors, which are annotator.Misused and name the line.
func parseConfigFile(path string, text []byte) (*configFile, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err)
	}
	file := &configFile{path: path, values: map[string]*yaml.Node{}}
	if document.Kind == 0 || document.Content[0].Tag == "!!null" {
		return file, nil
	}
	top := document.Content[0]
	if top.Kind != yaml.MappingNode {
		return nil, file.errorAt(top, "the configuration is not a mapping of keys to values")
	}
	return file, file.addAll("", top)
}

func (f *configFile) addAll(prefix string, mapping *yaml.Node) error {
	for pair := range slices.Chunk(mapping.Content, 2) {
		if err := f.add(prefix, pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *configFile) add(prefix string, key, value *yaml.Node) error {
	if key.Kind != yaml.ScalarNode {
		return f.errorAt(key, "a key is not a name")
	}
	name := keyOf(flagOf(prefix + key.Value))
	switch {
	case value.Kind == yaml.MappingNode && prefix == "":
		return f.addAll(key.Value+".", value)
	case f.values[name] != nil:
		return f.errorAt(key, "%s is set twice", name)
	case value.Kind != yaml.ScalarNode:
		return f.errorAt(value, "%s takes a single value", name)
	}
	value.Line = key.Line
	f.values[name] = value
	return nil
}

func (f *configFile) errorAt(at *yaml.Node, format string, args ...any) *annotator.Error {
	return annotator.Errorf(annotator.Misused, "%s:%d: %s", f.path, at.Line, fmt.Sprintf(format, args...))
}

func (s *settings) unknownKey(file *configFile, key string) error {
	err := file.errorAt(file.values[key], "there is no setting %q", key)
	if key == "api_key" || key == "key" {
		return err.WithAdvice("keep API keys out of this file: set ANNOTATOR_API_KEY, or name a file that holds the key with api_key_file")
	}
	if near := nearest(flagOf(key), flagNames(s.flags)); near != "" {
		return err.WithAdvice("did you mean %s?", keyOf(near))
	}
	return err.WithAdvice("`annotator run --print-config` lists the settings")
}

// print prints the settings with their sources, as a configuration file with the same effect. Secrets are masked.
func (s *settings) print(a *app) error {
	var lines []string
	var err error
	s.flags.VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		if f.Name == "endpoint" {
			value = withoutSecrets(value)
		}
		line, encodeErr := settingLine(f, value)
		err = errors.Join(err, encodeErr)
		lines = append(lines, fmt.Sprintf("%-32s # %s", line, s.sources[f.Name]))
	})
	if err != nil {
		return err
	}
	key := "not set"
	if s.key.value != "" {
		key = "********, " + s.key.source
	}
	_, err = fmt.Fprintln(a.out, clean(strings.Join(append(lines, "# api_key: "+key), "\n")))
	return err
}

func settingLine(f *pflag.Flag, value string) (string, error) {
	node := yaml.Node{Kind: yaml.ScalarNode, Value: value}
	if f.Value.Type() == "string" {
		node.Tag = "!!str"
		if strings.ContainsAny(value, "\n\r") {
			node.Style = yaml.DoubleQuotedStyle
		}
	}
	text, err := yaml.Marshal(map[string]*yaml.Node{keyOf(f.Name): &node})
	return strings.TrimSpace(string(text)), err
}

// withoutSecrets masks the parts of a URL that may hold a key.
func withoutSecrets(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "(hidden: not a URL)"
	}
	if u.User != nil {
		u.User = url.User("hidden")
	}
	if u.RawQuery != "" {
		u.RawQuery = "hidden"
	}
	u.Fragment = ""
	return u.String()
}
