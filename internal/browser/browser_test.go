package browser

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"annotator/internal/longtest"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// pages are addresses of the sample, one of each kind. " > " precedes a button that leads to the page.
var pages = []string{
	"/lanterns/where", "/lanterns/where?chapter=2", "/lanterns/?as-of=start", "/lanterns/", "/lanterns/run",
	"/lanterns/entries", "/lanterns/entries?q=nothing+like+it", "/lanterns/entries?sort=first",
	"/lanterns/entry/2", "/lanterns/entry/2?record=1", "/lanterns/entry/2/mentions",
	"/lanterns/entry/2/history", "/lanterns/entry/2/claim/1", "/lanterns/entry/2/named",
	"/lanterns/revision/9", "/lanterns/story", "/lanterns/scene/3", "/lanterns/scene/3?names=all&facts=shown",
	"/lanterns/snapshots", "/lanterns/snapshot/4",
	"/lanterns/plots", "/lanterns/cast", "/lanterns/audit", "/lanterns/audit?scene=3", "/lanterns/turn/3",
	"/lanterns/entry/99999", "/lanterns/?as-of=scene:9",
	"/lanterns/chapter/3391207", "/lanterns/entries?q=wren+guild", "/lanterns/?as-of=nonsense",
	"/lanterns/audit > form[action*=verify] button",
	"/lanterns/snapshot/4 > form.ask button",
}

// demoPages are addresses of the codex of the demo, one of each kind for readers.
var demoPages = []string{
	"/lanterns/where?as-of=scene:30", "/lanterns/", "/lanterns/?as-of=scene:30", "/lanterns/entries",
	"/lanterns/entries?q=who+is+the+keeper+of+the+ninth+lantern", "/lanterns/entry/1", "/lanterns/entry/1?record=1",
	"/lanterns/entry/15", "/lanterns/entry/1/mentions", "/lanterns/entry/1/named", "/lanterns/story",
	"/lanterns/scene/3", "/lanterns/scene/50?names=all&facts=shown", "/lanterns/cast", "/lanterns/run",
	"/lanterns/snapshot/20", "/lanterns/entry/1/history",
}

// TestSearchByKeyboard finds an entry by the keyboard: "/" moves to the search box, and Tab reaches the entry. It
// follows a quotation to its post, where the sentence is marked and visible.
func TestSearchByKeyboard(t *testing.T) {
	t.Parallel()
	ctx := tab(t)
	base := serve(t, "lanterns.annotator.db")
	do(ctx, t, look{1200, false}.apply(), chromedp.Navigate(base+"/lanterns/?as-of=all"), chromedp.KeyEvent("/"),
		chromedp.KeyEvent("Wren Tallow"), chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `location.search.includes("Wren") && document.querySelector(".card .term")`)
	reach(ctx, t, ".card .term")
	do(ctx, t, chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `document.querySelector("article.entry h1")?.innerText.includes("Wren Tallow")`)
	reach(ctx, t, ".sources > a")
	do(ctx, t, chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `location.pathname.includes("/chapter/") && document.getElementById("quote")?.innerText`)
	until(ctx, t, `(() => { const r = document.getElementById("quote").getBoundingClientRect(); return r.top >= 0 && `+
		`r.bottom <= innerHeight })()`)
}

// reach presses Tab until an element has the focus.
func reach(ctx context.Context, t *testing.T, selector string) {
	t.Helper()
	for range 100 {
		do(ctx, t, chromedp.KeyEvent(kb.Tab))
		if eval[bool](ctx, t, fmt.Sprintf("document.activeElement.matches(%q)", selector)) {
			return
		}
	}
	t.Fatalf("the keyboard does not reach %s", selector)
}

// TestEditByKeyboard opens the form of a fact by the keyboard, puts the fact in other words, and takes that back.
func TestEditByKeyboard(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	database := filepath.Join(t.TempDir(), "lanterns.annotator.db")
	backup := command(t.Context(), "backup", "--db", "lanterns.annotator.db", database)
	if text, err := backup.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	base := serve(t, database, "--allow-edits")
	do(ctx, t, look{360, false}.apply(), chromedp.Navigate(base+"/lanterns/entry/2?as-of=all"))
	reach(ctx, t, ".fact .edit > summary")
	do(ctx, t, chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Tab))
	until(ctx, t, `document.activeElement.matches(".fact .edit textarea")`)
	do(ctx, t, chromedp.KeyEvent("Other words of a reader. "), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `document.querySelector(".notice")?.innerText.includes("The fact is changed.")`)
	until(ctx, t, `document.querySelector(".told").innerText.includes("Other words of a reader.")`)
	reach(ctx, t, ".notice button")
	do(ctx, t, chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `document.querySelector(".notice")?.innerText.includes("The edit is taken back.")`)
	until(ctx, t, `!document.querySelector(".told").innerText.includes("Other words of a reader.")`)
}

