package browser

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// program is the built program, with a database of the sample story, in its own folder.
var program struct {
	once sync.Once
	dir  string
	err  error
}

func TestMain(m *testing.M) {
	status := m.Run()
	_ = os.RemoveAll(program.dir)
	os.Exit(status)
}

// prepare builds the program and runs the sample once.
func prepare(t *testing.T) {
	t.Helper()
	program.once.Do(func() {
		if program.dir, program.err = os.MkdirTemp("", "browser"); program.err != nil {
			return
		}
		var sample []byte
		if sample, program.err = os.ReadFile("../../testdata/lanterns/lanterns.jsonl"); program.err != nil {
			return
		}
		if program.err = os.WriteFile(filepath.Join(program.dir, "lanterns.jsonl"), sample, 0o600); program.err != nil {
			return
		}
		build := exec.Command("go", "build", "-o", filepath.Join(program.dir, "annotator"), "annotator/cmd/annotator")
		if text, err := build.CombinedOutput(); err != nil {
			program.err = fmt.Errorf("build: %w\n%s", err, text)
			return
		}
		if text, err := command(context.Background(), "run", "lanterns.jsonl", "--endpoint", "offline", "--quiet").
			CombinedOutput(); err != nil {
			program.err = fmt.Errorf("run: %w\n%s", err, text)
		}
	})
	if program.err != nil {
		t.Fatal(program.err)
	}
}

// demo unpacks the codex that a capable model made of the sample, and returns its database.
func demo(t *testing.T) string {
	t.Helper()
	prepare(t)
	path := filepath.Join(t.TempDir(), "lanterns.annotator.db")
	if text, err := command(t.Context(), "demo", "--no-open", "--db", path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// command returns a call of the program in its folder, without the settings of the user.
func command(ctx context.Context, arguments ...string) *exec.Cmd {
	c := exec.CommandContext(ctx, filepath.Join(program.dir, "annotator"), arguments...)
	c.Dir, c.Env = program.dir, []string{"HOME=" + program.dir, "PATH=" + os.Getenv("PATH")}
	return c
}

// serve starts the program for a database, with some flags, and returns the address of its pages.
func serve(t *testing.T, database string, flags ...string) string {
	t.Helper()
	c := command(t.Context(), append([]string{
		"serve", "--db", database, "--listen", "127.0.0.1:0", "--endpoint", "offline",
	}, flags...)...)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) }
	c.WaitDelay = 5 * time.Second
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(line, "http://")
	address, _, _ = strings.Cut(address, "/")
	return "http://" + address
}

// look is the size and the theme of a tab.
type look struct {
	width int64
	dark  bool
}

var looks = []look{{1200, false}, {1200, true}, {360, false}, {360, true}}

func (l look) String() string {
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	return fmt.Sprintf("%s-%d", theme, l.width)
}

// apply sets the size and the theme of a tab.
func (l look) apply() chromedp.Action[chromedp.Void] {
	theme := "light"
	if l.dark {
		theme = "dark"
	}
	return chromedp.Steps(chromedp.EmulateViewport(l.width, 900),
		chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
			_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia,
				emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
					{Name: "prefers-color-scheme", Value: theme}, {Name: "prefers-reduced-motion", Value: "reduce"},
				}})
			return err
		}))
}

// tab opens a tab of a browser. It skips the test if no browser is installed, except in CI.
func tab(t *testing.T) context.Context {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil && path == "" {
			path = found
		}
	}
	if path == "" {
		if os.Getenv("CI") != "" {
			t.Fatal("there is no Chromium; in CI these tests are never skipped")
		}
		t.Skip("there is no Chromium: `apt-get install chromium`")
	}
	prepare(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox,
		chromedp.DisableGPU,
		chromedp.Flag("disable-dev-shm-usage", true),
		// A mouse: without one, a click on a name is a tap, which shows a card first.
		chromedp.Flag("blink-settings", "primaryHoverType=2,availableHoverTypes=2,primaryPointerType=4,"+
			"availablePointerTypes=4"))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	do(ctx, t) // starts the browser
	ctx, cancel = context.WithTimeout(ctx, 10*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

type step = chromedp.Action[chromedp.Void]

// do runs steps in a tab.
func do(ctx context.Context, t *testing.T, steps ...step) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval returns the value of an expression of JavaScript.
func eval[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%.80s: %v", expression, err)
	}
	return value
}

// until waits until an expression of JavaScript is true. While a page is replaced, the expression fails.
func until(ctx context.Context, t *testing.T, expression string) {
	t.Helper()
	for last := error(nil); ; time.Sleep(20 * time.Millisecond) {
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("!!("+expression+")"))
		if err == nil && ok {
			return
		}
		if ctx.Err() != nil {
			t.Fatalf("%s never came true: %v", expression, last)
		}
		last = err
	}
}
