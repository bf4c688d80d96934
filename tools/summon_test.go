package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"annotator"
	"annotator/tools"
)

// past is a summoner that records its questions.
type past struct {
	asked []string
	open  bool
}

func (p *past) List(_ context.Context, kind string, thread int64, limit int) ([]annotator.Snapshot, error) {
	p.asked = append(p.asked, fmt.Sprintf("list %q %d %d", kind, thread, limit))
	return []annotator.Snapshot{{ID: 7, Kind: "checkpoint", Scene: 6, Thread: 1, Entries: 3}}[:min(1, limit)], nil
}

func (p *past) Open(_ context.Context, snapshot int64, question string) (tools.Answer, error) {
	if snapshot != 7 {
		return tools.Answer{}, &tools.Failure{Code: tools.NotFound, Message: "there is no such snapshot"}
	}
	p.open = true
	return p.answer(question)
}

func (p *past) Continue(_ context.Context, question string) (tools.Answer, error) {
	if !p.open {
		return tools.Answer{}, &tools.Failure{Code: tools.NoSummon, Message: "no snapshot is summoned"}
	}
	return p.answer(question)
}

func (p *past) answer(question string) (tools.Answer, error) {
	p.asked = append(p.asked, "ask "+question)
	return tools.Answer{
		Snapshot: annotator.Snapshot{ID: 7, Kind: "checkpoint", Scene: 6, Thread: 1, Entries: 3},
		Text:     strings.Repeat("So <it> was. ", 2000), Left: 5,
	}, nil
}

func (p *past) Dismiss(_ context.Context, summary string) error {
	p.asked = append(p.asked, "dismiss "+summary)
	return nil
}

func newPast(t *testing.T) (*world, *past) {
	t.Helper()
	registry, err := tools.New(tools.All()...)
	if err != nil {
		t.Fatal(err)
	}
	w, p := worldOf(t, registry), &past{}
	w.env.Snapshots = p
	return w, p
}

func TestSnapshotTools(t *testing.T) {
	t.Parallel()
	w, p := newPast(t)
	if a := w.do("list_snapshots", `{"thread_id":1}`); a.Count != 1 {
		t.Errorf("%+v", a)
	}
	w.do("list_snapshots", `{"limit":"3","snapshot_type":"manual"}`)
	result, _ := w.run("summon_snapshot", `{"snapshot_id":7,"query":" Who\u0000 is <Mik>? "}`)
	var got struct {
		Snapshot struct {
			ID, Scene, Thread, Entries int64
			Type                       string
		}
		Answer string
		Left   int `json:"questions_left"`
	}
	if err := json.Unmarshal([]byte(result.Content), &got); err != nil {
		t.Fatal(err)
	}
	if got.Snapshot.ID != 7 || got.Snapshot.Scene != 6 || got.Snapshot.Type != "checkpoint" || got.Left != 5 ||
		!strings.HasPrefix(got.Answer, "So <it> was. ") || len(result.Content) > 8000 ||
		!strings.Contains(got.Answer, "more characters]") {
		t.Errorf("%d characters: %.200s", len(result.Content), result.Content)
	}
	w.do("summon_continue", `{"message":"And then?"}`)
	w.do("summon_dismiss", `{"summary":"A smith."}`)
	want := []string{`list "" 1 20`, `list "manual" 0 3`, "ask Who is <Mik>?", "ask And then?", "dismiss A smith."}
	if diff := cmp.Diff(want, p.asked); diff != "" {
		t.Error(diff)
	}
}

func TestSnapshotToolsRefuse(t *testing.T) {
	t.Parallel()
	w, p := newPast(t)
	w.refused("NO_SUMMON", "summon_continue", `{"message":"And then?"}`)
	w.refused("NOT_FOUND", "summon_snapshot", `{"snapshot_id":8,"query":"Who?"}`)
	w.refused("EMPTY", "summon_snapshot", `{"snapshot_id":7,"query":" ?! "}`)
	w.refused("EMPTY", "summon_dismiss", `{"summary":""}`)
	w.refused("TOO_LONG", "summon_continue", `{"message":"`+strings.Repeat("x", 2001)+`"}`)
	w.refused("INVALID_ARGUMENTS", "summon_snapshot", `{"snapshot_id":7}`)
	w.refused("INVALID_ARGUMENTS", "list_snapshots", `{"limit":51}`)
	w.refused("INVALID_ARGUMENTS", "list_snapshots", `{"snapshot_type":"full"}`)
	if len(p.asked) > 0 {
		t.Errorf("asked %v", p.asked)
	}
}

func TestSnapshotPermissions(t *testing.T) {
	t.Parallel()
	want := map[string]tools.Permission{
		"list_snapshots": tools.Reads, "summon_snapshot": tools.Summons, "summon_continue": tools.Summons,
		"summon_dismiss": tools.Summons,
	}
	got := map[string]tools.Permission{}
	for _, tool := range tools.Snapshots() {
		got[tool.Name] = tool.Permission
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