// TestReviewByKeyboard answers questions of a review by their letters, and takes the last answer back.
func TestReviewByKeyboard(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	base := serve(t, demo(t), "--allow-edits")
	do(ctx, t, look{1200, false}.apply(), chromedp.Navigate(base+"/lanterns/review?as-of=all&kind=quotation"))
	first := eval[string](ctx, t, `document.querySelector("#text").value`)
	do(ctx, t, chromedp.KeyEvent("l"))
	const loaded = `document.readyState == "complete" && `
	until(ctx, t, loaded+fmt.Sprintf(`document.querySelector("#text").value != %q`, first))
	do(ctx, t, chromedp.KeyEvent("e"))
	until(ctx, t, `document.activeElement.matches("#text")`)
	do(ctx, t, chromedp.KeyEvent("nlx These letters are words. "), chromedp.KeyEvent(kb.Enter))
	until(ctx, t, loaded+`document.querySelectorAll(".decisions li").length == 2`)
	do(ctx, t, chromedp.KeyEvent("u"))
	until(ctx, t, `document.querySelectorAll(".decisions li").length == 1`)
}

// TestFirstVisit answers the question by the keyboard. The next page has the limit without it in the address. Then the
// reader goes on by a key, and the text that follows is at the top of the page.
func TestFirstVisit(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	base := serve(t, "lanterns.annotator.db")
	do(ctx, t, look{1200, false}.apply(), chromedp.Navigate(base+"/lanterns/story"))
	reach(ctx, t, "#chapter")
	do(ctx, t, chromedp.KeyEvent("#2"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `location.pathname == "/lanterns/story" && document.querySelectorAll(".chapters > li").length == 2`)
	do(ctx, t, chromedp.Navigate(base+"/lanterns/entries"))
	until(ctx, t, `document.querySelector(".place")?.innerText.includes("scene")`)
	do(ctx, t, chromedp.Navigate(base+"/lanterns/chapter/3391207"), chromedp.KeyEvent(kb.ArrowRight))
	until(ctx, t, `document.activeElement.matches(".read-on button, main *") || location.pathname != "/lanterns/chapter/3391207"`)
}

// TestCard focuses a name in the text, and expects the card that says who it is, with a link to the entry. It hides the
// card by a key.
func TestCard(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	do(ctx, t, look{1200, false}.apply(),
		chromedp.Navigate(serve(t, "lanterns.annotator.db")+"/lanterns/scene/9?as-of=scene:9"))
	reach(ctx, t, ".book a.name")
	until(ctx, t, `document.querySelector(".hover-card:not([hidden]) .card-name a")?.href.includes("as-of=scene%3A9")`)
	do(ctx, t, chromedp.KeyEvent(kb.Escape))
	until(ctx, t, `document.querySelector(".hover-card").hidden`)
}

// TestPageFollowsARun opens the first page of a stopped run, resumes the run, and waits until the page shows its end.
func TestPageFollowsARun(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	arguments := []string{"run", "lanterns.jsonl", "--db", "live.annotator.db", "--endpoint", "offline", "--quiet"}
	if text, err := command(t.Context(), append(arguments, "--limit", "3")...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	do(ctx, t, chromedp.Navigate(serve(t, "live.annotator.db")+"/live/run?as-of=all"))
	until(ctx, t, `document.getElementById("live")?.innerText.includes("The run is stopped")`)
	run := command(t.Context(), arguments...)
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	until(ctx, t, `document.getElementById("live").innerText.includes("The story is read to its end.")`)
	if err := run.Wait(); err != nil {
		t.Fatal(err)
	}
}

// TestAnswerIsShown asks a snapshot, and expects the answer on the page.
func TestAnswerIsShown(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	do(ctx, t, chromedp.Navigate(serve(t, "lanterns.annotator.db")+"/lanterns/snapshot/20?as-of=scene:30"))
	reach(ctx, t, "#question")
	do(ctx, t, chromedp.KeyEvent("Who is Wren Tallow?"), chromedp.KeyEvent(kb.Tab), chromedp.KeyEvent(kb.Enter))
	until(ctx, t, `document.querySelector(".answer")?.innerText.trim()`)
}

// TestPagesAreAccessible runs axe-core on every page, in both themes and at two widths. It fails for elements that are
// wider than the page. With ANNOTATOR_SCREENSHOTS it writes screenshots to that folder.
func TestPagesAreAccessible(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	checkPages(ctx, t, serve(t, "lanterns.annotator.db"), pages)
}

// TestPagesOfTheDemoAreAccessible checks the codex of a capable model in the same way: it has more facts, longer names,
// and summaries.
func TestPagesOfTheDemoAreAccessible(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	checkPages(ctx, t, serve(t, demo(t)), demoPages)
}

// TestPagesWithFormsAreAccessible checks the pages that have forms where edits are allowed.
func TestPagesWithFormsAreAccessible(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	checkPages(ctx, t, serve(t, demo(t), "--allow-edits"), []string{
		"/lanterns/entry/1", "/lanterns/entry/15?as-of=scene:40", "/lanterns/entry/1 > .fact .edit button[value=lock]",
		"/lanterns/entry/1 > .fact .edit button[value=edit]", "/lanterns/review", "/lanterns/review?kind=quotation",
	})
}

func checkPages(ctx context.Context, t *testing.T, base string, pages []string) {
	t.Helper()
	axe, err := os.ReadFile("testdata/axe.min.js")
	if err != nil {
		t.Fatal(err)
	}
	do(ctx, t, chromedp.Navigate(base+"/lanterns/?as-of=all"))
	press(ctx, t, ".place")
	press(ctx, t, "button[value=all]") // a reader who has finished the story
	for i, page := range pages {
		path, button, _ := strings.Cut(page, " > ")
		for _, l := range looks {
			do(ctx, t, l.apply(), chromedp.Navigate(base+path))
			if button != "" {
				press(ctx, t, button)
			}
			if folder := os.Getenv("ANNOTATOR_SCREENSHOTS"); folder != "" {
				screenshot(ctx, t, filepath.Join(folder, fmt.Sprintf("%s-%02d-%s.png", t.Name(), i, l)))
			}
			eval[bool](ctx, t, `document.querySelectorAll("details").forEach(d => { d.open = true }); true`)
			eval[bool](ctx, t, string(axe)+"; true")
			for _, violation := range eval[[]string](ctx, t,
				`axe.run({resultTypes: ["violations"]}).then(found => found.violations.map(v =>
				v.id + ": " + v.nodes.slice(0, 2).map(n =>
				n.html + " " + n.any.map(c => c.message).join(" ")).join(" | ")))`) {
				t.Errorf("%s, %s: %s", path, l, violation)
			}
			if width := eval[int64](ctx, t, "document.documentElement.scrollWidth"); width > l.width {
				t.Errorf("%s is %d wide at %d", path, width, l.width)
			}
		}
	}
}

// press presses a button or a link, and waits for the next page. It fills in the question of a form that has one.
func press(ctx context.Context, t *testing.T, button string) {
	t.Helper()
	eval[bool](ctx, t, fmt.Sprintf(`(() => {
		window.former = true;
		const question = document.querySelector("#question");
		if (question) question.value = "Who is Wren Tallow?";
		document.querySelector(%q).click();
		return true;
	})()`, button))
	until(ctx, t, `!window.former && document.readyState == "complete"`)
}

func screenshot(ctx context.Context, t *testing.T, path string) {
	t.Helper()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(path, picture, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

var update = flag.Bool("update", false, "make the picture of the README anew")

// TestPictureOfTheReadme writes the picture of the README with -update: an entry of the sample, under a limit.
func TestPictureOfTheReadme(t *testing.T) {
	if !*update {
		t.Skip("-update makes the picture of the README")
	}
	ctx := tab(t)
	do(ctx, t, chromedp.EmulateViewport(1100, 760),
		chromedp.Navigate(serve(t, "lanterns.annotator.db")+"/lanterns/entry/12?as-of=scene:60"))
	screenshot(ctx, t, "../../docs/serve.png")
}
