package runner

import (
	"context"

	"annotator"
	"annotator/context/prompt"
	"annotator/model"
	"annotator/runner/entries"
	"annotator/runner/turn"
	"annotator/storage"
)

// sceneState is the state of the present scene.
type sceneState struct {
	row *annotator.SceneRow
	annotator.Scene
	text string // the scene in the model's prompt; empty if it has more than entries.MaxSceneBytes
	note string // behind it, of a scene that is read late
	size int    // of its posts, in bytes
	turn int64  // 0 until the scene's message is in the journal
	turn.State

	// Of this process only.
	exchange        *model.Exchange // the request under way; nil for none
	replyLimit      int             // tokens of a reply that the server accepts, if it has refused more; 0 if not known
	forceCompaction bool            // the prompt is too long, by the server's word or our own count
	overflow        *model.Fault    // with which the server refused the prompt as too long; nil if it did not
	outcome         storage.Outcome
}

// resumeScene computes the state of a scene from the rows of its turn.
func (r *reading) resumeScene(ctx context.Context, row *annotator.SceneRow, turn int64) (*sceneState, error) {
	s, err := r.loadScene(ctx, row, turn)
	if err != nil {
		return nil, err
	}
	rows, err := r.Store.Journal.Turn(ctx, turn)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		s.Apply(&rows[i])
	}
	return s, nil
}

// lateNote is attached to a scene that is read again after it was refused, because later scenes may precede it in the
// window.
const lateNote = "\n\nThis scene is read late: it could not be annotated when its turn came. Note what it tells as " +
	"of its own place in the story."

// addedNote is attached to a scene that was added to the story, or has changed, after later scenes were read.
const addedNote = "\n\nThis scene is read late: its author has added or changed it after later scenes were read. " +
	"Note what it tells as of its own place in the story."

// loadScene reads the text of a scene, and checks that it is the text that was listed. The turn is 0 for a scene that
// is not begun.
func (r *reading) loadScene(ctx context.Context, row *annotator.SceneRow, turn int64) (*sceneState, error) {
	posts, err := r.corpus.Scene(ctx, row.Thread.ID, row.Posts)
	if err != nil {
		return nil, err
	}
	index, err := r.Store.Scenes.Index(ctx, row)
	if err != nil {
		return nil, err
	}
	s := &sceneState{row: row, turn: turn, Scene: annotator.Scene{
		N: row.N, Order: row.Order, Thread: row.Thread, Index: index, Posts: posts, Opens: row.Opens, Ends: row.Ends,
	}}
	if s.Hash() != row.Hash {
		return nil, annotator.Errorf(annotator.Halted,
			"the text of scene %d (thread %d) is not the one that this run listed", row.N, row.Thread.ID).
			WithReason(annotator.ReasonStoryChanged)
	}
	if s.size = s.bytes(); s.size > entries.MaxSceneBytes {
		r.window.Begin(row.Thread.ID, turn, "")
		return s, nil
	}
	s.text = prompt.Scene(&s.Scene)
	switch {
	case row.Refusals > 0:
		s.note = lateNote
	case r.Store.Scenes.IsLate(row.Order):
		s.note = addedNote
	}
	r.window.Begin(row.Thread.ID, turn, s.text+s.note)
	return s, nil
}

// bytes is the length of the bodies of the scene's posts.
func (s *sceneState) bytes() (n int) {
	for i := range s.Posts {
		n += len(s.Posts[i].Body)
	}
	return n
}

// apply updates the scene's state and the window by a row that was appended to the journal.
func (r *reading) apply(row *annotator.Trace) error {
	r.scene.Apply(row)
	return r.window.Add(row)
}

// nextRow returns the turn's next row, to be filled and appended to the journal.
func (s *sceneState) nextRow(kind annotator.TraceKind) *annotator.Trace {
	return &annotator.Trace{Turn: s.turn, Seq: s.NextSeq, Kind: kind, Scene: s.row.N}
}
