package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/codex"

	"github.com/spf13/cobra"
)

func newMentions(a *app) *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "mentions ENTRY",
		Short: "List where the names of an entry stand in the story",
		Long: longHelp(`
List where the names of an entry stand in the posts that were read, in the story's order, with the sentences. A
name of several entries means the one that was last named by a name of its own, in the same thread and at most 10 scenes
before. Otherwise it is ambiguous: it is marked, and counts for none of them. With --as-of, list what was known at a
point of the story: a name that is revealed later is not found in earlier posts.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator mentions "Ysolde Marrow"
  annotator mentions Marrow --as-of scene:40 --limit 0
  annotator mentions 12 --json`,
		Args:              arguments(1, unlimited),
		ValidArgsFunction: completeFrom(listTerms),
	}
	limitFlag(cmd.Flags(), &limit, 20, "maximum `MENTIONS`; 0: all")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, args []string) (result, error) {
		return readMentions(ctx, v, strings.Join(args, " "), limit)
	})
}

// mentionList is what `annotator mentions` prints.
type mentionList struct {
	ID   int64  `json:"id"`
	Term string `json:"term"`
	limited
	Count    int              `json:"count"` // of all mentions that mean the entry
	Unclear  int              `json:"ambiguous,omitempty"`
	Threads  []threadMentions `json:"threads"`  // that mention the entry, in the story's order
	Mentions []mentionAt      `json:"mentions"` // at most --limit; ambiguous ones are among them
}

type threadMentions struct {
	Thread int64 `json:"thread"`
	Count  int   `json:"count"`
}

// mentionAt is a mention as it is printed.
type mentionAt struct {
	At        annotator.Position `json:"at"`
	Start     int                `json:"start"`               // in code points of the post's body
	End       int                `json:"end"`                 // exclusive
	Also      []int64            `json:"also,omitempty"`      // other entries with the name
	Ambiguous bool               `json:"ambiguous,omitempty"` // any of them may be meant
	In        string             `json:"sentence,omitempty"`
}

func readMentions(ctx context.Context, v *codexView, name string, limit int) (*mentionList, error) {
	e, err := v.findEntry(ctx, name)
	if err != nil {
		return nil, err
	}
	found, total, err := v.Mentions(ctx, e.ID, 0, limit)
	if err != nil {
		return nil, err
	}
	list := &mentionList{
		ID: e.ID, Term: e.Name(), limited: v.limited, Threads: []threadMentions{},
		Mentions: []mentionAt{},
	}
	for _, m := range found {
		list.Mentions = append(list.Mentions, mentionAt{
			At: v.positions.At(m.Place), Start: m.Start, End: m.End, Also: m.Others, Ambiguous: m.Ambiguous,
		})
	}
	if err := addSentences(ctx, v, list.Mentions); err != nil {
		return nil, err
	}
	counts, err := v.MentionCounts(ctx, []int64{e.ID})
	for _, c := range counts {
		list.Threads = append(list.Threads, threadMentions{c.Thread, c.Count})
		list.Count += c.Count
	}
	list.Unclear = total - list.Count
	return list, err
}

// maxMentionText is how much of a long sentence is shown, in characters.
const maxMentionText = 300

// addSentences adds the sentences around mentions, if the corpus of the run is there.
func addSentences(ctx context.Context, v *codexView, mentions []mentionAt) error {
	story, err := openCorpus(ctx, v.db, v.db.Path(), autoCorpus, false)
	if err != nil || story == nil {
		return err
	}
	post := &annotator.Post{}
	for i := range mentions {
		m := &mentions[i]
		if post.ID != m.At.Post {
			if post, err = story.Post(ctx, m.At.Post); err != nil {
				return cmp.Or(err, story.Close())
			}
		}
		m.In = mentionText([]rune(post.Body), m.Start, m.End)
	}
	return story.Close()
}

// mentionText returns the sentence around a name, cut to an excerpt that has it.
func mentionText(body []rune, start, end int) string {
	if end > len(body) { // the corpus is another one
		return ""
	}
	sentence := []rune(codex.SentenceAt(string(body), start))
	if len(sentence) <= maxMentionText {
		return string(sentence)
	}
	named, _ := codex.NewWords([]string{string(body[start:end])}).In(string(sentence))
	from := codex.ExcerptStart(sentence, named, maxMentionText)
	to := min(from+maxMentionText, len(sentence))
	text := strings.TrimSpace(string(sentence[from:to]))
	if from > 0 {
		text = "..." + text
	}
	if to < len(sentence) {
		text += "..."
	}
	return text
}

func (l *mentionList) print(w io.Writer) {
	l.printAsOf(w)
	fmt.Fprintf(w, "%s  #%d, %s in %s", oneLine(l.Term), l.ID, annotator.Quantity(l.Count, "mention"),
		annotator.Quantity(len(l.Threads), "chapter"))
	if l.Unclear > 0 {
		fmt.Fprintf(w, ", and %d ambiguous", l.Unclear)
	}
	fmt.Fprintln(w)
	heading := ""
	for _, m := range l.Mentions {
		also := ""
		for _, other := range m.Also {
			also += fmt.Sprintf(" #%d", other)
		}
		switch {
		case m.Ambiguous:
			also = "  (ambiguous, or of" + also + ")"
		case also != "":
			also = "  (also a name of" + also + ")"
		}
		if at := l.at(m.At); at != heading {
			heading = at
			fmt.Fprintf(w, "\n%s\n", heading)
		}
		in := oneLine(m.In)
		if in == "" {
			in = fmt.Sprintf("post %d, %d to %d", m.At.Post, m.Start, m.End)
		}
		printIndented(w, "  ", in+also)
	}
	printMore(w, len(l.Mentions) < l.Count+l.Unclear)
}
