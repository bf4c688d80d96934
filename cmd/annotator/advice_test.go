package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"annotator"
)

// TestOnlyCommandsNameCommands fails if a string of another package names a command, a flag or an environment variable
// of this program. Flags of model servers are allowed.
func TestOnlyCommandsNameCommands(t *testing.T) {
	t.Parallel()
	ours := namesOfCommands()
	for _, text := range []string{
		"run `annotator doctor`", "raise --context-budget", "set ANNOTATOR_API_KEY",
		"see annotator verify",
	} {
		if !ours.MatchString(text) {
			t.Errorf("%q is not found", text)
		}
	}
	for path, file := range lowerFiles(t) {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err != nil || ours.MatchString(text) {
					t.Errorf("%s:%d: %q names %q: give the error a reason, and advice.go the advice",
						path, file.set.Position(node.Pos()).Line, text, ours.FindString(text))
				}
			}
			return true
		})
	}
}

// namesOfCommands matches the commands, flags and variables of this program.
func namesOfCommands() *regexp.Regexp {
	a, _ := newTestApp(nil)
	var commands, flags []string
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		command.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f.Name) })
		for _, c := range command.Commands() {
			visit(c)
		}
	}
	root := newRoot(a)
	visit(root)
	for _, c := range root.Commands() {
		commands = append(commands, c.Name())
	}
	return regexp.MustCompile(`\bannotator (` + strings.Join(commands, "|") + `)\b|(^|[^-\w])--(` + strings.Join(flags,
		"|") + `)($|[^-\w])|\bANNOTATOR_[A-Z_]+`)
}

type sourceFile struct {
	set  *token.FileSet
	tree *ast.File
}

// lowerFiles returns the source files of the packages below this one, by path. It omits test support.
func lowerFiles(t *testing.T) map[string]sourceFile {
	t.Helper()
	const root = "../.."
	shipped := map[string]bool{"sqlite": true, "laxjson": true, "atomicfile": true, "chatwire": true}
	files := map[string]sourceFile{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		parts := strings.Split(filepath.ToSlash(name), "/")
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (parts[0] == "cmd" || parts[0] == "fleet" || // a module of its own
			len(parts) == 2 && parts[0] == "internal" && !shipped[parts[1]]):
			return filepath.SkipDir
		case entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		files[name] = sourceFile{set, tree}
		return err
	})
	if err != nil || len(files) < 100 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// TestEveryReasonHasAdvice fails for a reason without advice, and for advice without a reason.
func TestEveryReasonHasAdvice(t *testing.T) {
	t.Parallel()
	reasons := map[annotator.Reason]bool{
		annotator.Reason(annotator.InUse): true, annotator.Reason(annotator.NoCalls): true,
		annotator.Reason(annotator.Quarantined): true,
	}
	ast.Inspect(lowerFiles(t)["reason.go"].tree, func(node ast.Node) bool {
		if literal, ok := node.(*ast.BasicLit); ok {
			text, _ := strconv.Unquote(literal.Value)
			reasons[annotator.Reason(text)] = true
		}
		return true
	})
	for reason := range reasons {
		if adviceFor[reason] == "" {
			t.Errorf("%q has no advice", reason)
		}
	}
	for reason := range adviceFor {
		if !reasons[reason] {
			t.Errorf("there is no reason %q", reason)
		}
	}
}

// TestReasonsAreGivenTheirValues fails if an error has other values than the advice for its reason uses.
func TestReasonsAreGivenTheirValues(t *testing.T) {
	t.Parallel()
	declared := map[string]annotator.Reason{}
	files := lowerFiles(t)
	ast.Inspect(files["reason.go"].tree, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok {
			text, _ := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			declared[spec.Names[0].Name] = annotator.Reason(text)
		}
		return true
	})
	found := 0
	for path, file := range files {
		ast.Inspect(file.tree, func(node ast.Node) bool {
			call, ok := node.(*ast.CallExpr)
			if !ok || len(call.Args) == 0 {
				return true
			}
			method, _ := call.Fun.(*ast.SelectorExpr)
			reason, _ := call.Args[0].(*ast.SelectorExpr)
			if method == nil || method.Sel.Name != "WithReason" || reason == nil || declared[reason.Sel.Name] == "" {
				return true
			}
			found++
			var values []any
			for n := range call.Args[1:] {
				values = append(values, fmt.Sprint("value", n))
			}
			text := advice(declared[reason.Sel.Name], values)
			if strings.Contains(text, "%!") {
				t.Errorf("%s:%d: %s", path, file.set.Position(node.Pos()).Line, text)
			}
			return true
		})
	}
	if found < 40 {
		t.Errorf("only %d errors have a reason", found)
	}
}

// TestAdviceIsForTheOutermostReason: advise replaces no advice, and finds reasons below other errors.
func TestAdviceIsForTheOutermostReason(t *testing.T) {
	t.Parallel()
	noRun := annotator.Errorf(annotator.NotFound, "no run").WithReason(annotator.ReasonNoRun, "my book.db")
	plain := errors.New("plain")
	for want, err := range map[string]error{
		"no run; fill it with `annotator run SOURCE --db 'my book.db'`":       noRun,
		"open: no run; fill it with `annotator run SOURCE --db 'my book.db'`": fmt.Errorf("open: %w", noRun),
		"open: no run; do this": annotator.Errorf(annotator.Misused, "open: %w", noRun).WithAdvice("do this"),
		"plain":                 plain,
		"2 of 3 scenes; `annotator status` names them and says why": annotator.Errorf(annotator.Quarantined,
			"2 of 3 scenes"),
		"refused; start the server, or give another address with --endpoint, then run " +
			"again to resume": annotator.Errorf(annotator.Halted, "refused").WithReason(annotator.ReasonUnreachable),
		"failed; see whether server, model and context are as they should be, then run again to go on, or `annotator " +
			"retry` to have these scenes read again": annotator.Errorf(annotator.Halted, "failed").
			WithReason(annotator.ReasonScenesFail),
	} {
		got := advise(err)
		if got.Error() != want {
			t.Errorf("%v, not %s", got, want)
		}
		if exitStatus(got) != exitStatus(err) || !errors.Is(got, err) && got.Error() == err.Error() {
			t.Errorf("%v has another status than %v", got, err)
		}
		if again := advise(got); again.Error() != want {
			t.Errorf("advised twice: %v", again)
		}
	}
	if advise(nil) != nil {
		t.Error("no error became one")
	}
}
