package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"annotator"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// defaultConfigFile is read where it is there and no other is named.
const defaultConfigFile = "annotator.yaml"

// configFile is a configuration file as it was written: what its values mean, their flags know.
type configFile struct {
	path   string
	values map[string]*yaml.Node // scalars, by key: curator.prompt is curator_prompt
}

// readConfig reads the file that is named, else the default one. Where there is none, it is empty.
func readConfig(path string) (*configFile, error) {
	named := path != ""
	if !named {
		path = defaultConfigFile
	}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return &configFile{}, nil
	}
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the configuration: %w", err).WithAdvice("name a file with --config")
	}
	return parseConfig(path, text)
}

// parseConfig reads the text of a configuration file: one mapping of keys to single values, of which those that begin alike may
// stand in a mapping of their own. The path is for errors, which are annotator.Misused and name the line.
func parseConfig(path string, text []byte) (*configFile, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, annotator.Errorf(annotator.Misused, "%s: %w", path, err)
	}
	file := &configFile{path: path, values: map[string]*yaml.Node{}}
	if document.Kind == 0 {
		return file, nil
	}
	top := document.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return file, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, file.wrong(top, "the configuration is not a list of keys and values")
	}
	return file, file.addAll("", top)
}

func (f *configFile) addAll(prefix string, mapping *yaml.Node) error {
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if err := f.add(prefix, mapping.Content[i], mapping.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f *configFile) add(prefix string, key, value *yaml.Node) error {
	if key.Kind != yaml.ScalarNode {
		return f.wrong(key, "a key is not a name")
	}
	name := keyOf(flagOf(prefix + key.Value))
	switch {
	case value.Kind == yaml.MappingNode && prefix == "":
		return f.addAll(key.Value+".", value)
	case f.values[name] != nil:
		return f.wrong(key, "%s is there twice", name)
	case value.Kind != yaml.ScalarNode:
		return f.wrong(value, "%s takes a single value", name)
	}
	value.Line = key.Line
	f.values[name] = value
	return nil
}

func (f *configFile) wrong(at *yaml.Node, format string, args ...any) *annotator.Error {
	return annotator.Errorf(annotator.Misused, "%s:%d: %s", f.path, at.Line, fmt.Sprintf(format, args...))
}

// unknown says that a key is no setting.
func (f *configFile) unknown(key string, settings *pflag.FlagSet) error {
	err := f.wrong(f.values[key], "there is no setting %q", key)
	if key == "api_key" || key == "key" {
		return err.WithAdvice("a key does not belong in this file: set ANNOTATOR_API_KEY, or name a file that holds it with api_key_file")
	}
	var names []string
	settings.VisitAll(func(s *pflag.Flag) { names = append(names, keyOf(s.Name)) })
	if near := nearest(key, names); near != "" {
		return err.WithAdvice("did you mean %s?", near)
	}
	return err.WithAdvice("`annotator run --print-config` lists the settings")
}

// configFlag is how a command is told of a configuration file.
func configFlag(flags *pflag.FlagSet, path *string) {
	flags.StringVar(path, "config", "", "configuration `FILE`; empty: annotator.yaml in this folder, if it is there")
}

// settingFlags gives a command other than run the settings that it has a use for.
func settingFlags(flags, settings *pflag.FlagSet, names ...string) {
	for _, name := range names {
		flags.AddFlag(settings.Lookup(name))
	}
}
