package main

import (
	"context"
	"time"

	"annotator"
	"annotator/codex"
	"annotator/runner/turn"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

func newStatus(a *app) *cobra.Command {
	var raw int // a quarantined scene; 0: none
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the progress of a run",
		Long: longHelp(`
Show the progress of a run, its cost, and its quarantined scenes with the reasons, also during the run. With --raw,
print what the server sent for a quarantined scene.`, exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator status
  annotator status --db book.annotator.db --json
  annotator status --raw 12 > reply.txt`,
	}
	cmd.Flags().IntVar(&raw, "raw", 0, "print what the server sent for the quarantined `SCENE`; 0: the status")
	return a.answers(cmd, func(ctx context.Context, db *storage.DB, _ []string) (result, error) {
		if raw == 0 {
			return readStatus(ctx, db, a.now())
		}
		sent, err := db.Scenes.Raw(ctx, raw)
		return rawReply(sent), err
	})
}

// rawReply is what a server sent. A terminal gets it without control sequences.
type rawReply string

// status is the state of a run. Fields of its JSON are only ever added.
type status struct {
	Database    string                   `json:"database"`
	Running     bool                     `json:"running"`
	Holder      string                   `json:"holder"` // the process of the current run, or of the last
	State       annotator.State          `json:"state"`
	Halted      string                   `json:"halted"` // why the last run stopped before the end; empty if it did not
	Story       storyStatus              `json:"story"`
	Scenes      sceneStatus              `json:"scenes"`
	Endpoint    string                   `json:"endpoint"`
	Model       string                   `json:"model"`
	Entries     map[annotator.Status]int `json:"entries"` // all four statuses
	Revisions   int                      `json:"revisions"`
	Quotes      storage.QuoteCount       `json:"quotes"` // of entries that are neither retired nor merged
	Calls       callStatus               `json:"calls"`
	Tokens      tokenStatus              `json:"tokens"`
	Probes      probeStatus              `json:"probes"` // calls and tokens exclude them
	PerScene    sceneAverage             `json:"per_scene"`
	FollowUps   followUpStatus           `json:"follow_ups"`
	Compactions int                      `json:"compactions"`
	ByTier      []storage.TierCount      `json:"compactions_by_tier"` // tokens are averages
	Warnings    []string                 `json:"warnings"`            // why the run seems to be without effect
	Called      bool                     `json:"called"`              // the model made a call or wrote codex_updates
	Quarantined []quarantinedScene       `json:"quarantined"`         // all of them
	Edits       editStatus               `json:"edits"`
	Started     time.Time                `json:"started"`
	Updated     time.Time                `json:"updated"`
	SecondsLeft float64                  `json:"seconds_left"`      // estimate; 0 unless running
	Ends        time.Time                `json:"ends_at,omitzero"`  // estimate; omitted unless running
	Waiting     *waitStatus              `json:"waiting,omitempty"` // for a server that does not answer

	openPlace string // the current scene, as people name it
}

// editStatus is what waits of the edits of people, and of the questions to them.
type editStatus struct {
	Pending   []string      `json:"pending"`   // that the run applies before its next scene
	Refused   []refusedEdit `json:"refused"`   // when the run came to them: the newest, at most three
	Questions int           `json:"questions"` // of the model, without an answer
}

type refusedEdit struct {
	Row    int64  `json:"row"` // of the journal
	Edit   string `json:"edit"`
	Reason string `json:"reason"`
}

// shownRefused is how many refused edits a status has.
const shownRefused = 3

func readEditStatus(ctx context.Context, db *storage.DB) (editStatus, error) {
	s := editStatus{Pending: []string{}, Refused: []refusedEdit{}}
	waiting, err := db.Edits.Pending(ctx)
	if err != nil {
		return s, err
	}
	for i := range waiting {
		s.Pending = append(s.Pending, codex.Describe(&waiting[i]))
	}
	refused, err := db.Edits.NewestRefused(ctx, shownRefused)
	if err != nil {
		return s, err
	}
	for i := range refused {
		r := &refused[i]
		s.Refused = append(s.Refused, refusedEdit{r.Row, codex.Describe(&r.Operation), r.Refusal.Message})
	}
	asked, err := db.Glossary.Questions(ctx)
	for i := range asked {
		if !asked[i].Answered {
			s.Questions++
		}
	}
	return s, err
}

type waitStatus struct {
	Since  time.Time `json:"since"`
	Reason string    `json:"reason"`
}

type storyStatus struct {
	Title       string `json:"title"`
	Corpus      string `json:"corpus"`
	Threads     int    `json:"threads"`
	ThreadsDone int    `json:"threads_done"`
	Import      string `json:"import,omitempty"` // how much of the source the corpus has, and what was omitted
}

type sceneStatus struct {
	Total       int `json:"total"`
	Recorded    int `json:"recorded"`
	Quarantined int `json:"quarantined"`
	Left        int `json:"left"`
	Open        int `json:"open"` // the number of the current scene; 0 if there is none

	Unasked []storage.ReasonCount `json:"unasked"` // scenes that were recorded without a request, by the reason
}

// followUpStatus counts scenes by their follow-up request. It asks for more edits if the model has not declared the
// scene done.
type followUpStatus struct {
	Edits   int  `json:"edits"`    // it led to edits
	Nothing int  `json:"nothing"`  // it led to none
	LeftOut int  `json:"left_out"` // it was skipped
	End     bool `json:"end"`      // they are skipped now, except in each tenth scene
}

type callStatus struct {
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Lost   int `json:"lost"` // the process ended during the call
}

// probeStatus counts the requests that only test whether the server answers, and with which model.
type probeStatus struct {
	Calls  int         `json:"calls"`
	Tokens tokenStatus `json:"tokens"`
}

type tokenStatus struct {
	Prompt      int      `json:"prompt"`
	Told        int      `json:"told"` // of the prompt: for which the server reports cache use
	Cached      int      `json:"cached"`
	Completion  int      `json:"completion"`
	CachedShare *float64 `json:"cached_share"` // cached/told, 0 to 1; null if told is 0
}

func (s *tokenStatus) usage() annotator.Usage {
	return annotator.Usage{Prompt: s.Prompt, Told: s.Told, Cached: s.Cached, Completion: s.Completion}
}

func newTokenStatus(u *annotator.Usage) tokenStatus {
	s := tokenStatus{Prompt: u.Prompt, Told: u.Told, Cached: u.Cached, Completion: u.Completion}
	if u.Told > 0 {
		s.CachedShare = new(ratio(u.Cached, u.Told))
	}
	return s
}

type sceneAverage struct {
	Calls      float64  `json:"calls"`
	Prompt     float64  `json:"prompt"`
	Uncached   *float64 `json:"uncached"` // null if the server does not report it
	Completion float64  `json:"completion"`
	Seconds    float64  `json:"seconds"` // between the ends of scenes, mean of the newest; pauses have little weight
}

type quarantinedScene struct {
	Scene   int    `json:"scene"`
	Thread  int64  `json:"thread"`
	Place   string `json:"place"` // the chapter and the scene, as people name them
	Reason  string `json:"reason"`
	Fault   string `json:"fault"`   // its kind; empty if neither server nor model caused it
	Retries int    `json:"retries"` // earlier retries of the scene
}

func readStatus(ctx context.Context, db *storage.DB, now time.Time) (*status, error) {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	report, err := db.Run.Report(ctx)
	if err != nil {
		return nil, err
	}
	yield, err := db.Run.Yield(ctx, offlineEndpoint)
	if err != nil {
		return nil, err
	}
	past, err := db.Scenes.FollowUps(ctx, turn.NewestFollowUps)
	if err != nil {
		return nil, err
	}
	quarantined, err := db.Scenes.Quarantined(ctx)
	if err != nil {
		return nil, err
	}
	running, err := storage.Running(db.Path())
	if err != nil {
		return nil, err
	}
	edits, err := readEditStatus(ctx, db)
	if err != nil {
		return nil, err
	}
	s := newStatusOf(&run, &report)
	s.Edits = edits
	s.Database, s.Running, s.Called = db.Path(), running, yield.Called
	s.Story.Import = importSummary(ctx, &run, db.Path())
	s.FollowUps.End = turn.FollowUpsEnd(past)
	if warning := yield.Warning(); warning != nil {
		s.Warnings = append(s.Warnings, advise(warning).Error())
	}
	for i := range quarantined {
		q := &quarantined[i]
		s.Quarantined = append(s.Quarantined, quarantinedScene{
			q.N, q.Thread.ID, oneLine(view.SceneLabel(&q.Thread, q.N)), q.Reason, string(q.Fault), q.Refusals,
		})
	}
	if running {
		s.progress(&report, now)
	}
	scenes := &sceneLabels{db: db}
	s.openPlace = scenes.label(ctx, run.OpenScene)
	return s, scenes.err
}

// newStatusOf returns what the records of a run say of it.
func newStatusOf(run *storage.RunStatus, report *storage.Report) *status {
	done, u := run.Recorded+run.Quarantined, &run.Usage
	s := &status{
		Holder: run.Holder, State: run.State, Halted: run.Halted,
		Story: storyStatus{
			Title: run.Corpus.Title, Corpus: run.Corpus.Path, Threads: run.Corpus.Threads,
			ThreadsDone: report.ThreadsDone,
		},
		Scenes:   newSceneStatus(run, report.Unasked),
		Endpoint: run.Endpoint, Model: run.Model, Entries: map[annotator.Status]int{}, Revisions: report.Revisions,
		Quotes: report.Quotes,
		Calls:  callsByOutcome(report.Calls),
		Tokens: newTokenStatus(u),
		Probes: probeStatus{report.Probes, newTokenStatus(&report.ProbeUsage)},
		PerScene: sceneAverage{
			Calls: ratio(run.Calls, done), Prompt: ratio(u.Prompt, done), Completion: ratio(u.Completion, done),
			Seconds: report.SceneTime.Seconds(),
		},
		FollowUps: followUpStatus{
			Edits: report.FollowUps[storage.FollowUpEdits], Nothing: report.FollowUps[storage.FollowUpNothing],
			LeftOut: report.FollowUps[storage.FollowUpLeftOut],
		},
		ByTier: append([]storage.TierCount{}, report.Compactions...), Warnings: []string{},
		Quarantined: []quarantinedScene{},
		Started:     time.UnixMilli(run.Started).UTC(), Updated: time.UnixMilli(run.Updated).UTC(),
	}
	if u.Told > 0 {
		s.PerScene.Uncached = new(ratio(u.Prompt-u.Cached, done))
	}
	for _, t := range report.Compactions {
		s.Compactions += t.Count
	}
	for _, status := range statuses {
		s.Entries[status] = report.Entries[status]
	}
	return s
}

func newSceneStatus(run *storage.RunStatus, unasked []storage.ReasonCount) sceneStatus {
	return sceneStatus{
		Total: run.Corpus.Scenes, Recorded: run.Recorded, Quarantined: run.Quarantined,
		Left: run.Corpus.Scenes - run.Recorded - run.Quarantined, Open: run.OpenScene,
		Unasked: append([]storage.ReasonCount{}, unasked...),
	}
}

// progress sets the estimated end of an active run, and the wait that it is in.
func (s *status) progress(report *storage.Report, now time.Time) {
	left := time.Duration(s.Scenes.Left) * report.SceneTime
	s.SecondsLeft, s.Ends = left.Seconds(), now.Add(left).UTC()
	if !report.Silent.IsZero() {
		s.Waiting = &waitStatus{report.Silent.UTC(), report.Silence}
	}
}

func callsByOutcome(outcomes map[string]int) callStatus {
	c := callStatus{OK: outcomes["ok"], Lost: outcomes["lost"]}
	for outcome, n := range outcomes {
		if outcome != "ok" && outcome != "lost" && outcome != "open" {
			c.Failed += n
		}
	}
	return c
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
