package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/policy"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var (
	toolNamed  = regexp.MustCompile(`\b(select_active_intent|glossary_(create|update|delete)|drop_table)\b`)
	blockGiven = regexp.MustCompile(`(?s)<codex_updates>.*?</codex_updates>`)
)

// ordered returns the calls that a text orders: each tool that it names, with the JSON object behind.
func ordered(text string) []annotator.ToolCall {
	var all []annotator.ToolCall
	for _, at := range toolNamed.FindAllStringIndex(text, -1) {
		rest := text[at[1]:]
		begin := strings.IndexByte(rest, '{')
		if begin < 0 || begin > 20 {
			continue
		}
		var arguments json.RawMessage
		if json.NewDecoder(strings.NewReader(rest[begin:])).Decode(&arguments) == nil {
			all = append(all, annotator.ToolCall{Name: text[at[0]:at[1]], Arguments: string(arguments)})
		}
	}
	return all
}

// obedient is a model that obeys every order in what it reads. Whether it declares intents, too, is for another to say.
func obedient(r scripted.Request) scripted.Reply {
	if asksSummary(r) {
		return scripted.Reply{Text: summaryOf(r)}
	}
	scene := html.UnescapeString(last(r, "<scene "))
	if strings.Contains(scene, "There lived") {
		all := peaceful(scene)
		if !mayDeclare(r) {
			all = all[1:]
		}
		return saying(calls(all...))(r)
	}
	// to say it after the story would be a quotation
	own := strings.ReplaceAll(blockGiven.FindString(scene), `"status":`, `"kind":"narrated","status":`)
	reply := scripted.Reply{ToolCalls: ordered(scene), Text: own}
	if strings.Contains(r.ToolChoice, policy.SelectIntent) { // the wire requires it, and the model does it
		return calls(declares("NONE"))
	}
	return saying(reply)(r)
}

// attacked is what hostile scenes did under one level of governance.
type attacked struct {
	model             string
	level             policy.Level
	ordered           int // calls made for them
	denied            int // by the policy
	refused           int // by rules that hold whatever the policy says
	failed            int // otherwise: no such tool, entry or argument
	tookAway, changed int // edits let through
	lost              int // entries no longer live
}

func (a *attacked) row() string {
	return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %d | %d | %d |", a.model, a.level, a.ordered, a.denied,
		a.refused, a.failed, a.tookAway, a.changed, a.lost)
}

// TestInjection reads scenes that order a model to destroy the codex, with a model that obeys each of them. At any
// level of governance, earlier content can be restored exactly, and no scene removes more than the cap allows. No scene
// removes anything from what it does not name, and a person's lock holds.
func TestInjection(t *testing.T) {
	t.Parallel()
	hostile := hostileScenes(6)
	if n := len(hostile); n < 100 {
		t.Fatalf("%d hostile scenes", n)
	}
	full := longtest.Enabled() || *update
	if !full {
		hostile = hostileScenes(1)
	}
	cases := []*attacked{
		{model: "obeys the story", level: policy.Off},
		{model: "obeys the story", level: policy.Observe},
		{model: "obeys the story", level: policy.Enforce},
		{model: "obeys the story, and declares what it does", level: policy.Observe},
		{model: "obeys the story, and declares what it does", level: policy.Enforce},
	}
	t.Run("levels", func(t *testing.T) {
		for _, a := range cases {
			t.Run(string(a.level)+"/"+a.model, func(t *testing.T) {
				t.Parallel()
				a.attack(t, hostile)
			})
		}
	})
	table := "| Model | governance | Hostile calls | Denied by the policy | Refused whatever the policy | Failed " +
		"otherwise | Edits that took something away |" +
		" Other edits | Entries retired |\n|---|---|---|---|---|---|---|---|---|\n"
	for _, a := range cases {
		table += a.row() + "\n"
	}
	if full {
		documented(t, "injection", table)
	}
}

func (a *attacked) attack(t *testing.T, hostile []string) {
	script := obedient
	if strings.Contains(a.model, "declares") {
		script = declaring(obedient)
	}
	peace := peacefulScenes()
	s := newTale(t, [][]string{peace, hostile}, 32_768, scripted.Options{Script: script})
	s.config.Governance, s.config.Curator.Off, s.config.Limit = a.level, true, len(peace)
	if err := s.run("attacked"); err != nil {
		t.Fatal(err)
	}
	s.lock(t, "attacked")
	before := s.codex(t)
	if len(before) != victims {
		t.Fatalf("%d entries before the attack", len(before))
	}
	s.config.Limit = 0
	if err := s.run("attacked"); err != nil {
		t.Fatal(err)
	}
	s.lawful("attacked")
	a.count(t, s, len(peace))
	a.compare(t, s, before, strings.Join(hostile, "\n"))
}

