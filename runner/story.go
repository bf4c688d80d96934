package runner

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/storage"
)

// findStory lists the scenes of the story, or takes what has changed in it since. While a scene is open, changes wait.
// It returns the state of the run.
func (r *Runner) findStory(ctx context.Context) (run storage.RunStatus, err error) {
	switch run, err = r.Store.Run.Status(ctx); {
	case errors.Is(err, annotator.NotFound):
		err = r.listStory(ctx)
	case err == nil:
		r.config.SceneBytes = run.Corpus.SceneBytes // the scenes were split by it
		if r.changesWait = run.OpenScene != 0; !r.changesWait {
			err = r.takeChanges(ctx)
		}
	}
	if err != nil {
		return run, err
	}
	return r.Store.Run.Status(ctx)
}

func (s *session) listStory(ctx context.Context) error {
	identity, err := s.corpus.Identity(ctx)
	if err != nil {
		return err
	}
	title, err := s.corpus.Title(ctx)
	if err != nil {
		return err
	}
	return s.Store.Run.Begin(ctx, storage.Corpus{
		Title: title, Path: s.corpus.Path(), Identity: identity, SceneBytes: s.config.SceneBytes,
	}, s.corpus.Scenes(ctx, s.config.SceneBytes))
}

// takeChanges adds the scenes that the story has gained, and marks what it has lost. It works between scenes only.
func (r *Runner) takeChanges(ctx context.Context) error {
	r.changesWait = false
	run, err := r.Store.Run.Status(ctx)
	if err != nil {
		return err
	}
	identity, err := r.corpus.Identity(ctx)
	if err != nil || identity == run.Corpus.Identity {
		return err
	}
	change, err := r.Store.Run.Extend(ctx, identity, r.corpus, r.findQuotes)
	if err != nil {
		return err
	}
	if text := describeChange(&change); text != "" {
		r.warn(text)
	}
	run, err = r.Store.Run.Status(ctx)
	r.progress.total = run.Corpus.Scenes
	return err
}

// takeWaitingChanges takes the changes of the story that waited for the end of a scene.
func (r *Runner) takeWaitingChanges(ctx context.Context) error {
	if !r.changesWait {
		return nil
	}
	if err := r.takeChanges(ctx); err != nil {
		return err
	}
	return r.names.CatchUp(ctx)
}

// describeChange returns what a run has taken from a changed source; empty for nothing.
func describeChange(c *storage.SourceChange) string {
	var parts []string
	add := func(n int, format, unit string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(format, annotator.Quantity(n, unit)))
		}
	}
	add(len(c.Added), "%s will be read", "new scene")
	add(len(c.Withdrawn), "%s will not be read, because the source no longer has the text", "scene")
	add(len(c.Former), "the former text of %s is kept", "post")
	add(len(c.Back), "the text of %s is back", "post")
	add(c.Moved, "%s moved to where the words are now", "quotation")
	if len(c.Former) > 0 {
		add(c.Left, "%s of former text not found again", "quotation")
	}
	if len(parts) == 0 {
		return ""
	}
	return "the story has changed: " + strings.Join(parts, "; ")
}

// sameStory checks that the corpus has the scenes that the run has listed, as they were.
func (s *session) sameStory(ctx context.Context, run *storage.RunStatus) error {
	s.config.SceneBytes = run.Corpus.SceneBytes
	identity, err := s.corpus.Identity(ctx)
	if err != nil || identity == run.Corpus.Identity {
		return err
	}
	return s.Store.Run.CompareStory(ctx, s.corpus)
}

// minMovedWords is the fewest words of a quotation that is moved to another chapter. Fewer may stand there by chance.
const minMovedWords = 4

// findQuotes finds where the words of quotations stand now. The first post of their thread that has them counts, else
// the only post of the story that does. It implements storage.QuoteFinder.
func (s *session) findQuotes(ctx context.Context, quotes []storage.FormerQuote, readable func(post int64) bool) (
	[]annotator.Evidence, error,
) {
	found := make([]annotator.Evidence, len(quotes))
	posts := map[int64][]annotator.Post{}
	var rest []int
	for i := range quotes {
		q := &quotes[i]
		if _, known := posts[q.Thread]; !known {
			in, err := s.corpus.Range(ctx, q.Thread, 0, 0, annotator.TagStory, 0)
			if err != nil {
				return nil, err
			}
			posts[q.Thread] = in
		}
		if found[i] = groundIn(posts[q.Thread], q.Quote, readable); found[i].Post == 0 &&
			annotator.CountWords(q.Quote) >= minMovedWords {
			rest = append(rest, i)
		}
	}
	return found, s.findElsewhere(ctx, quotes, rest, found, readable)
}

// groundIn returns the first of some posts with a quotation.
func groundIn(posts []annotator.Post, quote string, readable func(post int64) bool) annotator.Evidence {
	for i := range posts {
		if v, ok := codex.Ground(posts[i].Body, quote); ok && readable(posts[i].ID) {
			v.Post = posts[i].ID
			return v
		}
	}
	return annotator.Evidence{}
}

// findElsewhere looks for the rest of the quotations in the whole story.
func (s *session) findElsewhere(ctx context.Context, quotes []storage.FormerQuote, rest []int,
	found []annotator.Evidence, readable func(post int64) bool,
) error {
	if len(rest) == 0 {
		return nil
	}
	times := map[int]int{}
	for scene, err := range s.corpus.Scenes(ctx, s.config.SceneBytes) {
		if err != nil {
			return err
		}
		for _, i := range rest {
			for k := range scene.Posts {
				if !strings.Contains(scene.Posts[k].Body, quotes[i].Quote) {
					continue
				}
				times[i]++
				found[i] = groundIn(scene.Posts[k:k+1], quotes[i].Quote, readable)
			}
		}
	}
	for _, i := range rest {
		if times[i] > 1 {
			found[i] = annotator.Evidence{}
		}
	}
	return nil
}
