package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/exporters"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newStory(a *app) *cobra.Command {
	var thread int64
	var chapter string
	cmd := &cobra.Command{
		Use:   "story",
		Short: "Print the story so far, or the summary of a chapter",
		Long: longHelp(`
Print the story so far as the newest summary tells it, with the scenes that it covers; with --chapter, the summary of
one chapter. A chapter is summarised at its end, or a few chapters later. With --as-of, print the newest summary
that was made when no later scene had been read.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator story
  annotator story --db book.annotator.db --as-of scene:40
  annotator story --chapter XX
  annotator story --thread 4711 --json`,
	}
	chapterFlags(cmd, &chapter, &thread, "the summary of")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, _ []string) (result, error) {
		if err := findChapter(ctx, v.View, chapter, &thread); err != nil {
			return nil, err
		}
		return readStory(ctx, v, thread, chapter != "" || cmd.Flags().Changed("thread"))
	})
}

// chapterFlags are flags that select a chapter of a book, or a thread of a forum.
func chapterFlags(cmd *cobra.Command, chapter *string, thread *int64, what string) {
	cmd.Flags().StringVar(chapter, "chapter", "", what+" the chapter with this `NAME`: 20, XX, \"TITLE\", or "+
		"#20 for the twentieth")
	cmd.Flags().Int64Var(thread, "thread", 0, what+" the thread of a forum with this `ID`")
	cmd.MarkFlagsMutuallyExclusive("chapter", "thread")
}

// findChapter sets the thread of a chapter that is named.
func findChapter(ctx context.Context, v *view.View, chapter string, thread *int64) error {
	if chapter == "" {
		return nil
	}
	found, err := v.Resolve(ctx, view.Point{Kind: view.PointChapter, Name: strings.TrimPrefix(chapter, "chapter:")})
	*thread = found.ID
	return err
}

// storyAnswer is what `annotator story` prints.
type storyAnswer struct {
	limited
	exporters.Summary
}

func readStory(ctx context.Context, v *codexView, thread int64, ofThread bool) (*storyAnswer, error) {
	if ofThread {
		if _, err := v.db.Threads.Get(ctx, thread); err != nil {
			return nil, err
		}
	}
	e, err := v.Story(ctx)
	if ofThread {
		e, err = v.SummaryOf(ctx, thread)
	}
	if err != nil {
		return nil, err
	}
	if e == nil {
		return nil, annotator.Errorf(annotator.NotFound, "there is no summary yet").
			WithAdvice("a chapter is summarised at its end, or a few chapters later, and --chapter prints its " +
				"summary; the offline model tells no story so far; `annotator memory episodic` lists all summaries")
	}
	return &storyAnswer{v.limited, exporters.NewSummary(e)}, nil
}

func (s *storyAnswer) print(w io.Writer) {
	s.printAsOf(w)
	what := "the story so far"
	if s.Thread != nil {
		what = oneLine(view.ChapterLabel(&annotator.Thread{ID: *s.Thread, Title: s.titles[*s.Thread]}))
	}
	fmt.Fprintf(w, "%s, scenes %d to %d\n\n%s\n", what, s.FromScene, s.ToScene,
		wrapLines(clean(s.Text), terminalWidth(w)))
}

// summaries returns the summaries of an export.
func summaries(ctx context.Context, v *view.View) (*exporters.Summaries, error) {
	story, err := v.Story(ctx)
	if err != nil {
		return nil, err
	}
	threads, err := v.Summaries(ctx)
	return exporters.NewSummaries(story, threads), err
}
