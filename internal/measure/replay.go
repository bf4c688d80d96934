package main

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/corpus/ingest"
	"annotator/internal/scripted"
	"annotator/model/chatwire"
	"annotator/storage"
)

// tokensOf estimates the tokens of a text by its bytes, as the scripted server counts them.
func tokensOf(bytes int) int { return chatwire.Tokens(bytes) }

// replay converts a recorded exchange to calls with facts, plays it as a server over the scenes that it was recorded on, and
// reports what that costs, and whether any edit is lost.
func (o *options) replay(ctx context.Context, out io.Writer) error {
	x, err := readExchange(o.exchange)
	if err != nil {
		return err
	}
	c, replies := x.convert()
	job := walkJob{
		Corpus: filepath.Join(o.folder, "replay.corpus.db"), DB: filepath.Join(o.folder, "replay.db"), Endpoint: "http://scripted/v1", ContextBudget: 32_768,
	}
	if _, err := ingest.Import(ctx, ingest.Options{Sources: []string{o.source}, Corpus: job.Corpus}, nil); err != nil {
		return err
	}
	server := scripted.New(scripted.Options{Strict: true, Script: x.script(replies), MaxModelLen: job.ContextBudget})
	config := job.config()
	config.Limit = len(x.turns)
	run, err := prepare(ctx, job, config, inProcess{server})
	if err != nil {
		return err
	}
	err = run.runner.Run(ctx)
	if err == nil {
		err = c.report(ctx, out, run.store, job.DB)
	}
	return errors.Join(err, run.close())
}

// script answers the n-th request of a scene with the n-th of its replies, then with its closing line. What is asked beside the
// story is answered as scripted.Annotate does.
func (x *exchange) script(replies map[int][]scripted.Reply) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		said := 0
		for _, m := range slices.Backward(r.Messages) {
			found := shownScene.FindStringSubmatch(m.Content)
			switch {
			case m.Role == annotator.RoleAssistant:
				said++
			case m.Role == annotator.RoleUser && found == nil:
				return scripted.Annotate(r)
			case m.Role == annotator.RoleUser:
				n, _ := strconv.Atoi(found[1])
				if all := replies[n]; said < len(all) && r.MayCall() {
					return all[said]
				}
				return scripted.Reply{Text: x.turns[n].closing}
			}
		}
		return scripted.Annotate(r)
	}
}

// report prints the measures.
func (c *converter) report(ctx context.Context, out io.Writer, store *storage.DB, path string) error {
	rows, err := query(ctx, path, `SELECT count(*) FILTER (WHERE purpose = 'annotate'), count(*) FILTER (WHERE purpose <> 'probe'),
		coalesce(sum(completion_tokens) FILTER (WHERE purpose = 'annotate'), 0), coalesce(sum(completion_tokens) FILTER (WHERE purpose <> 'probe'), 0),
		coalesce(sum(prompt_tokens - cached_tokens) FILTER (WHERE purpose <> 'probe'), 0), (SELECT count(*) FROM scene WHERE state = 'recorded') FROM call`)
	if err != nil {
		return err
	}
	n := make([]float64, len(rows[0]))
	for i := range n {
		n[i] = float64(rows[0][i].(int64))
	}
	lost, err := c.lost(ctx, store)
	if err != nil {
		return err
	}
	fresh, former, err := windows(ctx, path, c.requests)
	if err != nil {
		return err
	}
	counts, err := store.Run.Report(ctx)
	if err != nil {
		return err
	}
	facts, scenes := float64(c.facts), n[5]
	fmt.Fprintf(out, "scenes %.0f, facts %d, of these with a quotation %d; quotations without a sentence of their own %d\n\n", scenes, c.facts, c.quoted, c.moved)
	table := [][]string{
		{"requests for scenes, a scene", fmt.Sprintf("%.2f", float64(c.asked)/scenes), fmt.Sprintf("%.2f", n[0]/scenes)},
		{"requests in all, a scene", fmt.Sprintf("%.2f", float64(len(c.requests))/scenes), fmt.Sprintf("%.2f", n[1]/scenes)},
		{"output tokens for scenes, a fact", fmt.Sprintf("%.1f", float64(c.output)/facts), fmt.Sprintf("%.1f", n[2]/facts)},
		{"output tokens in all, a fact", "", fmt.Sprintf("%.1f", n[3]/facts)},
		{"uncached tokens of prompts", fmt.Sprint(uncached(c.requests)), fmt.Sprintf("%.0f", n[4])},
		{"weak quotations", "", fmt.Sprintf("%d of %d", counts.Quotes.Weak, counts.Quotes.Total)},
		{"edits lost", "", fmt.Sprintf("%d of %d", len(lost), c.edits)},
	}
	for _, kind := range windowKinds {
		table = append(table, []string{
			"window: " + kind, fmt.Sprintf("%d (%.0f %%)", former[kind], former.share(kind)), fmt.Sprintf("%d (%.0f %%)", fresh[kind], fresh.share(kind)),
		})
	}
	fmt.Fprint(out, markdown([]string{"", "recorded", "converted"}, table))
	for _, edit := range lost {
		fmt.Fprintln(out, "lost:", edit)
	}
	return nil
}

