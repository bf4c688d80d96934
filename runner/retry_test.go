package runner_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/internal/scripted"
	"annotator/runner"
	"annotator/storage"
	"annotator/view"
)

// atScene reports whether a request is made for one of the scenes: it is the newest that it shows.
func atScene(r scripted.Request, scenes ...int) bool {
	for i := len(r.Messages) - 1; i >= 0; i-- {
		var n int
		if _, err := fmt.Sscanf(r.Messages[i].Content, `<scene number="%d"`, &n); err == nil {
			return slices.Contains(scenes, n)
		}
	}
	return false
}

// refusing is a fault that some scenes meet while it is on.
func refusing(on *bool, scenes ...int) func(int, scripted.Request) *scripted.Fault {
	return func(_ int, r scripted.Request) *scripted.Fault {
		if !*on || !atScene(r, scenes...) || asksSummary(r) {
			return nil
		}
		return &scripted.Fault{Status: 422, Body: `{"error":{"message":"not this one"}}`}
	}
}

// putBack marks quarantined scenes.
func (s *stage) putBack(name string, scenes ...int) int {
	s.t.Helper()
	db := s.writer(name)
	defer func() { _ = db.Close() }()
	n, err := db.Scenes.Retry(context.Background(), scenes...)
	if err != nil {
		s.t.Fatal(err)
	}
	return n
}

