package main

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/spf13/pflag"
	"gopkg.in/yaml.v3"
)

// printConfig prints what is in force and where it comes from, as a configuration file that would say the same. The key is
// never shown.
func (a *app) printConfig(settings *pflag.FlagSet, origins map[string]string, key apiKey) error {
	var lines []string
	var failed error
	settings.VisitAll(func(f *pflag.Flag) {
		value := f.Value.String()
		if f.Name == "endpoint" {
			value = withoutSecrets(value)
		}
		line, err := settingLine(f, value)
		if err != nil {
			failed = err
		}
		lines = append(lines, fmt.Sprintf("%-32s # %s", line, origins[f.Name]))
	})
	if failed != nil {
		return failed
	}
	state := "not set"
	if key.value != "" {
		state = "********, " + key.origin
	}
	lines = append(lines, "# api_key: "+state)
	_, err := fmt.Fprintln(a.out, clean(strings.Join(lines, "\n")))
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

// withoutSecrets hides what may be a key in an address.
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