// lost returns the edits of the converted calls that the codex does not have.
func (c *converter) lost(ctx context.Context, store *storage.DB) (lost []string, err error) {
	for i, want := range c.entries {
		all, err := store.Glossary.Entries(ctx, []int64{int64(i + 1)})
		if err != nil {
			return nil, err
		}
		e := all[int64(i+1)]
		if e == nil {
			lost = append(lost, want.term)
			continue
		}
		for _, name := range want.names {
			if !slices.ContainsFunc(e.Aliases, func(a annotator.Alias) bool { return codex.Normalize(a.Name) == codex.Normalize(name) }) {
				lost = append(lost, want.term+": the name "+name)
			}
		}
		holds := map[string]bool{}
		for j := range e.Claims {
			holds[codex.Normalize(e.Claims[j].Text)] = e.Claims[j].Until == 0
		}
		for _, text := range want.open {
			if !holds[codex.Normalize(text)] {
				lost = append(lost, want.term+": "+text)
			}
		}
		for _, text := range want.closed {
			if holds[codex.Normalize(text)] && !slices.Contains(want.open, text) {
				lost = append(lost, want.term+": to be closed: "+text)
			}
		}
	}
	return lost, nil
}

// windowKinds are the kinds of content of a window, in the order of the report.
var windowKinds = []string{"calls", "results", "scenes", "shown entries", "closing words", "system prompt and tools"}

// content is how many characters of each kind the messages of a run have, summaries and questions left out.
type content map[string]int

func (c content) share(kind string) float64 {
	all := 0
	for _, n := range c {
		all += n
	}
	return 100 * float64(c[kind]) / float64(max(all, 1))
}

func (c content) add(kind, text string) { c[kind] += len([]rune(text)) }

// addScene adds a scene's message: the scene, and the entries shown with it.
func (c content) addScene(text string) {
	at := max(strings.Index(text, "</scene>"), 0)
	c.add("scenes", text[:at])
	c.add("shown entries", text[at:])
}

// windows returns what the messages of the replayed run and of the recorded one consist of.
func windows(ctx context.Context, path string, requests []string) (fresh, former content, err error) {
	fresh, former = content{}, content{}
	rows, err := query(ctx, path, `SELECT kind, content, coalesce(tool, '') || coalesce(arguments, '') FROM trace WHERE turn > 0
		UNION ALL SELECT 'prompt', system_prompt || tools, '' FROM (SELECT * FROM snapshot_context ORDER BY id LIMIT 1)`)
	for _, row := range rows {
		text := fmt.Sprint(row[1])
		switch annotator.TraceKind(row[0].(string)) {
		case annotator.TraceScene:
			fresh.addScene(text)
		case annotator.TraceReply, annotator.TraceClose:
			fresh.add("closing words", text)
		case annotator.TraceCall:
			fresh.add("calls", row[2].(string))
		case annotator.TraceResult:
			fresh.add("results", text)
		case annotator.TracePrompt:
			fresh.add("system prompt and tools", text)
		}
	}
	seen := map[string]bool{} // a compaction has messages sent again
	for _, request := range requests {
		for i, part := range strings.Split(request, "\n--- ") {
			role, text, _ := strings.Cut(part, "\n")
			text, _, _ = strings.Cut(text, "\n=== ")
			if seen[text] {
				continue
			}
			seen[text] = true
			switch role, _, _ := strings.Cut(role, " "); {
			case i == 0 && strings.HasPrefix(part, "=== tools"), role == "system":
				former.add("system prompt and tools", text)
			case role == "user" && shownScene.MatchString(text):
				former.addScene(text)
			case role == "tool":
				former.add("results", text)
			case role == "assistant":
				former.addReply(text)
			}
		}
	}
	return fresh, former, err
}

// addReply adds a reply as the recorded requests have it: calls a line each, and text.
func (c content) addReply(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		if _, call, isCall := strings.Cut(line, "] "); isCall && strings.HasPrefix(line, "[call ") {
			c.add("calls", call)
		} else {
			c.add("closing words", line)
		}
	}
}

// uncached estimates the tokens of recorded prompts that no earlier one began with.
func uncached(requests []string) (tokens int) {
	for _, request := range requests {
		if _, fresh, repeats := strings.Cut(request, "; new:\n"); repeats {
			request = fresh
		}
		tokens += tokensOf(len(html.UnescapeString(request)))
	}
	return tokens
}
