package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// settings are the settings of a command with the source of each value. Precedence: flag, environment, configuration
// file, the user's own configuration file, default.
type settings struct {
	Config
	flags     *pflag.FlagSet
	file      string            // configuration file that --config names; empty: the default one, if it exists
	read      []string          // configuration files that were read
	sources   map[string]string // by flag name
	fromLocal map[string]bool   // by flag name: set by annotator.yaml in this folder, which the user did not name
	key       apiKey
	session   string // names the story to a router; empty: none is named

	severalEndpoints bool              // the command takes more than one
	transport        http.RoundTripper // to servers; nil: the network
}

// defaultSource marks a setting that was set nowhere.
const defaultSource = "default"

func newSettings() *settings {
	s := &settings{
		flags: pflag.NewFlagSet("settings", pflag.ContinueOnError), sources: map[string]string{},
		fromLocal: map[string]bool{},
	}
	s.flags.SortFlags = false
	s.declare(s.flags)
	return s
}

// addTo adds --config and the named settings to a command's flags, in the order of their names.
func (s *settings) addTo(flags *pflag.FlagSet, names ...string) {
	flags.SortFlags = false
	flags.StringVar(&s.file, "config", "",
		"configuration `FILE`; empty: annotator.yaml in this folder, if it exists, which may not set everything")
	for _, name := range names {
		flags.AddFlag(s.flags.Lookup(name))
	}
}

// load sets and checks every setting. The command line has been parsed.
func (s *settings) load(a *app) error {
	s.transport = a.transport
	files, err := s.readFiles(a)
	if err != nil {
		return err
	}
	if err := s.merge(a, files...); err != nil {
		return err
	}
	if err := s.check(); err != nil {
		return err
	}
	if err := s.loadBounds(a.now()); err != nil {
		return err
	}
	if len(s.Others) > 0 && !s.severalEndpoints {
		return annotator.Errorf(annotator.Misused, "this command takes one endpoint, but %d were given",
			1+len(s.Others)).WithAdvice("name one with --endpoint")
	}
	if s.sources["patience"] != defaultSource {
		s.Retry.FirstContact = 0
	}
	return s.loadKey(a)
}

// readFiles reads the configuration files: the named one, else the one in this folder; then the user's own.
func (s *settings) readFiles(a *app) (files []*configFile, err error) {
	first, isOptional := s.file, s.file == ""
	if isOptional {
		first = defaultConfigFile
	}
	file, err := readConfigFile(first, isOptional)
	if err != nil {
		return nil, err
	}
	file.local = isOptional
	files = append(files, file)
	if folder, err := a.configDir(); err == nil { // it fails if the environment names no home
		own, err := readConfigFile(filepath.Join(folder, "annotator", "config.yaml"), true)
		if err != nil {
			return nil, err
		}
		files = append(files, own)
	}
	for _, file := range files {
		if file.values != nil {
			s.read = append(s.read, file.path)
		}
	}
	return files, nil
}

// unsafeSettings name the settings that annotator.yaml may set only if --config names it. Another person may have
// written the file, and these settings send a file as the key or write to one.
var unsafeSettings = [...]string{"api-key-file", "shared-key-file", "log-file", "events"}

// merge sets the flags that were not given on the command line. An earlier file takes precedence over a later one.
func (s *settings) merge(a *app, files ...*configFile) (err error) {
	for _, file := range files {
		for key, value := range file.values {
			if s.flags.Lookup(flagOf(key)) == nil {
				return s.unknownKey(file, key)
			}
			if file.local && slices.Contains(unsafeSettings[:], flagOf(key)) {
				return file.errorAt(value, "a configuration file that was only found in this folder may not set %s",
					key).
					WithAdvice("--config %s allows it", file.path)
			}
		}
	}
	s.flags.VisitAll(func(f *pflag.Flag) {
		if err == nil {
			s.sources[f.Name], err = s.setFlag(a, f, files)
		}
	})
	return err
}

// setFlag sets a flag that was not given on the command line, and returns where its value comes from.
func (s *settings) setFlag(a *app, f *pflag.Flag, files []*configFile) (source string, err error) {
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
	for _, file := range files {
		if value, ok := file.values[keyOf(f.Name)]; ok {
			s.fromLocal[f.Name] = file.local
			where := fmt.Sprintf("%s:%d", file.path, value.Line)
			return "file " + where, set(where+": "+keyOf(f.Name), value.Value)
		}
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
	local  bool                  // annotator.yaml in this folder, which the user did not name
	values map[string]*yaml.Node // scalars by key; curator.prompt is curator_prompt
}

// defaultConfigFile is read if it exists and no other file is named.
const defaultConfigFile = "annotator.yaml"

// readConfigFile reads a configuration file. An optional one that is missing is empty.
func readConfigFile(path string, isOptional bool) (*configFile, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && isOptional {
		return &configFile{}, nil
	}
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the configuration: %w", err).
			WithAdvice("name a file with --config")
	}
	return parseConfigFile(path, text)
}

// parseConfigFile parses a mapping of keys to scalars. A nested mapping may hold keys with a common prefix. The path is
// for errors, which are annotator.Misused and name the line.
func parseConfigFile(path string, text []byte) (*configFile, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err).
			WithAdvice("`annotator init FILE` writes a configuration to start from")
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
		return err.WithAdvice("keep API keys out of this file: set ANNOTATOR_API_KEY, or name a file that " +
			"holds the key with api_key_file")
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
		value := valueText(f)
		if f.Name == "endpoint" {
			value = maskEndpoints(value)
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
	} else if s.key.warning != "" {
		key = s.key.warning
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

// maskEndpoints masks the parts of the endpoints' addresses that may hold a key.
func maskEndpoints(list string) string {
	var masked []string
	for address := range strings.SplitSeq(list, ",") {
		masked = append(masked, withoutSecrets(address))
	}
	return strings.Join(masked, ",")
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

// valueText returns the value of a flag as it is set: a list without the brackets that it shows.
func valueText(f *pflag.Flag) string {
	value := f.Value.String()
	if f.Value.Type() == "stringSlice" {
		value = strings.TrimSuffix(strings.TrimPrefix(value, "["), "]")
	}
	return value
}
