package offline

import (
	"cmp"
	"encoding/json"
	"html"
	"maps"
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// post is a post of a scene with its own text.
type post struct {
	id   int64
	body string
}

// scene is a scene in the window.
type scene struct {
	number int
	thread int64
	posts  []post
}

// window is the content of the messages of a request.
type window struct {
	system      string
	entries     []entry // by id, each in its newest state
	scenes      []scene // in order
	story       string  // the story so far
	last        string  // the last user message
	instruction string  // its text without scenes, posts and entries; only the question, if it has one
	reading     bool    // it has a scene
	answered    bool    // the model has replied since the last scene
	results     []result
}

// result is the result of a tool in the current turn.
type result struct {
	OK    bool
	Entry *entry // its id and term
	Added []int64
}

// readWindow reads the messages from the first to the last.
func readWindow(messages []annotator.Message) *window {
	w := &window{}
	known, calls := map[int64]entry{}, map[string]arguments{}
	for i := range messages {
		switch m := &messages[i]; m.Role {
		case annotator.RoleSystem:
			w.system += m.Content
		case annotator.RoleUser:
			w.readUser(m.Content, known)
		case annotator.RoleAssistant:
			w.answered = true
			for _, call := range m.ToolCalls {
				var a arguments
				_ = json.Unmarshal([]byte(call.Arguments), &a) // arguments that cannot be read are ignored
				calls[call.ID] = a
			}
		case annotator.RoleTool:
			w.readResult(m.Content, calls[m.ToolCallID], known)
		}
	}
	w.instruction = instructionOf(w.last)
	w.entries = slices.SortedFunc(maps.Values(known), func(a, b entry) int { return cmp.Compare(a.ID, b.ID) })
	return w
}

func (w *window) readUser(text string, known map[int64]entry) {
	w.last, w.reading = text, false
	for e := range elements(text, "scene") {
		if e.attrs["number"] == "" {
			continue
		}
		w.scenes = append(w.scenes, scene{int(number(e.attrs["number"])), number(e.attrs["thread"]), readPosts(e.body)})
		w.reading, w.answered, w.results = true, false, nil
	}
	for e := range elements(text, "cumulative_summary") {
		w.story = strings.TrimSpace(html.UnescapeString(e.body))
	}
	for _, e := range readEntries(text) {
		known[e.ID] = e
	}
}

// instructionOf returns a message without scenes, posts and entries. Of a message with a question, it returns only the
// question.
func instructionOf(text string) string {
	for _, data := range []string{"scene", "relevant_entries", "post", "entry"} {
		text = without(text, data)
	}
	for e := range elements(text, "question") {
		return html.UnescapeString(e.body)
	}
	return text
}

func readPosts(text string) []post {
	var posts []post
	for p := range elements(text, "post") {
		body := strings.TrimSuffix(strings.TrimPrefix(p.body, "\n"), "\n")
		posts = append(posts, post{id: number(p.attrs["id"]), body: html.UnescapeString(body)})
	}
	return posts
}

func bodies(posts []post) []string {
	var all []string
	for _, p := range posts {
		all = append(all, p.body)
	}
	return all
}

// number reads the number in an attribute; 0 if it is none.
func number(s string) int64 {
	n, _ := strconv.ParseInt(s, 10, 64)
	return n
}

// readResult reads the result of a call, and applies the arguments of the call to the entry.
func (w *window) readResult(text string, call arguments, known map[int64]entry) {
	var r result
	if !strings.HasPrefix(text, "{") || json.Unmarshal([]byte(text), &r) != nil {
		return
	}
	w.results = append(w.results, r)
	e := r.Entry
	if e == nil || e.ID == 0 || e.Term == "" {
		return
	}
	former := known[e.ID]
	e.Aliases = slices.Concat(former.Aliases, e.Aliases, call.Aliases)
	e.Tags = former.Tags
	if call.Tags != nil {
		e.Tags = call.Tags
	}
	e.facts = slices.DeleteFunc(slices.Clone(former.facts), func(f heldFact) bool {
		return slices.ContainsFunc(call.Close, func(c closing) bool { return c.Fact == f.number })
	})
	for i, number := range r.Added[:min(len(r.Added), len(call.Facts))] {
		e.facts = append(e.facts, heldFact{number: number, text: call.Facts[i].Text})
	}
	if e.Definition == "" {
		e.Definition = former.Definition
		for _, f := range call.Facts {
			e.Definition = strings.TrimSpace(e.Definition + " " + f.Text)
		}
	}
	known[e.ID] = *e
}
