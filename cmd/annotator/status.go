package main

import (
	"context"
	"fmt"
	"time"

	"annotator"
	"annotator/storage"

	"github.com/spf13/cobra"
)

// statusOptions are what `annotator status` is told.
type statusOptions struct {
	*app
	db   string
	json bool
	raw  int // a quarantined scene; 0: none
}

func newStatus(a *app) *cobra.Command {
	o := &statusOptions{app: a}
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Tell how far a run has come",
		Long: described(`
Tell how far a run has come, what it has cost, and which scenes were quarantined and why. It may be asked while the run goes on.
With --raw it prints what the server had sent for a quarantined scene, as it came.`,
			exitMisused, exitHalted),
		Example: `  annotator status
  annotator status --db book.annotator.db --json
  annotator status --raw 12 > reply.txt`,
		Args: arguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx := cmd.Context()
			return withDatabase(ctx, o.db, func(db *storage.DB) error { return o.run(ctx, db) })
		},
	}
	databaseFlag(cmd.Flags(), &o.db)
	cmd.Flags().BoolVar(&o.json, "json", false, "print JSON")
	cmd.Flags().IntVar(&o.raw, "raw", 0, "print what the server had sent for the quarantined `SCENE`; 0: the status")
	return cmd
}

func (o *statusOptions) run(ctx context.Context, db *storage.DB) error {
	if o.raw != 0 {
		return o.printRaw(ctx, db)
	}
	s, err := readStatus(ctx, db)
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(s)
	}
	return s.print(o.out)
}

// printRaw prints what was kept of a scene. What a server sent must not command a terminal.
func (o *statusOptions) printRaw(ctx context.Context, db *storage.DB) error {
	raw, err := db.Scenes.Raw(ctx, o.raw)
	if err != nil {
		return err
	}
	if o.isTerminal(o.out) {
		raw = []byte(clean(string(raw)) + "\n")
	}
	_, err = o.out.Write(raw)
	return err
}

// status is where a run stands. Its JSON only ever gains fields.
type status struct {
	Database    string                   `json:"database"`
	Running     bool                     `json:"running"`
	Holder      string                   `json:"holder"` // who runs, or ran last
	State       annotator.State          `json:"state"`
	Halted      string                   `json:"halted"` // why the last run stopped before the end; empty if it did not
	Story       storyStatus              `json:"story"`
	Scenes      sceneStatus              `json:"scenes"`
	Endpoint    string                   `json:"endpoint"`
	Model       string                   `json:"model"`
	Entries     map[annotator.Status]int `json:"entries"` // all four
	Revisions   int                      `json:"revisions"`
	Calls       callStatus               `json:"calls"`
	Tokens      tokenStatus              `json:"tokens"`
	PerScene    sceneAverage             `json:"per_scene"`
	Compactions int                      `json:"compactions"`
	Quarantined []quarantinedScene       `json:"quarantined"` // all of them
	Started     time.Time                `json:"started"`
	Updated     time.Time                `json:"updated"`
	SecondsLeft float64                  `json:"seconds_left"` // estimated; 0 unless running
}

type storyStatus struct {
	Title       string `json:"title"`
	Corpus      string `json:"corpus"`
	Threads     int    `json:"threads"`
	ThreadsDone int    `json:"threads_done"`
}

type sceneStatus struct {
	Total       int `json:"total"`
	Recorded    int `json:"recorded"`
	Quarantined int `json:"quarantined"`
	Left        int `json:"left"`
	Open        int `json:"open"` // the number of the scene that is being read; 0 if none
}

type callStatus struct {
	OK     int `json:"ok"`
	Failed int `json:"failed"`
	Lost   int `json:"lost"` // the program ended meanwhile
}

type tokenStatus struct {
	Prompt      int     `json:"prompt"`
	Cached      int     `json:"cached"`
	Completion  int     `json:"completion"`
	CachedShare float64 `json:"cached_share"` // of the prompt, 0 to 1
}

