// Package snapshot rebuilds the context that the model had at a snapshot, and has the model answer questions in it.
package snapshot

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
	"annotator/context/window"
	"annotator/model"
	"annotator/storage"
	"annotator/tools"
)

// Context is the context of the model at a snapshot, byte for byte, followed by the questions and answers since.
type Context struct {
	Snapshot annotator.Snapshot
	Stored   storage.Prompt // the system prompt and the tools that were in force
	prompt   *window.Prompt
}

// Journal reads the rows of turns and the prompts that were in force.
type Journal interface {
	window.Journal
	// Prompt returns the system prompt and the tools that a snapshot names.
	Prompt(ctx context.Context, id int64) (storage.Prompt, error)
	// AnswerTo returns a question to the curator by its row, and the reply to it, which is empty if there is none.
	AnswerTo(ctx context.Context, question int64) (text, reply string, err error)
}

// noAnswer is the curator's reply if none is recorded, so that roles alternate.
const noAnswer = "I have given no usable answer."

// Restore computes the context at a snapshot from the journal, in the form of a wire. The context of a fork is the
// question to the curator, followed by its answer.
func Restore(
	ctx context.Context, snapshot annotator.Snapshot, wire model.Encoder, journal Journal, episodes window.Episodes,
) (*Context, error) {
	stored, err := journal.Prompt(ctx, snapshot.Context)
	if err != nil {
		return nil, err
	}
	prefix, err := Prefix(&stored, wire)
	if err != nil {
		return nil, err
	}
	p, err := window.At(ctx, &snapshot, prefix, wire.Encode, journal, episodes)
	c := &Context{Snapshot: snapshot, Stored: stored, prompt: p}
	if err != nil || snapshot.Kind != annotator.SnapshotFork {
		return c, err
	}
	question, reply, err := journal.AnswerTo(ctx, snapshot.Trace)
	if err == nil {
		err = c.addExchange(question, cmp.Or(reply, noAnswer))
	}
	return c, err
}

// Prefix returns a stored prompt in the form of a wire.
func Prefix(stored *storage.Prompt, wire model.Encoder) (window.Prefix, error) {
	if stored.Tools == "" { // the curator's own
		return window.NewPrefix(stored.SystemPrompt, "", nil), nil
	}
	definitions, err := tools.DecodeDefinitions(stored.Tools)
	if err != nil {
		return window.Prefix{}, err
	}
	encoded, err := wire.EncodeTools(definitions)
	return window.NewPrefix(stored.SystemPrompt, stored.Tools, encoded), err
}

// History returns the encoded messages, joined by commas.
func (c *Context) History() []byte { return c.prompt.History }

// Add appends a question and its answer.
func (c *Context) Add(e storage.Exchange) error {
	return c.addExchange(question("", e.Question), e.Answer)
}

func (c *Context) addExchange(question, answer string) error {
	if err := c.prompt.Ask(question); err != nil {
		return err
	}
	return c.prompt.Add(annotator.Message{Role: annotator.RoleAssistant, Content: answer})
}

// question is the message that asks a question, with entries of the codex or none. The question is data: it may quote
// the story.
func question(entries, text string) string {
	if entries != "" {
		entries = strings.TrimSpace(entries) + "\n"
	}
	return entries + "Set the scenes aside and answer a question about what you have read so far. Call no tool: " +
		"nothing that you say here changes the glossary. Answer only from what stands above; where that does " +
		"not tell, say so. Name the posts that the answer rests on in the form [post 123].\n<question>\n" +
		prompt.Escape(text) + "\n</question>"
}

// maxQuotes is the maximum number of quotations of an entry in a question.
const maxQuotes = 10

// Entries renders entries of the codex for a question: the facts in force, and the quotations with their posts.
func Entries(entries []annotator.Entry) string {
	var rendered []string
	for i := range entries {
		var b strings.Builder
		b.WriteString(prompt.Entry(&entries[i]))
		quotes := 0
		claims, _ := codex.InOrder(&entries[i])
		for _, c := range claims {
			for _, v := range c.Evidence {
				if c.Until == 0 && quotes < maxQuotes {
					fmt.Fprintf(&b, "[post %d] fact %d: %s\n", v.Post, c.ID, prompt.Escape(v.Quote))
					quotes++
				}
			}
		}
		rendered = append(rendered, b.String())
	}
	return prompt.Glossary(rendered, nil, nil, nil)
}
