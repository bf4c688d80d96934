package tools

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Markdown documents the tools of a registry. Its result is docs/tools.md.
func Markdown(r *Registry) string {
	var b strings.Builder
	b.WriteString("# Tools\n\nThe tools of the model. An asterisk marks a required parameter. The first tool exists " +
		"only with\n" +
		"`governance: observe` or `enforce`; see `docs/governance.md`.\n")
	for i := range r.tools {
		t := &r.tools[i]
		fmt.Fprintf(&b, "\n## %s (%s)\n\n%s\n\n", t.Name, t.Permission, strings.TrimSpace(t.Description))
		if t.notes != "" {
			b.WriteString(t.notes + "\n\n")
		}
		b.WriteString("| Parameter | Type | Default | Meaning |\n|---|---|---|---|\n")
		parameterRows(&b, "", r.schemas[t.Name].shown)
	}
	return b.String()
}

// parameterRows writes a row for each parameter, and behind a list of objects a row for each of theirs.
func parameterRows(b *strings.Builder, prefix string, schema *jsonschema.Schema) {
	for _, name := range schema.PropertyOrder {
		star := ""
		if slices.Contains(schema.Required, name) {
			star = "*"
		}
		property := schema.Properties[name]
		fmt.Fprintf(b, "| `%s%s`%s | %s | %s | %s |\n", prefix, name, star, typeName(property), property.Default,
			property.Description)
		if property.Items != nil {
			parameterRows(b, name+"[].", property.Items)
		}
	}
}

func typeName(p *jsonschema.Schema) string {
	switch {
	case p.Enum != nil:
		values := make([]string, len(p.Enum))
		for i, value := range p.Enum {
			values[i] = fmt.Sprint(value)
		}
		return strings.Join(values, ", ")
	case p.Items != nil:
		return p.Type + " of " + p.Items.Type
	case p.Minimum != nil && p.Maximum != nil:
		return fmt.Sprintf("%s, %g to %g", p.Type, *p.Minimum, *p.Maximum)
	}
	return p.Type
}