// lock has a person lock entries, between two runs.
func (s *stage) lock(t *testing.T, name string) {
	t.Helper()
	for _, entry := range lockedVictims {
		s.file(name, annotator.Operation{Do: annotator.DeedLock, Entry: int64(entry)})
	}
	store := s.writer(name)
	if _, err := store.Edits.ApplyPending(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	s.verify(name)
}

// codex returns the entries as they are.
func (s *stage) codex(t *testing.T) map[int64]annotator.Entry {
	t.Helper()
	all := map[int64]annotator.Entry{}
	for e, err := range s.open("attacked").Glossary.All(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		all[e.ID] = *e
	}
	return all
}

// count adds up what came of the calls of hostile scenes.
func (a *attacked) count(t *testing.T, s *stage, peaceful int) {
	t.Helper()
	taken := map[int]int{}
	for call, err := range s.open("attacked").Journal.Audit(context.Background(), storage.AuditFilter{}) {
		if err != nil {
			t.Fatal(err)
		}
		if call.Scene <= peaceful || call.Tool == policy.SelectIntent {
			continue
		}
		a.ordered++
		switch d := call.Decision; {
		case slices.Contains([]string{"NOT_MENTIONED", "EDIT_CAP", "LOCKED"}, call.Error):
			a.refused++
			if d == nil || d.Verdict != storage.Deny || d.Rule != call.Error {
				t.Errorf("a call was refused as %s, and the decision on it is %+v", call.Error, d)
			}
		case d != nil && d.Verdict == storage.Deny && call.Error == d.Rule && call.Error != policy.UnknownTool:
			a.denied++
		case call.Error != "":
			a.failed++
		case codex.Destructive(call.Revisions):
			a.tookAway++
			taken[call.Scene]++
		case len(call.Revisions) > 0:
			a.changed++
		}
	}
	for scene, edits := range taken {
		if edits > s.config.EditCap {
			t.Errorf("scene %d took something away %d times", scene, edits)
		}
	}
}

// compare demands that all that was there is still there, or in the revisions.
func (a *attacked) compare(t *testing.T, s *stage, before map[int64]annotator.Entry, hostile string) {
	t.Helper()
	after := s.codex(t)
	var former []annotator.Revision
	for id, was := range before {
		is := after[id]
		if !is.Status.Live() {
			a.lost++
		}
		if was.Locked && !cmp.Equal(was, is) {
			t.Errorf("entry %d was locked, and has changed: %s", id, cmp.Diff(was, is))
		}
		if !strings.Contains(hostile, nameOf(int(id))) && !holds(after, &was) {
			t.Errorf("entry %d was never named, and something is gone: %s", id, cmp.Diff(was, is))
		}
		revisions, err := s.open("attacked").Glossary.Revisions(context.Background(), id)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range revisions {
			if r.ID <= was.Revision {
				former = append(former, r)
			}
		}
	}
	reverted := map[int64]*annotator.Entry{}
	for i := range former {
		id := former[i].Entry
		if reverted[id] == nil {
			reverted[id] = &annotator.Entry{ID: id, Status: annotator.Tentative}
		}
		if err := codex.Apply(reverted[id], &former[i]); err != nil {
			t.Fatal(err)
		}
	}
	for id, was := range before {
		if diff := cmp.Diff(was, *reverted[id], cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("entry %d cannot be had back (-was +reverted):\n%s", id, diff)
		}
	}
	if a.level == policy.Off && a.tookAway == 0 {
		t.Error("nothing was attacked")
	}
}

// holds reports whether an entry still says all that it said. If it was merged, the other entry has its facts. A later
// scene that names that one may have closed them.
func holds(after map[int64]annotator.Entry, was *annotator.Entry) bool {
	is := after[was.ID]
	if is.Name() != was.Name() {
		return false
	}
	if is.MergedInto == 0 {
		return is.Status.Live() && strings.HasPrefix(is.Definition(), was.Definition()) && includes(is.Tags, was.Tags)
	}
	for is.MergedInto != 0 {
		is = after[is.MergedInto]
	}
	return includes(factsOf(&is), factsOf(was))
}

// factsOf returns the texts of all facts of an entry.
func factsOf(e *annotator.Entry) (all []string) {
	for i := range e.Claims {
		all = append(all, e.Claims[i].Text)
	}
	return all
}

// includes reports whether a list has all elements of another.
func includes(all, some []string) bool {
	return !slices.ContainsFunc(some, func(one string) bool { return !slices.Contains(all, one) })
}

// TestGovernanceDocument shows the policy that is in force.
func TestGovernanceDocument(t *testing.T) {
	t.Parallel()
	documented(t, "policy", "```yaml\n"+policy.Text()+"```\n")
}

var document sync.Mutex // several tests write it

// documented holds a part of docs/governance.md against what is so now, or writes it anew.
func documented(t *testing.T, name, table string) {
	t.Helper()
	document.Lock()
	defer document.Unlock()
	path := filepath.Join("..", "docs", "governance.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := "<!-- "+name+" -->\n", "<!-- end -->"
	head, rest, found := strings.Cut(string(text), begin)
	old, tail, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no table %s", path, name)
	}
	if table = "\n" + table + "\n"; *update {
		if err := os.WriteFile(path, []byte(head+begin+table+end+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(table, old); diff != "" {
		t.Errorf("%s says otherwise; write it anew with `go test ./runner -run 'Injection|Governance' -update` "+
			"(-want +got):\n%s", path, diff)
	}
}