type sceneAverage struct {
	Calls      float64 `json:"calls"`
	Prompt     float64 `json:"prompt"`
	Uncached   float64 `json:"uncached"`
	Completion float64 `json:"completion"`
	Seconds    float64 `json:"seconds"` // the median of the newest scenes, from one's end to the next's
}

type quarantinedScene struct {
	Scene   int    `json:"scene"`
	Thread  int64  `json:"thread"`
	Reason  string `json:"reason"`
	Fault   string `json:"fault"`   // the kind of it; empty where neither server nor model is to blame
	Retries int    `json:"retries"` // how often it was put back to be read before
}

func readStatus(ctx context.Context, db *storage.DB) (*status, error) {
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	report, err := db.Run.Report(ctx)
	if err != nil {
		return nil, err
	}
	refused, err := db.Scenes.Quarantined(ctx)
	if err != nil {
		return nil, err
	}
	running, err := storage.Running(db.Path())
	if err != nil {
		return nil, err
	}
	s := newStatusOf(&run, &report, running)
	s.Database = db.Path()
	for i := range refused {
		s.Quarantined = append(s.Quarantined, quarantinedScene{refused[i].N, refused[i].Thread.ID, refused[i].Reason, string(refused[i].Fault), refused[i].Refusals})
	}
	return s, nil
}

func newStatusOf(run *storage.RunStatus, report *storage.Report, running bool) *status {
	done := run.Recorded + run.Quarantined
	s := &status{
		Running: running, Holder: run.Holder, State: run.State, Halted: run.Halted,
		Story: storyStatus{run.Corpus.Title, run.Corpus.Path, run.Corpus.Threads, report.ThreadsDone},
		Scenes: sceneStatus{
			Total: run.Corpus.Scenes, Recorded: run.Recorded, Quarantined: run.Quarantined, Left: run.Corpus.Scenes - done, Open: run.OpenScene,
		},
		Endpoint: run.Endpoint, Model: run.Model, Entries: map[annotator.Status]int{}, Revisions: report.Revisions,
		Calls:       callsOf(report.Calls),
		Tokens:      tokenStatus{run.Usage.Prompt, run.Usage.Cached, run.Usage.Completion, ratio(run.Usage.Cached, run.Usage.Prompt)},
		PerScene:    averageOf(run, done, report.SceneTime),
		Compactions: report.Compactions, Quarantined: []quarantinedScene{},
		Started: time.UnixMilli(run.Started).UTC(), Updated: time.UnixMilli(run.Updated).UTC(),
	}
	for _, status := range statuses {
		s.Entries[status] = report.Entries[status]
	}
	if running {
		s.SecondsLeft = (time.Duration(s.Scenes.Left) * report.SceneTime).Seconds()
	}
	return s
}

func callsOf(outcomes map[string]int) callStatus {
	var c callStatus
	for outcome, n := range outcomes {
		switch outcome {
		case "ok":
			c.OK = n
		case "lost":
			c.Lost = n
		case "open":
		default:
			c.Failed += n
		}
	}
	return c
}

func averageOf(run *storage.RunStatus, scenes int, sceneTime time.Duration) sceneAverage {
	return sceneAverage{
		Calls: ratio(run.Calls, scenes), Prompt: ratio(run.Usage.Prompt, scenes), Uncached: ratio(run.Usage.Prompt-run.Usage.Cached, scenes),
		Completion: ratio(run.Usage.Completion, scenes), Seconds: sceneTime.Seconds(),
	}
}

func ratio(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// statuses are all statuses of an entry, in the order of a life.
var statuses = [...]annotator.Status{annotator.Tentative, annotator.Confirmed, annotator.Retired, annotator.Merged}

// standing says in words what the run does.
func (s *status) standing() string {
	switch {
	case s.Running && s.Scenes.Open > 0:
		return fmt.Sprintf("running (%s), %s in scene %d", s.Holder, s.State, s.Scenes.Open)
	case s.Running:
		return fmt.Sprintf("in use by %s", s.Holder)
	case s.Halted != "":
		return "halted: " + s.Halted
	case s.Scenes.Left == 0:
		return "finished"
	}
	return "stopped; run again to go on"
}
