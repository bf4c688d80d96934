package main

import (
	"context"
	"fmt"
	"io"

	"annotator"
	"annotator/exporters"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newStory(a *app) *cobra.Command {
	var thread int64
	cmd := &cobra.Command{
		Use:   "story",
		Short: "Print the story so far, or the summary of a thread",
		Long: longHelp(`
Print the story so far as the newest summary tells it, with the scenes that it covers; with --thread, the summary of one
thread. A thread is summarised at its end, or a few threads later. With --as-of, print the newest summary that was made
when no later scene had been read.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator story
  annotator story --db book.annotator.db --as-of scene:40
  annotator story --thread 12 --json`,
	}
	cmd.Flags().Int64Var(&thread, "thread", 0, "the summary of the thread with this `ID`; 0: the story so far")
	return a.answersAsOf(cmd, func(ctx context.Context, v *codexView, _ []string) (result, error) {
		return readStory(ctx, v, thread, cmd.Flags().Changed("thread"))
	})
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
			WithAdvice("a chapter is summarised at its end, or a few chapters later, and --thread prints its " +
				"summary; the embedded model tells no story so far; `annotator memory episodic` lists all summaries")
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
