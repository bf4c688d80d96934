package edits

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// lines are the lines of the fields that a file has, by their paths: "claims/2/text".
type lines map[string]int

// has reports whether the file has a field.
func (l lines) has(path ...any) bool { return l[pathOf(path...)] != 0 }

// at returns the line of a field, or that of the entry where the file does not have the field.
func (l lines) at(path ...any) int {
	if line := l[pathOf(path...)]; line != 0 {
		return line
	}
	return l[""]
}

func pathOf(parts ...any) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = fmt.Sprint(part)
	}
	return strings.Join(texts, "/")
}

// decode sets a value to what a node says. A struct has the fields of its JSON. An unknown field, one that comes twice
// and a value of another type are errors.
func (l lines) decode(node *yaml.Node, into reflect.Value, path string) error {
	l[path] = node.Line
	isNull := node.Kind == yaml.ScalarNode && node.Tag == "!!null"
	switch into.Kind() {
	case reflect.Pointer:
		if isNull {
			return nil
		}
		into.Set(reflect.New(into.Type().Elem()))
		return l.decode(node, into.Elem(), path)
	case reflect.Struct:
		return l.decodeStruct(node, into, path)
	case reflect.Slice:
		return l.decodeList(node, into, path, isNull)
	}
	if node.Kind != yaml.ScalarNode {
		return misread(node.Line, "%s is a single value", label(path))
	}
	if isNull {
		return nil
	}
	switch into.Kind() {
	case reflect.String:
		into.SetString(node.Value)
	case reflect.Bool:
		if node.Value != "true" && node.Value != "false" {
			return misread(node.Line, "%s is true or false, and not %.40q", label(path), node.Value)
		}
		into.SetBool(node.Value == "true")
	default:
		n, err := strconv.ParseInt(node.Value, 10, 64)
		if err != nil {
			return misread(node.Line, "%s is a number, and not %.40q", label(path), node.Value)
		}
		into.SetInt(n)
	}
	return nil
}

func (l lines) decodeList(node *yaml.Node, into reflect.Value, path string, isNull bool) error {
	if node.Kind != yaml.SequenceNode && !isNull {
		return misread(node.Line, "%s is a list", label(path))
	}
	list := reflect.MakeSlice(into.Type(), len(node.Content), len(node.Content))
	for i, child := range node.Content {
		if err := l.decode(child, list.Index(i), join(path, strconv.Itoa(i))); err != nil {
			return err
		}
	}
	into.Set(list)
	return nil
}

func (l lines) decodeStruct(node *yaml.Node, into reflect.Value, path string) error {
	if node.Kind != yaml.MappingNode {
		return misread(node.Line, "%s has fields, and this is none", label(path))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		field := fieldNamed(into, key.Value)
		switch {
		case !field.IsValid():
			return misread(key.Line, "there is no field %.40q in %s", key.Value, label(path))
		case seen[key.Value]:
			return misread(key.Line, "the field %q comes twice", key.Value)
		}
		seen[key.Value] = true
		if err := l.decode(value, field, join(path, key.Value)); err != nil {
			return err
		}
	}
	return nil
}

// fieldNamed returns the field of a struct with a name in JSON.
func fieldNamed(of reflect.Value, name string) reflect.Value {
	for i := range of.NumField() {
		if tag, _, _ := strings.Cut(of.Type().Field(i).Tag.Get("json"), ","); tag == name && name != "" && name != "-" {
			return of.Field(i)
		}
	}
	return reflect.Value{}
}

func join(path, name string) string { return strings.TrimPrefix(path+"/"+name, "/") }

// label names a path in messages.
func label(path string) string {
	if path == "" {
		return "this"
	}
	return strconv.Quote(path)
}
