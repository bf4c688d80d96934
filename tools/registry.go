package tools

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"annotator"
)

// Tool is a tool of the model. Define returns one.
type Tool struct {
	Name        string
	Permission  Permission
	Description string // Markdown, for the model

	notes  string // Markdown, for docs/tools.md
	schema func() (*argumentSchema, error)
	run    func(ctx context.Context, env *Env, arguments []byte) (Result, error)
}

// Define declares a tool whose arguments are the fields of A. Field tags define the schema:
//   - json names the parameter, and its omitempty makes it optional;
//   - jsonschema describes it;
//   - enum lists its values, separated by commas;
//   - default is the value of an absent parameter;
//   - min and max bound a number;
//   - shown changes what models see: "required" is a parameter whose absence the tool itself answers,
//     "brief" is a list of objects whose parameters another tool describes, and "hidden" is a parameter that models
//     hardly ever give, and that a tight window has no room for.
//
// The handler receives arguments that fit the schema. It returns a *Failure or a *codex.Refusal for a mistake of the
// model, and any other error otherwise.
func Define[A any](name string, permission Permission, description string,
	handle func(ctx context.Context, env *Env, arguments A) (Result, error),
) Tool {
	return Tool{
		Name: name, Permission: permission, Description: description,
		schema: schemaFor[A],
		run: func(ctx context.Context, env *Env, encoded []byte) (Result, error) {
			arguments, err := unmarshal[A](encoded)
			if err != nil {
				return Result{}, err
			}
			return handle(ctx, env, arguments)
		},
	}
}

//go:embed *.md
var descriptions embed.FS

// describe returns what a tool's .md file has for the model, and what follows a line of dashes in it, for docs/tools.md
// alone.
func describe(tool string) (description, notes string) {
	text, err := descriptions.ReadFile(tool + ".md")
	if err != nil {
		panic(err) // the file is missing in this folder
	}
	description, notes, _ = strings.Cut(string(text), "\n---\n")
	return strings.TrimSpace(description) + "\n", strings.TrimSpace(notes)
}

// define declares a tool that is described by its .md file.
func define[A any](name string, permission Permission,
	handle func(ctx context.Context, env *Env, arguments A) (Result, error),
) Tool {
	text, notes := describe(name)
	tool := Define(name, permission, text, handle)
	tool.notes = notes
	return tool
}

// Standard returns the tools that read and write the codex, in the order of the prompt.
func Standard() []Tool {
	return []Tool{
		define("glossary_search", Reads, search),
		define(CreateName, Writes, create),
		define(UpdateName, Writes, update),
		define(deleteName, Retires, retire),
		define(AskName, Asks, ask),
		define("read_post", Reads, readPost),
		define("read_thread_range", Reads, readThreadRange),
	}
}

// Snapshots returns the tools that ask snapshots. They follow the others in the prompt.
func Snapshots() []Tool {
	return []Tool{
		define("list_snapshots", Reads, listSnapshots),
		define(SummonName, Summons, summonSnapshot),
		define("summon_continue", Summons, summonContinue),
		define("summon_dismiss", Summons, summonDismiss),
	}
}

// All returns every tool, in the order of the prompt.
func All() []Tool { return append(Standard(), Snapshots()...) }

// Registry is an ordered list of tools. It is immutable and safe for concurrent use.
type Registry struct {
	tools       []Tool
	schemas     map[string]*argumentSchema
	definitions []annotator.ToolDefinition
}

// New returns a registry of tools, in this order. It fails if a schema is invalid or a name is duplicated.
func New(declared ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(declared), schemas: map[string]*argumentSchema{}}
	for i := range declared {
		t := &declared[i]
		if r.schemas[t.Name] != nil {
			return nil, fmt.Errorf("tool %s is declared twice", t.Name)
		}
		s, err := t.schema()
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name, err)
		}
		r.schemas[t.Name] = s
		r.definitions = append(r.definitions, annotator.ToolDefinition{
			Name: t.Name, Description: t.Description, Schema: []byte(annotator.EncodeJSON(s.shown)),
		})
	}
	return r, nil
}

// Definitions returns the tools as a model sees them. The bytes are always the same.
func (r *Registry) Definitions() []annotator.ToolDefinition { return slices.Clone(r.definitions) }

// Names returns the names of the tools, in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i := range r.tools {
		names[i] = r.tools[i].Name
	}
	return names
}

// Tool returns the tool with exactly that name.
func (r *Registry) Tool(name string) (Tool, bool) {
	at := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Name == name })
	if at < 0 {
		return Tool{}, false
	}
	return r.tools[at], true
}

// Parse reads a call as its model wrote it. One that cannot run has the reason.
func (r *Registry) Parse(call annotator.ToolCall) annotator.ParsedCall {
	parsed, err := r.parse(call)
	if failure := failureOf(err); failure != nil {
		parsed.Failure = []byte(annotator.EncodeJSON(failure))
	}
	return parsed
}

// Check reports whether a call can run: its tool exists and its arguments fit the schema. The error is a *Failure.
func (r *Registry) Check(call annotator.ToolCall) error {
	_, err := r.parse(call)
	return err
}

// parse reads a call. The error is a *Failure. The call then has what can be read of it.
func (r *Registry) parse(call annotator.ToolCall) (annotator.ParsedCall, error) {
	parsed := annotator.ParsedCall{Tool: call.Name}
	schema, exists := r.schemas[call.Name]
	if exists && call.Arguments == "" && len(schema.schema.Required) == 0 {
		call.Arguments = "{}"
	}
	if strings.HasPrefix(strings.TrimSpace(call.Arguments), "{") && json.Valid([]byte(call.Arguments)) {
		parsed.Arguments = []byte(call.Arguments)
	}
	object, err := parseObject(call.Arguments)
	if !exists {
		err = r.unknownTool(call.Name)
	} else if err == nil {
		if problems := schema.fit(object); problems != nil {
			err = invalid(problems...)
		}
	}
	if object != nil {
		unescapeAll(object)
		parsed.Arguments, parsed.Done = []byte(annotator.EncodeJSON(object)), object["done"] == true
	}
	return parsed, err
}

func (r *Registry) unknownTool(name string) *Failure {
	return &Failure{Code: UnknownTool, Message: fmt.Sprintf("there is no tool %.100q", name), Tools: r.Names()}
}

// Run runs a call. A mistake of the model is a Result. After an error the caller must discard the call's effects.
func (r *Registry) Run(ctx context.Context, env *Env, call annotator.ParsedCall) (Result, error) {
	result, err := r.run(ctx, env, call)
	if failure := failureOf(err); failure != nil {
		return failure.result(env.maxContent()), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", call.Tool, err)
	}
	return result, nil
}

func (r *Registry) run(ctx context.Context, env *Env, call annotator.ParsedCall) (Result, error) {
	tool, exists := r.Tool(call.Tool)
	switch {
	case call.Failure != nil:
		failure := new(Failure)
		return Result{}, errors.Join(json.Unmarshal(call.Failure, failure), failure)
	case !exists:
		return Result{}, r.unknownTool(call.Tool)
	}
	return tool.run(ctx, env, call.Arguments)
}

// RolledBackResult returns the answer to a call of a tool that was rolled back because it broke a constraint of the
// database.
func RolledBackResult(tool string, err error) Result {
	failure := failf(ExecutionError, "nothing was changed: %.300s", err)
	switch tool {
	case UpdateName:
		failure.Code = UpdateFailed
	case deleteName:
		failure.Code = DeleteFailed
	}
	return failure.result(maxAnswer - frame)
}
