//go:build linux && (amd64 || arm64)

package faults_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"annotator/corpus/ingest"
	"annotator/internal/longtest"
)

var cuts = flag.Int("cuts", longtest.Pick(10, 400), "how many times the power fails in TestPowerFails")

// TestPowerFails records what the program does to its files, call by call, and has the power fail at many moments of
// that. What was synced is on the disk then; of what was not there is all, nothing, or anything between that a disk can
// leave. Whatever was acknowledged as durable is there, the database is whole, and the run goes on to the same end.
func TestPowerFails(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Curator.Off, config.ContextBudget = false, 5_600 // there is a compaction
	b := newBench(t, config)
	l := newScenario(t, b)
	ops := record(t, l.Folder, l.environment(t))
	f := failing{T: t, bench: b, scenario: l, resumed: map[string]bool{}, random: rand.New(rand.NewPCG(1, 2))}
	moments := f.moments(ops)
	d := newDisk()
	for at, op := range ops {
		if err := d.do(op); err != nil {
			t.Fatal(err)
		}
		if op.kind == acknowledges {
			f.acknowledged = acknowledged{}
			if err := json.Unmarshal(op.data, &f.acknowledged); err != nil {
				t.Fatal(err)
			}
		}
		for ; len(moments) > 0 && moments[0] == at; moments = moments[1:] {
			f.cut(d, at)
		}
	}
	if !f.acknowledged.Compacted {
		t.Error("nothing was compacted")
	}
	t.Logf("%d operations, %d cuts, %d states that were resumed", len(ops), f.count, len(f.resumed))
}

// failing is a scenario with a power failure.
type failing struct {
	*testing.T
	bench        *bench
	scenario     scenario
	acknowledged acknowledged
	count        int             // of the cuts
	resumed      map[string]bool // states from which a run was resumed
	random       *rand.Rand
}

// moments selects the operations after which the power fails: half at random, half spread over the scenario's steps.
func (f *failing) moments(ops []fileOp) []int {
	var begins []int
	last := ""
	for at, op := range ops {
		var b acknowledged
		if op.kind == acknowledges && json.Unmarshal(op.data, &b) == nil && b.Step != last {
			last, begins = b.Step, append(begins, at)
		}
	}
	begins = append(begins, len(ops))
	moments := make([]int, *cuts)
	for i := range moments {
		from, to := 0, len(ops)
		if i%2 == 0 {
			stage := f.random.IntN(len(begins) - 1)
			from, to = begins[stage], begins[stage+1]
		}
		moments[i] = from + f.random.IntN(to-from)
	}
	slices.Sort(moments)
	return moments
}

// cut simulates a power failure, and checks the remaining files.
func (f *failing) cut(d *disk, at int) {
	loss := lossMode(f.count) % allLossModes
	f.count++
	found := d.cut(loss, f.random)
	f.Run(fmt.Sprintf("%d: %s, operation %d, mode %d", f.count, f.acknowledged.Step, at, loss), func(t *testing.T) {
		l := f.scenario
		l.Folder = t.TempDir()
		for name, content := range found {
			if loss == scribbles && strings.HasSuffix(name, "-shm") {
				content = noise(len(content), f.random) // it is shared memory
			}
			if err := os.WriteFile(filepath.Join(l.Folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.checkExport(t, found)
		f.checkImport(t, &l)
		f.checkCopies(t, &l, found)
		f.resumeRun(t, &l)
	})
}

func (f *failing) checkExport(t *testing.T, found map[string][]byte) {
	text, is := found[filepath.Base(f.scenario.export())]
	for n := f.acknowledged.Exported; n <= 2; n++ {
		if n == 0 && !is || n > 0 && bytes.Equal(text, []byte(exported(n))) {
			return
		}
	}
	t.Errorf("the export is %.100q; %d of them are acknowledged", text, f.acknowledged.Exported)
}

func (f *failing) checkImport(t *testing.T, l *scenario) {
	report, err := ingest.Import(t.Context(), l.importing(), nil)
	if err != nil {
		t.Errorf("the import: %v", err)
		return
	}
	if !report.Existing { // but made anew
		if f.acknowledged.Imported {
			t.Error("the import is acknowledged, and not there")
		}
		return
	}
	want, err := os.ReadFile(f.scenario.importing().Corpus)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(report.Corpus); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the import is not what it was (%v)", err)
	}
}

func (f *failing) checkCopies(t *testing.T, l *scenario, found map[string][]byte) {
	// the name may have been taken for what was to come
	there := func(path string) bool { return len(found[filepath.Base(path)]) > 0 }
	if f.acknowledged.Copied || there(l.backup()) {
		s := session{t: t, program: l.program()}
		s.db = l.backup()
		f.bench.undisturbed(&s)
	}
	if f.acknowledged.Branched || there(l.branch()) {
		s := session{t: t, program: l.program()}
		s.db = l.branch()
		s.verifyAll()
		f.finish(&s, "the branch")
	}
}

// resumeRun checks the database and resumes the run.
func (f *failing) resumeRun(t *testing.T, l *scenario) {
	s := session{t: t, program: l.program()}
	state := "the beginning"
	if f.acknowledged.none() {
		if _, err := os.Stat(s.db); err == nil {
			state = fmt.Sprintf("half a beginning, that of cut %d", f.count)
		}
	} else {
		s.verifyAll()
		s.lines(`SELECT 1`)
		var seen acknowledged
		if err := seen.count(s.aside); err != nil {
			t.Fatal(err)
		}
		if f.acknowledged.exceeds(&seen) {
			t.Fatalf("acknowledged is %+v, and there is %+v", f.acknowledged, seen)
		}
		state = fmt.Sprint(seen)
	}
	f.finish(&s, state)
}

// again is how often a run is resumed from a state from which one was resumed before: once in this number.
const again = 8

// finish resumes a run from a state.
func (f *failing) finish(s *session, state string) {
	if f.resumed[state] && f.count%again != 0 {
		return
	}
	f.resumed[state] = true
	if err := s.program.run(s.t.Context()); err != nil {
		s.t.Fatalf("from %s on: %v", state, err)
	}
	f.bench.undisturbed(s)
}