// TestRefusedScenesAreReadLate: in the middle of a story and at its end, the first, the last and those that end their
// threads. The laws hold, the window is computed as it was sent, and each scene is recorded once. The codex has their
// facts at their places.
func TestRefusedScenesAreReadLate(t *testing.T) {
	t.Parallel()
	broken := true
	rec := &recording{}
	s := newStage(t, story{threads: 4, scenes: 5}, scripted.Options{
		Strict: true, Script: judging, OnRequest: rec.take, Fault: refusing(&broken, 1, 5, 6, 9, 20),
	})
	s.config.ContextBudget, s.config.MaxTokens, s.config.Limit = 6_800, 1_000, 12
	if err := s.run("late"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	broken = false
	if n := s.putBack("late", 5, 9); n != 2 {
		t.Fatalf("%d put back", n)
	}
	s.verify("late")
	s.config.Limit = 0
	broken = true
	s.serve(scripted.Options{Strict: true, Script: judging, Fault: refusing(&broken, 20)})
	if err := s.run("late"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	s.verify("late")
	if run := s.state("late"); run.Recorded != 17 || run.Quarantined != 3 {
		t.Errorf("recorded %d, quarantined %d", run.Recorded, run.Quarantined)
	}
	broken = false
	if n := s.putBack("late"); n != 3 {
		t.Errorf("%d put back", n)
	}
	if err := s.run("late"); err != nil {
		t.Fatal(err)
	}
	s.verify("late")
	s.noViolations()
	if run := s.state("late"); run.Recorded != 20 || run.Quarantined != 0 || run.OpenScene != 0 {
		t.Errorf("recorded %d, quarantined %d, open %d", run.Recorded, run.Quarantined, run.OpenScene)
	}
	if n := s.count("late", `SELECT count(*) FROM refusal WHERE turn > 0 AND reason <> '' AND fault = 'refused' AND `+
		`raw <> ''`); n != 5 {
		t.Errorf("%d refusals are on record", n)
	}
	if n := s.count("late",
		`SELECT count(*) FROM thread_state WHERE status = 'completed' AND completed_at IS NOT NULL`); n != 4 {
		t.Errorf("%d threads are completed", n)
	}
	if n := s.count("late", `SELECT count(DISTINCT at / 1000000) FROM revision WHERE turn IN (SELECT turn FROM scene WHERE n IN (1, 5, 6, 9, 20))`); n < 2 {
		t.Errorf("what the late scenes told is dated to %d places", n)
	}
	s.asOf("late")
}

// asOf checks that the codex can be read as of each scene, and as of each snapshot.
func (s *stage) asOf(name string) {
	s.t.Helper()
	ctx, db := context.Background(), s.open(name)
	snapshots, err := db.Snapshots.List(ctx, storage.SnapshotQuery{})
	if err != nil {
		s.t.Fatal(err)
	}
	var points []view.Point
	for i := range snapshots {
		points = append(points, view.Point{Kind: view.PointSnapshot, ID: snapshots[i].ID})
	}
	for n := range s.state(name).Corpus.Scenes {
		points = append(points, view.Point{Kind: view.PointScene, ID: int64(n + 1)})
	}
	for _, p := range points {
		moment, err := view.MomentAt(ctx, db, p)
		if err == nil {
			_, err = view.At(db, moment).Find(ctx, annotator.Query{})
		}
		if err != nil {
			s.t.Errorf("as of %s: %v", p, err)
		}
	}
}

// TestRetryOutlivesTheProcess kills a run that reads refused scenes late after each of its transitions: what comes of
// it is what comes of an undisturbed one.
func TestRetryOutlivesTheProcess(t *testing.T) {
	t.Parallel()
	broken := true
	s := newStage(t, story{threads: 3, scenes: 3},
		scripted.Options{Strict: true, Script: judging, Fault: refusing(&broken, 2, 3, 9)})
	s.config.ContextBudget, s.config.MaxTokens = 6_800, 1_000
	if err := s.run("refused"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	broken = false
	fresh := func(name string) {
		t.Helper()
		if err := s.open("refused").Maintenance.Backup(context.Background(), s.db(name)); err != nil {
			t.Fatal(err)
		}
		s.putBack(name)
	}
	fresh("calm")
	killed, transitions := s.spawn("calm", 0, never, 0)
	if killed || transitions < 3*8 {
		t.Fatalf("the undisturbed run told %d transitions (killed: %v)", transitions, killed)
	}
	moments := killsOf(s.lines, 17)
	s.verify("calm")
	calm := append(dump(t, s.db("calm")), s.refusals("calm")...)
	for _, n := range moments {
		name := fmt.Sprintf("killed-%d", n)
		fresh(name)
		if killed, told := s.spawn(name, n, func(told int) bool { return told == n }, 0); !killed || told != n {
			t.Fatalf("kill at transition %d: killed %v after %d", n, killed, told)
		}
		if killed, _ := s.spawn(name, 0, never, 0); killed {
			t.Fatal("the resumed run was killed by somebody else")
		}
		if got := s.refusals(name); !slices.Equal(got, calm[len(calm)-len(got):]) {
			t.Errorf("refusals %q", got)
		}
		s.compare(name, calm[:len(calm)-len(s.refusals("calm"))])
	}
	s.noViolations()
}

// refusals names what the scenes of a database were refused for.
func (s *stage) refusals(name string) []string {
	s.t.Helper()
	var all []string
	for n := range s.count(name, `SELECT count(*) FROM refusal`) {
		const row = `(SELECT * FROM refusal ORDER BY scene, nth LIMIT 1 OFFSET %d)`
		all = append(all, fmt.Sprint(s.count(name,
			fmt.Sprintf(`SELECT scene * 1000000 + nth * 1000 + turn FROM `+row, n))))
	}
	return all
}

// TestRetryRefuses what cannot be read again.
func TestRetryRefuses(t *testing.T) {
	t.Parallel()
	broken := true
	s := newStage(t, story{threads: 1, scenes: 3}, scripted.Options{Strict: true, Fault: refusing(&broken, 2)})
	if err := s.run("some"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	db := s.writer("some")
	defer func() { _ = db.Close() }()
	for scene, kind := range map[int]annotator.Kind{1: annotator.Misused, 4: annotator.NotFound} {
		if n, err := db.Scenes.Retry(context.Background(), 2, scene); n != 0 || annotator.KindOf(err) != kind {
			t.Errorf("scene %d: %d, %v", scene, n, err)
		}
	}
	raw, err := db.Scenes.Raw(context.Background(), 2)
	if err != nil || !strings.Contains(string(raw), "not this one") {
		t.Errorf("%q, %v", raw, err)
	}
	for _, want := range []int{1, 0} { // the second time it waits already
		if n, err := db.Scenes.Retry(context.Background(), 2); n != want || err != nil {
			t.Errorf("%d, %v", n, err)
		}
	}
	if _, err := db.Scenes.Raw(context.Background(), 2); annotator.KindOf(err) != annotator.NotFound {
		t.Error(err)
	}
}

// TestCurateBesideALateScene tests that the window that the curator sees ends before a scene that is half read, at any
// place in the story.
func TestCurateBesideALateScene(t *testing.T) {
	t.Parallel()
	broken, denied := true, false
	s := newStage(t, story{threads: 2, scenes: 3},
		scripted.Options{Strict: true, Fault: func(call int, r scripted.Request) *scripted.Fault {
			if denied && atScene(r, 2) && r.Messages[len(r.Messages)-1].Role == annotator.RoleTool &&
				shownTo(r) == nil {
				return &scripted.Fault{Status: 401, Body: `{"error":"Unauthorized"}`}
			}
			return refusing(&broken, 2)(call, r)
		}})
	s.config.Curator.Off = true
	if err := s.run("half"); !errors.Is(err, annotator.Quarantined) {
		t.Fatal(err)
	}
	broken, denied = false, true
	s.putBack("half")
	if err := s.run("half"); !errors.Is(err, annotator.Halted) {
		t.Fatal(err)
	}
	s.config.Curator = runner.Defaults().Curator
	s.curate("half")
	s.verify("half")
	denied = false
	if err := s.run("half"); err != nil {
		t.Fatal(err)
	}
	s.verify("half")
}
