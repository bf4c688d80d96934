package runner

import (
	"context"
	"errors"
	"fmt"

	"annotator"
	"annotator/corpus"
	"annotator/storage"
)

// findStory lists the scenes of the story, or checks that they are those listed before. A corpus that has only grown at
// its end is accepted. It returns the state of the run.
func (s *session) findStory(ctx context.Context) (run storage.RunStatus, err error) {
	switch run, err = s.Store.Run.Status(ctx); {
	case errors.Is(err, annotator.NotFound):
		err = s.listStory(ctx)
	case err == nil:
		err = s.extendStory(ctx, &run)
	}
	if err != nil {
		return run, err
	}
	return s.Store.Run.Status(ctx)
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

func (s *session) extendStory(ctx context.Context, run *storage.RunStatus) error {
	identity, total, err := s.sameStory(ctx, run)
	if err != nil || identity == run.Corpus.Identity {
		return err
	}
	if total > run.Corpus.Scenes {
		s.warn(fmt.Sprintf("the corpus has grown by %d scenes", total-run.Corpus.Scenes))
	}
	return s.Store.Run.Extend(ctx, identity, s.corpus.Scenes(ctx, s.config.SceneBytes))
}

// sameStory checks that the corpus is the file that the run began with, or has the same scenes and perhaps more. It
// returns the identity of the file and the number of its scenes.
func (s *session) sameStory(ctx context.Context, run *storage.RunStatus) (identity string, total int, err error) {
	s.config.SceneBytes = run.Corpus.SceneBytes // the scenes were split by it
	identity, err = s.corpus.Identity(ctx)
	if err != nil || identity == run.Corpus.Identity {
		return identity, run.Corpus.Scenes, err
	}
	total, err = CompareStory(ctx, s.Store, run, s.corpus)
	return identity, total, err
}

// CompareStory returns how many scenes a corpus has. The error is of kind annotator.Misused where they are not those
// that a run has listed, and perhaps more.
func CompareStory(
	ctx context.Context, store *storage.DB, run *storage.RunStatus, source *corpus.DB,
) (total int, err error) {
	changed, total, err := store.Scenes.FirstDivergence(ctx, source.Scenes(ctx, run.Corpus.SceneBytes))
	if err != nil || changed == 0 {
		return total, err
	}
	which := "which is not read yet"
	if changed <= run.Recorded+run.Quarantined {
		which = "which was read"
	}
	return total, annotator.Errorf(annotator.Misused,
		"the corpus has changed: the text of scene %d, %s, differs or is gone",
		changed, which).WithReason(annotator.ReasonStoryChanged)
}
