// Package servers is a table of the commands that start model servers so that they support a run. It also has the
// parsers for the calls and the reasoning of each family of models. The table is data, with its sources: servers.yaml.
package servers

import (
	"bytes"
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

//go:embed servers.yaml
var embedded []byte

// Table lists servers and families of models.
type Table struct {
	Servers  []Server
	Families []Family
}

// Server is a model server that a user can start.
type Server struct {
	Name      string
	Endpoint  string   // where it listens by default
	Commands  []string // with {model}, {context}, {tools}, {reasoning} and {template}
	Tools     string   // the flags of a parser of calls, with {parser}; empty: it chooses one by itself
	Reasoning string   // the flags of a parser of thoughts, with {parser}
	Template  string   // the flags of a chat template, with {file}
	Fallback  string   // the parser of calls for a family without one; empty: none is given
	Tried     string   // what of it was tried; empty: all is from documentation
	Notes     []string
	Sources   []string // addresses of documentation
}

// Family is a family of models with the same form of calls and reasoning.
type Family struct {
	Name    string
	Models  string // a regular expression that their simplified names match
	Unless  string // one that none of them matches; may be empty
	Parsers map[string]Parsers
	Note    string // may be empty

	models, unless *regexp.Regexp
}

// Parsers are a server's names of the parsers for a family. Each may be empty.
type Parsers struct {
	Tools     string
	Reasoning string
	Template  string // a file
}

// Load returns the embedded table.
func Load() *Table {
	t, err := parse(embedded)
	if err != nil {
		panic(err) // the embedded file is valid
	}
	return t
}

// parse reads a table. Unknown fields and servers and invalid expressions are errors.
func parse(text []byte) (*Table, error) {
	t := new(Table)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(t); err != nil {
		return nil, err
	}
	for i := range t.Families {
		f := &t.Families[i]
		var err error
		if f.models, err = regexp.Compile(f.Models); err == nil && f.Unless != "" {
			f.unless, err = regexp.Compile(f.Unless)
		}
		if err != nil {
			return nil, fmt.Errorf("family %s: %w", f.Name, err)
		}
		for name := range f.Parsers {
			if !slices.ContainsFunc(t.Servers, func(s Server) bool { return s.Name == name }) {
				return nil, fmt.Errorf("family %s: there is no server %s", f.Name, name)
			}
		}
	}
	return t, nil
}

// Family returns the family of a model by its name; nil where none is known.
func (t *Table) Family(model string) *Family {
	name := simplified(model)
	for i := range t.Families {
		if f := &t.Families[i]; f.models.MatchString(name) && (f.unless == nil || !f.unless.MatchString(name)) {
			return f
		}
	}
	return nil
}

var separators = regexp.MustCompile(`[^a-z0-9.]+`)

// simplified returns a name in the form that the expressions of families match.
func simplified(name string) string {
	return strings.Trim(separators.ReplaceAllString(strings.ToLower(name), "-"), "-")
}

// Start has the commands that start a server for a model.
type Start struct {
	Server   string   `json:"server"`
	Endpoint string   `json:"endpoint"` // to name to a run
	Commands []string `json:"commands"` // in order
	Tried    string   `json:"tried"`    // what of it was tried; empty: all is from documentation
	Notes    []string `json:"notes"`
	Sources  []string `json:"sources"`
}

// Unknown is a placeholder in a command for values that depend on the model, if no model is named.
const (
	UnknownModel  = "MODEL"
	UnknownParser = "PARSER"
)

// Start returns the commands for a model of a family with a context in tokens. The model's name must be quoted as a
// word of a command. Without a family and a model, the commands have placeholders for the parsers.
func (s *Server) Start(model string, family *Family, context int) Start {
	var parsers Parsers
	notes := slices.Clone(s.Notes)
	switch {
	case family != nil:
		parsers = family.Parsers[s.Name]
		if family.Note != "" {
			notes = append(notes, family.Name+": "+family.Note+".")
		}
		if s.Tools != "" && parsers.Tools == "" {
			notes = append(notes, "No parser of its calls is known for "+family.Name+
				"; calls that arrive as text are read where they can be.")
		}
	case model == UnknownModel:
		parsers = Parsers{Tools: UnknownParser, Reasoning: UnknownParser}
	}
	if parsers.Tools == "" {
		parsers.Tools = s.Fallback
	}
	start := Start{Server: s.Name, Endpoint: s.Endpoint, Tried: s.Tried, Notes: notes, Sources: s.Sources}
	fill := strings.NewReplacer("{model}", model, "{context}", fmt.Sprint(context),
		"{tools}", flags(s.Tools, "{parser}", parsers.Tools), "{reasoning}",
		flags(s.Reasoning, "{parser}", parsers.Reasoning),
		"{template}", flags(s.Template, "{file}", parsers.Template))
	for _, command := range s.Commands {
		start.Commands = append(start.Commands, strings.Join(strings.Fields(fill.Replace(command)), " "))
	}
	return start
}

// flags returns flags with their value; empty without a value.
func flags(text, placeholder, value string) string {
	if value == "" {
		return ""
	}
	return strings.ReplaceAll(text, placeholder, value)
}
