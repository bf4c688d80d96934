package main

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"annotator/exporters"
	"annotator/metrics"
	"annotator/migrations"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestPromises looks for each promise that a version has made: nothing that was promised is gone or has another form.
// With -update what is new is promised, too. Only a person takes a promise back: see docs/promises.md.
func TestPromises(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "promises.list")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	held, promised := promises(t), strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if *update {
		promised = slices.Compact(slices.Sorted(slices.Values(append(promised, held...))))
		if err := os.WriteFile(path, []byte(strings.Join(promised, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, promise := range promised {
		if !slices.Contains(held, promise) {
			t.Errorf("a broken promise: %s. It is in %s; other programs and scripts rely on it", promise, path)
		}
	}
	if first := "schema 1 "; !strings.HasPrefix(release, "0.") && !strings.Contains(string(text), first) {
		t.Errorf("this release has no line %q: run this test with -update", first)
	}
}

// promises are lines of what scripts, other programs and files of users rely on.
func promises(t *testing.T) (lines []string) {
	t.Helper()
	promise := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	a, _ := newTestApp(nil)
	promiseCommand(promise, newRoot(a))
	newSettings().flags.VisitAll(func(f *pflag.Flag) {
		promise("setting %s", f.Name)
		for _, name := range environment(f.Name) {
			promise("environment %s of %s", name, f.Name)
		}
	})
	_, statuses, _ := strings.Cut(longHelp("", exitMisused, exitHalted, exitViolation, exitQuarantined, exitNoCalls,
		exitInterrupted, exitAborted), "\n  ")
	for line := range strings.SplitSeq(statuses, "\n") {
		status, meaning, _ := strings.Cut(strings.TrimSpace(line), " ")
		meaning, _, _ = strings.Cut(strings.TrimSpace(meaning), ",")
		promise("exit %s %s", status, meaning)
	}
	for command, value := range answered() {
		promiseFields(promise, "json "+command+" ", reflect.TypeOf(value), nil)
	}
	for _, field := range jsonFields() {
		promise("event field %s", field)
	}
	for _, kind := range kindsOfNotices(t) {
		promise("event kind %s", kind)
	}
	for _, format := range exporters.All() {
		promise("format %s", format.Name)
	}
	for _, m := range metrics.All() {
		promise("metric %s %s {%s}", m.Type, m.Name, m.Labels)
	}
	if !strings.HasPrefix(release, "0.") { // until then the schema may change
		for i, sql := range migrations.All() {
			promise("schema %d %x", i+1, sha256.Sum256([]byte(sql)))
		}
	}
	return lines
}

func promiseCommand(promise func(string, ...any), cmd *cobra.Command) {
	promise("command %s", cmd.CommandPath())
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		name := "--" + f.Name
		if f.Shorthand != "" {
			name += ", -" + f.Shorthand
		}
		if f.NoOptDefVal == "" {
			name += " VALUE"
		}
		promise("flag %s %s", cmd.CommandPath(), name)
	})
	for _, command := range cmd.Commands() {
		promiseCommand(promise, command)
	}
}

// answered are the values that commands print with --json.
func answered() map[string]any {
	return map[string]any{
		"audit": auditedCall{}, "check": chapterCheck{}, "doctor": diagnosis{}, "edit": doneEdit{},
		"estimate": estimatedRange{}, "eval": evaluation{}, "export": exporters.Document{}, "import": imported{},
		"import-edits": takenEdits{}, "memory interactions": interaction{}, "memory episodes": episode{},
		"memory facts": fact{}, "mentions": mentionList{}, "questions": questionList{}, "review": shownQueue{},
		"run": runSummary{}, "search": searchAnswer{}, "show": shownEntry{}, "snapshot ask": askedQuestion{},
		"snapshot create": createdSnapshot{}, "snapshot diff": snapshotDiff{}, "snapshot list": []snapshotView{},
		"snapshot show": shownSnapshot{}, "standing": standing{}, "status": status{}, "story": storyAnswer{},
		"timeline": timeline{}, "verify": verification{},
	}
}

// promiseFields promises the fields of the JSON of a type, with their types.
func promiseFields(promise func(string, ...any), path string, typ reflect.Type, outer []reflect.Type) {
	marshaler := reflect.TypeFor[json.Marshaler]()
	switch {
	case slices.Contains(outer, typ): // a type that has itself
		promise("%s ...", path)
		return
	case typ.Kind() == reflect.Pointer:
		promiseFields(promise, path, typ.Elem(), outer)
		return
	case typ.Implements(marshaler), typ.Kind() == reflect.Interface:
		promise("%s %s", path, typ)
		return
	}
	outer = append(slices.Clone(outer), typ)
	switch typ.Kind() {
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(typ) {
			if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" && name != "-" {
				promiseFields(promise, path+"."+name, field.Type, outer)
			}
		}
	case reflect.Slice, reflect.Array:
		promiseFields(promise, path+"[]", typ.Elem(), outer)
	case reflect.Map:
		promiseFields(promise, path+"{}", typ.Elem(), outer)
	case reflect.Bool, reflect.String:
		promise("%s %s", path, typ.Kind())
	default:
		promise("%s number", path)
	}
}
