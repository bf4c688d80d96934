package browser

import (
	"context"
	"fmt"
	"testing"

	"annotator/internal/longtest"

	"github.com/chromedp/chromedp"
)

// clicks counts the clicks of a reader in a tab.
type clicks struct {
	ctx   context.Context
	t     *testing.T
	count int
}

// click clicks with the mouse on the middle of the first element with a selector, and with a text if one is given.
func (c *clicks) click(selector, text string) {
	c.t.Helper()
	find := fmt.Sprintf(`[...document.querySelectorAll(%q)].find(e => e.innerText.includes(%q))`, selector, text)
	until(c.ctx, c.t, find)
	at := eval[[]float64](c.ctx, c.t, fmt.Sprintf(`(() => { const e = %s;
		e.scrollIntoView({block: "center"}); const r = e.getClientRects()[0];
		return [r.left + r.width / 2, r.top + r.height / 2] })()`, find))
	do(c.ctx, c.t, chromedp.MouseClickXY(at[0], at[1]))
	c.count++
}

// want waits until an expression is true, and expects that it took a number of clicks.
func (c *clicks) want(expression string, count int) {
	c.t.Helper()
	until(c.ctx, c.t, expression)
	if c.count != count {
		c.t.Errorf("%s took %d clicks, not %d", expression, c.count, count)
	}
}

// TestTasks does what readers come for, on the codex of the demo, under a limit. Who is this, and where did I read it?
// What has happened to her until here? Who is in this chapter? Then it reads on. Each is one click from the text.
func TestTasks(t *testing.T) {
	longtest.Only(t, "one walk through the pages is in the sample")
	t.Parallel()
	ctx := tab(t)
	base := serve(t, demo(t))
	text := base + "/lanterns/scene/14?as-of=scene:14"
	open := func(address string) *clicks {
		do(ctx, t, look{1200, false}.apply(), chromedp.Navigate(address))
		until(ctx, t, `document.querySelector("main h1")`)
		return &clicks{ctx: ctx, t: t}
	}
	const names, her = ".book a.name", "Marrow" // Ysolde, of the Watch

	who := open(text)
	who.click(names, her)
	who.want(`document.querySelector("article.entry h1")?.innerText == "Ysolde Marrow" &&
		document.querySelector(".gist .claim").innerText.includes("Mere Watch")`, 1)
	who.click(".infobox dd a[href*='/scene/']", ", scene 6") // where did I read of her first?
	who.want(`location.pathname.includes("/chapter/") && location.hash == "#scene-6"`, 2)

	happened := open(text)
	happened.click(names, her)
	happened.want(`document.querySelectorAll(".told .facts .fact").length > 8 &&
		!document.body.innerText.includes("Tomas")`, 1) // of whom later chapters tell

	people := open(text)
	people.click(".in-chapter summary", "")
	people.want(`[...document.querySelectorAll(".in-chapter .who a")].some(a => a.innerText == "Ysolde Marrow" &&
		a.checkVisibility())`, 1)

	on := open(text)
	on.click(".read-on button", "")
	on.want(`location.hash == "#scene-15" && document.getElementById("scene-15")`, 1)
}
