package runner_test

import (
	"bufio"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/internal/scripted"
	"annotator/model/offline"
	"annotator/policy"
	"annotator/runner"

	"github.com/google/go-cmp/cmp"
	_ "modernc.org/sqlite"
)

// childEnv carries the job of a process that is there to be killed.
const childEnv = "ANNOTATOR_CRASH_JOB"

// job is what such a process does. It writes each transition, and each decision of the curator, to file descriptor 3.
type job struct {
	Corpus, DB, Base string
	Book             string // the source that it imports first, and reads with the offline model; "" for none
	Hang             int    // after this many transitions it waits for its end; 0: it does not
	HangAfter        string // a transition after which it does; "" for none
	Snapshots        bool
	NoPolicy         bool // in place of the default
	Config           runner.Config
}

func runChild(encoded string) int {
	var j job
	if err := json.Unmarshal([]byte(encoded), &j); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	told := os.NewFile(3, "transitions")
	var bus bus
	count := 0
	bus.Subscribe(func(n annotator.Notice) {
		if n.Kind != annotator.NoticeTransition && n.Kind != annotator.NoticeDecision {
			return
		}
		count++
		line := fmt.Sprint(n.State, " ", n.Next)
		fmt.Fprintln(told, line)
		if count == j.Hang || line == j.HangAfter {
			time.Sleep(time.Hour) // to wait for ever would be a deadlock, where nothing else runs
		}
	})
	var transport http.RoundTripper
	if j.Book != "" {
		transport = offline.New(offline.Options{})
		if err := importBook(j.Book, j.Corpus); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	r, end, err := prepare(j, &bus, transport)
	if err == nil {
		defer end()
		err = r.Run(context.Background())
	}
	if err != nil && !errors.Is(err, annotator.Quarantined) && !errors.Is(err, annotator.Bounded) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// killsOf selects the transitions after which a run is killed: the first and the last of each kind, and every sixth. In
// the sample it is every step-th. The last transition of all is not among them.
func killsOf(lines []string, step int) (moments []int) {
	first, last := map[string]int{}, map[string]int{}
	for n, line := range lines {
		if _, met := first[line]; !met {
			first[line] = n
		}
		last[line] = n
	}
	const beside = 6
	for n, line := range lines[:len(lines)-1] {
		if !longtest.Enabled() && n%step == 0 ||
			longtest.Enabled() && (n == first[line] || n == last[line] || n%beside == 0) {
			moments = append(moments, n+1)
		}
	}
	return moments
}

// sameAfterKills demands that a run that is killed after a transition has the rows of the undisturbed one. Without the
// long tests it tries every step-th transition.
func (s *stage) sameAfterKills(step int) {
	s.t.Helper()
	if killed, _ := s.spawn("calm", 0, never, 0); killed {
		s.t.Fatal("the undisturbed run was killed")
	}
	moments := killsOf(s.lines, step)
	s.verify("calm")
	calm := dump(s.t, s.db("calm"))
	for _, n := range moments {
		name := fmt.Sprintf("killed-%d", n)
		s.spawn(name, n, func(told int) bool { return told == n }, 0)
		if killed, _ := s.spawn(name, 0, never, 0); killed {
			s.t.Fatal("the resumed run was killed by somebody else")
		}
		s.compare(name, calm)
	}
}

// spawn runs a child until kill says so, and reports whether it was killed and what it had written by then.
func (s *stage) spawn(name string, hang int, kill func(transitions int) bool, after time.Duration) (killed bool,
	told int,
) {
	s.t.Helper()
	return s.spawnJob(job{Corpus: s.corpus, DB: s.db(name), Base: s.base, Hang: hang, Config: s.config}, kill, after)
}

func (s *stage) spawnJob(j job, kill func(transitions int) bool, after time.Duration) (killed bool, told int) {
	s.t.Helper()
	encoded, err := json.Marshal(j)
	if err != nil {
		s.t.Fatal(err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = read.Close() }()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+string(encoded))
	child.ExtraFiles = []*os.File{write}
	var stderr strings.Builder
	child.Stderr = &stderr
	if err := child.Start(); err != nil {
		s.t.Fatal(err)
	}
	_ = write.Close()
	if after > 0 {
		timer := time.AfterFunc(after, func() { _ = child.Process.Kill() })
		defer timer.Stop()
	}
	lines := bufio.NewScanner(read)
	for s.lines = nil; lines.Scan(); {
		told++
		s.lines = append(s.lines, lines.Text())
		if kill(told) {
			_ = child.Process.Kill()
		}
	}
	err = child.Wait()
	if status, ok := child.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return true, told
	}
	if err != nil {
		s.t.Fatalf("the child failed: %v: %s", err, stderr.String())
	}
	return false, told
}

func never(int) bool { return false }

// crashStory has 20 scenes with tool calls, threads that end on either kind of post, and a window so small that turns
// leave it.
func crashStage(t *testing.T) *stage {
	s := newStage(t, story{threads: 4, scenes: 5}, scripted.Options{Strict: true})
	s.config.ContextBudget = 6_800
	s.config.MaxTokens = 1_000
	return s
}

// ending makes a script say in every other request that the scene is finished with its last edit.
func ending(script scripted.Script) scripted.Script {
	return func(r scripted.Request) scripted.Reply {
		reply := script(r)
		if n := len(reply.ToolCalls) - 1; n >= 0 && len(r.Messages)%4 < 2 &&
			strings.HasPrefix(reply.ToolCalls[n].Name, "glossary_") {
			last := &reply.ToolCalls[n]
			if last.Name != "glossary_search" {
				last.Arguments = strings.TrimSuffix(last.Arguments, "}") + `,"done":true}`
			}
		}
		return reply
	}
}

// judgedStage is crashStage with a curator who makes every kind of decision. The model has to declare its intents and
// ends some scenes with their edits.
func judgedStage(t *testing.T) *stage {
	s := crashStage(t)
	s.config.Governance = policy.Enforce
	s.serve(scripted.Options{Strict: true, Script: ending(declaring(judging))})
	return s
}

// stride is how many transitions each killed process makes. A resumed one needs fewer until it goes on.
const stride = 24

// killThroughout has processes read the story one after another. Each is killed after stride transitions, the first
// earlier, until one ends. In full it does so some times, with ends of the first at equal distances, so that the kills
// are everywhere in the story. Others are then killed after each kind of transition that is left. The rows must be
// those of an undisturbed run, which makes a least number of transitions.
func (s *stage) killThroughout(least, times int) {
	s.t.Helper()
	killed, transitions := s.spawn("calm", 0, never, 0)
	if killed || transitions < least {
		s.t.Fatalf("the undisturbed run told %d transitions (killed: %v)", transitions, killed)
	}
	s.verify("calm")
	calm, lines, left := dump(s.t, s.db("calm")), s.lines, map[string]bool{}
	kill := func(first int) {
		name := fmt.Sprintf("killed-%d", first)
		last, kills := first, 0
		for ; ; last, kills = stride, kills+1 {
			killed, told := s.spawn(name, last, func(told int) bool { return told == last }, 0)
			if killed != (told == last) {
				s.t.Fatalf("kill at transition %d: killed %v after %d", last, killed, told)
			}
			if !killed {
				break
			}
			left[s.lines[told-1]] = true
		}
		if kills == 0 {
			s.t.Fatalf("no process was killed at transition %d", first)
		}
		s.compare(name, calm)
	}
	for first := 1; first <= stride; first += stride / longtest.Pick(1, times) {
		kill(first)
	}
	if longtest.Enabled() {
		s.killAfterEach(lines[:len(lines)-1], left, calm)
	}
	s.noViolations()
}

// killAfterEach has processes read the story one after another until one was killed after each kind of transition. The
// kinds have the order of their first occurrence, so that a process meets the next one after the last.
func (s *stage) killAfterEach(lines []string, left map[string]bool, calm []string) {
	s.t.Helper()
	for walk := 0; slices.ContainsFunc(lines, func(line string) bool { return !left[line] }); walk++ {
		name, killed, kills := fmt.Sprintf("killed-after-each-%d", walk), true, 0
		for _, line := range lines {
			if left[line] || !killed {
				continue
			}
			j := job{Corpus: s.corpus, DB: s.db(name), Base: s.base, HangAfter: line, Config: s.config}
			if killed, _ = s.spawnJob(j, func(told int) bool { return s.lines[told-1] == line }, 0); killed {
				left[line], kills = true, kills+1
			}
		}
		if kills == 0 {
			s.t.Fatal("no process was killed")
		}
		if killed {
			s.spawn(name, 0, never, 0)
		}
		s.compare(name, calm)
	}
}

// TestKilledAtEveryTransition kills a run after its transitions and after the decisions of the curator, and lets other
// processes continue.
func TestKilledAtEveryTransition(t *testing.T) {
	t.Parallel()
	s := judgedStage(t)
	s.killThroughout(20*8, stride)
	if n := s.count("calm", `SELECT count(*) FROM trace WHERE kind = 'close'`); n == 0 {
		t.Fatal("no scene ends with its calls")
	}
}

// TestKilledAtRandomMoments kills runs at random times, several times a run.
func TestKilledAtRandomMoments(t *testing.T) {
	t.Parallel()
	s := judgedStage(t)
	begin := time.Now()
	if killed, _ := s.spawn("calm", 0, never, 0); killed {
		t.Fatal("the undisturbed run was killed")
	}
	span := time.Since(begin)
	s.verify("calm")
	calm := dump(t, s.db("calm"))
	kills := longtest.Pick(5, 40)
	random := rand.New(rand.NewPCG(1, 2))
	for landed, n := 0, 0; landed < kills; n++ {
		name := fmt.Sprintf("random-%d", n)
		// the machine may have become slower, and a run must come to its end
		for longest := span; ; longest += span / 10 {
			after := 1 + time.Duration(random.Float64()*float64(longest))
			killed, _ := s.spawn(name, 0, never, after)
			if !killed {
				break
			}
			landed++
		}
		s.compare(name, calm)
		if n > 20*kills {
			t.Fatalf("%d of %d kills landed", landed, kills)
		}
	}
	s.noViolations()
}

// compare compares a database with the uninterrupted one, and removes it.
func (s *stage) compare(name string, calm []string) {
	s.t.Helper()
	s.verify(name)
	if diff := cmp.Diff(calm, dump(s.t, s.db(name))); diff != "" {
		s.t.Fatalf("%s differs from the undisturbed run (-calm +killed):\n%s", name, diff)
	}
	for _, suffix := range []string{"", "-wal", "-shm", ".lock"} {
		_ = os.Remove(s.db(name) + suffix)
	}
}

func (s *stage) noViolations() {
	s.t.Helper()
	for _, v := range s.server.Violations() {
		s.t.Errorf("the chat template refused a request: %v", v)
	}
}

// volatile columns depend on time, on the process, or on the server's cache.
var volatile = map[string]bool{
	"at": true, "created_at": true, "updated_at": true, "started_at": true, "completed_at": true, "recorded_at": true,
	"changed_at":    true,
	"first_byte_ms": true, "total_ms": true, "cached_tokens": true, "told_tokens": true, "holder": true,
	"endpoint":        true,
	"corpus_identity": true, "begun_call": true, "call.id": true, "call.attempt": true, "call.decision": true,
	"call.reason": true, "corpus_path": true,
}

// dump returns all that the tables hold, except for volatile columns and the calls without a reply. The column at of a
// revision is a place, not a time, and stays.
func dump(t testing.TB, path string) []string {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var out []string
	for _, table := range strings.Fields(
		`snapshot_context run_state thread_state scene trace compaction episode call entry value
		revision tool_decision snapshot`) {
		out = append(out, dumpTable(t, db, table)...)
	}
	return out
}

func dumpTable(t testing.TB, db *sql.DB, table string) []string {
	t.Helper()
	query := `SELECT * FROM ` + table
	if table == "call" {
		query += ` WHERE outcome = 'ok' AND purpose <> 'probe' ORDER BY trace_id`
	}
	rows, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for rows.Next() {
		values, targets := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			targets[i] = &values[i]
		}
		if err := rows.Scan(targets...); err != nil {
			t.Fatal(err)
		}
		line := table
		for i, column := range columns {
			place := table == "revision" && column == "at"
			if (volatile[column] && !place) || volatile[table+"."+column] {
				continue
			}
			line += fmt.Sprintf(" %s=%v", column, values[i])
		}
		out = append(out, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}
