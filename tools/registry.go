package tools

import (
	"context"
	"fmt"
	"slices"

	"annotator"
)

// Tool is a declared tool. Define makes one.
type Tool struct {
	Name        string
	Permission  Permission
	Description string // Markdown: what the model is told

	schema func() (*argumentSchema, error)
	run    func(ctx context.Context, env *Env, arguments []byte) (Result, error)
}

// Define declares a tool whose arguments are the fields of A. Field tags make the schema: json names the parameter and
// omitempty makes it optional, jsonschema describes it, enum lists what it may be (separated by commas), default is
// what an absent one means, min and max bound a number.
//
// The handler gets arguments that fit the schema. It returns a *Failure or a *codex.Refusal for what the model did
// wrong, and any other error for what it did not.
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

// Standard returns the tools that read and write the codex, in the order in which a model is told of them.
func Standard() []Tool {
	return []Tool{searchTool(), createTool(), updateTool(), deleteTool(), readPostTool(), readThreadRangeTool()}
}

// Snapshots returns the tools that ask snapshots, which come after the others.
func Snapshots() []Tool {
	return []Tool{listSnapshotsTool(), summonSnapshotTool(), summonContinueTool(), summonDismissTool()}
}

// All returns every tool, in the order in which a model is told of them.
func All() []Tool { return append(Standard(), Snapshots()...) }

// Registry is an ordered list of tools that can be run. It does not change, and may be used by several goroutines.
type Registry struct {
	tools       []Tool
	schemas     map[string]*argumentSchema
	definitions []annotator.ToolDefinition
}

// New returns a registry of tools, in this order. It fails where a declaration makes no schema or a name stands twice.
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
			Name: t.Name, Description: t.Description, Schema: []byte(encode(s.schema)),
		})
	}
	return r, nil
}

// Definitions returns what a model is told of the tools, the same bytes every time.
func (r *Registry) Definitions() []annotator.ToolDefinition { return slices.Clone(r.definitions) }

// Names returns the names of the tools, in order.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i := range r.tools {
		names[i] = r.tools[i].Name
	}
	return names
}

// Tool returns the tool of exactly that name.
func (r *Registry) Tool(name string) (Tool, bool) {
	at := slices.IndexFunc(r.tools, func(t Tool) bool { return t.Name == name })
	if at < 0 {
		return Tool{}, false
	}
	return r.tools[at], true
}

// Run runs a call. What the model did wrong is a Result with an error code; an error means that the call could not be
// run through no fault of the model, and that nothing of it should be kept.
func (r *Registry) Run(ctx context.Context, env *Env, call annotator.ToolCall) (Result, error) {
	result, err := r.run(ctx, env, call)
	if failure := failureOf(err); failure != nil {
		return failure.result(), nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", call.Name, err)
	}
	return result, nil
}

func (r *Registry) run(ctx context.Context, env *Env, call annotator.ToolCall) (Result, error) {
	tool, arguments, coerced, err := r.read(call)
	if err != nil {
		return Result{}, err
	}
	result, err := tool.run(ctx, env, arguments)
	result.Coerced = coerced
	return result, err
}

// Check tells whether a call can be run: its tool exists, and its arguments fit the schema. The error is a *Failure.
func (r *Registry) Check(call annotator.ToolCall) error {
	_, _, _, err := r.read(call)
	return err
}

// read finds a call's tool and reads its arguments. See shape.read.
func (r *Registry) read(call annotator.ToolCall) (tool Tool, arguments []byte, coerced []string, err error) {
	tool, ok := r.Tool(call.Name)
	if !ok {
		return tool, nil, nil, &Failure{
			Code: UnknownTool, Message: fmt.Sprintf("there is no tool %.100q", call.Name), Tools: r.Names(),
		}
	}
	arguments, coerced, err = r.schemas[tool.Name].read(call.Arguments)
	return tool, arguments, coerced, err
}

// Failed returns the answer to a call whose effect was undone because the database refused it: a rule that the handler did
// not see coming.
func RolledBackResult(call annotator.ToolCall, err error) Result {
	failure := Failure{Code: ExecutionError, Message: fmt.Sprintf("nothing was changed: %.300s", err)}
	switch call.Name {
	case UpdateName:
		failure.Code = UpdateFailed
	case "glossary_delete":
		failure.Code = DeleteFailed
	}
	return failure.result()
}
