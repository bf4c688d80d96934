package web_test

import (
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"annotator"
)

// TestCardsShowTheFactThatMatched searches for words of facts. A card has the fact with the most of them, marked and
// escaped.
func TestCardsShowTheFactThatMatched(t *testing.T) {
	t.Parallel()
	path := copySample(t)
	long := strings.Repeat("Much is told of the road before. ", 20) + "There stands a <b>zymurgist's</b> house. " +
		strings.Repeat("And much after. ", 20)
	ids := addEntriesWith(t, path, []string{"Zorvath", "Quillon"}, func(name string) []string {
		if name == "Quillon" {
			return []string{"A town.", long}
		}
		return []string{
			"Keeps bees.", "Fears the Égrets of <Quolm> & 'others'.", "Egrets fear him.",
			"Sells honey in Quolm to egrets.",
		}
	})
	s := serve(t, path, nil)
	fact := fmt.Sprintf(`/lanterns/entry/%d?fact=`, ids[0])
	for query, want := range map[string][]string{
		"quolm": {
			"Fears the Égrets of &lt;<mark>Quolm</mark>&gt; &amp; &#39;others&#39;.", fact + "2#fact-2",
		},
		"egrets quolm": {"Fears the <mark>Égrets</mark> of &lt;<mark>Quolm</mark>&gt;"},
		"HONEY quolm":  {"Sells <mark>honey</mark> in <mark>Quolm</mark>", fact + "4#fact-4"},
		"zorvath":      {"Keeps bees."}, // its name, which no fact has
		"zymurgist":    {"<p>…", "stands a &lt;b&gt;<mark>zymurgist</mark>&#39;s&lt;/b&gt; house."},
	} {
		body := cardsOf(s.want("/lanterns/entries?q="+url.QueryEscape(query), 200))
		for _, text := range want {
			if !strings.Contains(body, text) {
				t.Errorf("%q: %q is not in %s", query, text, body)
			}
		}
		if strings.Count(body, "…") > 2 || len(body) > 2_000 {
			t.Errorf("%q: the cards are too long: %s", query, body)
		}
	}
	if body := cardsOf(s.want("/lanterns/entries", 200)); strings.Contains(body, "<mark>") {
		t.Error("without words there are words that are marked")
	}
	var found struct {
		Entries []struct{ ID, Match int64 }
	}
	if err := json.Unmarshal([]byte(s.get("/lanterns/entries?q=honey&format=json").body), &found); err != nil ||
		len(found.Entries) != 1 || found.Entries[0].Match != 4 {
		t.Errorf("as JSON: %+v, %v", found, err)
	}
}

func cardsOf(body string) string {
	_, cards, _ := strings.Cut(body, `<ul class="cards">`)
	cards, _, _ = strings.Cut(cards, "</ul>")
	return cards
}

// TestCardsKeepTheLimit searches for the words of each fact, with limits at the end of its scene and of the scene
// before.
func TestCardsKeepTheLimit(t *testing.T) {
	t.Parallel()
	s := open(t, nil)
	word := regexp.MustCompile(`[A-Za-z]{6,}`)
	after, before := 0, 0
	var entries []*annotator.Entry
	told := map[string]annotator.Place{} // where a text is told first, by whatever entry
	for e, err := range s.db.Glossary.All(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, e)
		for _, c := range e.Claims {
			if first, found := told[c.Text]; !found || c.From < first {
				told[c.Text] = c.From
			}
		}
	}
	for _, e := range entries {
		for i := range e.Claims {
			c := &e.Claims[i]
			words := word.FindAllString(c.Text, -1)
			scene := int(c.From.Order() / annotator.OrderStep)
			if c.Until == 0 && scene > 1 && len(words) > 1 && e.Status.Live() {
				path := "/lanterns/entries?q=" + url.QueryEscape(strings.Join(words, " "))
				if cards := cardsOf(s.want(fmt.Sprintf("%s&as-of=scene:%d", path, scene), 200)); strings.Contains(
					plain(cards), c.Text) {
					after++
				}
				if strings.Contains(plain(cardsOf(s.want(fmt.Sprintf("%s&as-of=scene:%d", path, scene-1), 200))),
					c.Text) && told[c.Text] == c.From {
					t.Errorf("%s, fact %d of scene %d is shown before", e.Term, c.ID, scene)
				}
				before++
			}
		}
	}
	if before < 20 || after < before*8/10 { // those that are long are shown in part
		t.Errorf("of %d facts %d are shown from their scene on", before, after)
	}
}

// plain returns the text of a page.
func plain(body string) string {
	return html.UnescapeString(regexp.MustCompile(`<[^>]*>`).ReplaceAllString(body, ""))
}
