package runner

import (
	"context"
	"strings"

	"annotator"
	"annotator/context/prompt"
	"annotator/model"
	"annotator/policy"
	"annotator/storage"
)

// day is the scene at hand. All of it that matters is in the journal, from which wake rebuilds it.
type day struct {
	row             *annotator.SceneRow
	scene           annotator.Scene
	text            string             // the scene as the model is shown it, without entries
	turn            int64              // 0 until its message is in the journal
	seq             int                // of the turn's next row
	rounds          int                // replies with tool calls
	reasks          int                // corrections sent since the newest call
	reply           *annotator.Trace   // the newest, where it is not worked off
	calls           []annotator.Trace  // of the newest reply, without a result yet
	content         *content           // of the newest reply; nil: not read yet
	placed          int                // calls of the newest reply that have their result
	updates         int                // items of the newest reply's codex updates that are done
	failed          []*annotator.Trace // those of them that were not made
	closed          bool               // the newest row is an answer in text
	cut             bool               // the newest reply ended at its token limit
	exchange        *model.Exchange    // the request under way; nil where none is
	replyLimit      int                // tokens of a reply that the server takes, where it has refused more; 0: not known
	forceCompaction bool               // the server, or our own count, says that the prompt is too long
	demanded        bool               // a call was demanded in words, and none has come since
	said            *model.Fault       // with which the server found the prompt too long; nil if it did not
	wrote           []byte             // the newest reply, with its calls
	ran             runs
	governed        policy.Turn
	outcome         storage.Outcome
}

// wake rebuilds the day of a scene from the rows of its turn.
func (r *Runner) wake(ctx context.Context, row *annotator.SceneRow, turn int64) (*day, error) {
	d, err := r.dawn(ctx, row, turn)
	if err != nil {
		return nil, err
	}
	rows, err := r.Store.Journal.Turn(ctx, turn)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		d.take(&rows[i])
	}
	return d, nil
}

// dawn begins the day of a scene, whose turn is 0 if it is new: its text is read, and must be what it was when the scenes were listed.
func (r *Runner) dawn(ctx context.Context, row *annotator.SceneRow, turn int64) (*day, error) {
	posts, err := r.Corpus.Scene(ctx, row.Thread.ID, row.Posts)
	if err != nil {
		return nil, err
	}
	d := &day{row: row, turn: turn, scene: annotator.Scene{
		N: row.N, Thread: row.Thread, Index: row.Index, Posts: posts, Opens: row.Opens, Ends: row.Ends,
	}}
	if d.scene.Hash() != row.Hash {
		return nil, annotator.Errorf(annotator.Halted, "scene %d (thread %d) of the corpus reads otherwise than when this run listed it",
			row.N, row.Thread.ID).WithAdvice("put the corpus back, or start a new database with --no-resume")
	}
	d.text = prompt.Scene(&d.scene)
	if row.Refusals > 0 {
		d.text += late
	}
	r.window.Begin(row.Thread.ID, turn, d.text)
	return d, nil
}

// late is said of a scene that was refused when its turn came: later ones may stand above it.
const late = "\n\nThis scene is read late: it could not be annotated when its turn came. Note what it tells as of its own place in the story."

// story returns what the scene tells: the bodies of its posts.
func (d *day) story() string {
	var text strings.Builder
	for i := range d.scene.Posts {
		text.WriteString(d.scene.Posts[i].Body)
		text.WriteString("\n\n")
	}
	return text.String()
}

// take moves the day on by a row of the journal.
func (d *day) take(row *annotator.Trace) {
	d.seq = row.Seq + 1
	d.closed = false
	d.governed.Apply(row)
	switch row.Kind {
	case annotator.TraceReply:
		d.reply, d.calls, d.updates, d.closed, d.cut = row, nil, 0, true, row.Error != ""
		d.wrote, d.placed, d.failed, d.content = []byte(row.Content), 0, nil, nil
		d.ran.replies++
	case annotator.TraceCall:
		if len(d.calls) == 0 {
			d.rounds++
		}
		d.calls = append(d.calls, *row)
		d.demanded, d.reasks = false, 0
		d.wrote = append(d.wrote, "\n"+row.Tool+" "+row.Arguments...)
	case annotator.TraceResult:
		d.ran.take(&d.calls[0], row)
		d.placed++
		d.calls = d.calls[1:] // results follow the order of the calls
		if len(d.calls) == 0 {
			d.reply = nil
		}
	case annotator.TraceUpdate:
		d.updates++
		d.closed = true
		if row.Error != "" {
			d.failed = append(d.failed, row)
		}
	case annotator.TraceNote:
		d.reply = nil
		d.reasks++
		d.demanded = row.Error == annotator.CallRequired
	}
}

// add writes down what the journal has just been given.
func (r *Runner) add(rows ...*annotator.Trace) error {
	for _, row := range rows {
		r.day.take(row)
		if err := r.window.Add(row); err != nil {
			return err
		}
	}
	return nil
}

// next returns a row for the journal, in its place in the turn.
func (d *day) next(kind annotator.TraceKind) *annotator.Trace {
	return &annotator.Trace{Turn: d.turn, Seq: d.seq, Kind: kind, Scene: d.row.N}
}
