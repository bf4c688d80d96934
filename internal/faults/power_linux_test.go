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

// TestPowerFails records what the program does to its files, call by call, and has the power fail at many moments of that. What
// was synced is on the disk then; of what was not there is all, nothing, or anything between that a disk can leave. Whatever was
// believed to be safe is there, the database is whole, and the run goes on to the same end.
func TestPowerFails(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Curator.Off, config.ContextBudget = false, 5_200 // there is a compaction
	b := newBench(t, config)
	l := newLife(t, b)
	deeds := record(t, l.Folder, l.environment(t))
	f := failing{T: t, bench: b, life: l, resumed: map[string]bool{}, random: rand.New(rand.NewPCG(1, 2))}
	moments := f.moments(deeds)
	d := newDisk()
	for at, deed := range deeds {
		if err := d.do(deed); err != nil {
			t.Fatal(err)
		}
		if deed.kind == believes {
			f.belief = belief{}
			if err := json.Unmarshal(deed.data, &f.belief); err != nil {
				t.Fatal(err)
			}
		}
		for ; len(moments) > 0 && moments[0] == at; moments = moments[1:] {
			f.cut(d, at)
		}
	}
	if !f.belief.Compacted {
		t.Error("nothing was compacted")
	}
	t.Logf("%d deeds, %d cuts, %d states that were gone on from", len(deeds), f.count, len(f.resumed))
}

// failing is a life in which the power fails.
type failing struct {
	*testing.T
	bench   *bench
	life    life
	belief  belief
	count   int             // of the cuts
	resumed map[string]bool // states that were gone on from
	random  *rand.Rand
}

// moments chooses after which deeds the power fails: half of them anywhere, half of them shared out among the stages of the life.
func (f *failing) moments(deeds []deed) []int {
	var begins []int
	doing := ""
	for at, deed := range deeds {
		var b belief
		if deed.kind == believes && json.Unmarshal(deed.data, &b) == nil && b.Doing != doing {
			doing, begins = b.Doing, append(begins, at)
		}
	}
	begins = append(begins, len(deeds))
	moments := make([]int, *cuts)
	for i := range moments {
		from, to := 0, len(deeds)
		if i%2 == 0 {
			stage := f.random.IntN(len(begins) - 1)
			from, to = begins[stage], begins[stage+1]
		}
		moments[i] = from + f.random.IntN(to-from)
	}
	slices.Sort(moments)
	return moments
}

// cut has the power fail, and looks at what it leaves.
func (f *failing) cut(d *disk, at int) {
	mood := temper(f.count) % allTempers
	f.count++
	found := d.cut(mood, f.random)
	f.Run(fmt.Sprintf("%d: %s, deed %d, temper %d", f.count, f.belief.Doing, at, mood), func(t *testing.T) {
		l := f.life
		l.Folder = t.TempDir()
		for name, content := range found {
			if mood == scribbles && strings.HasSuffix(name, "-shm") {
				content = noise(len(content), f.random) // it is memory that the processes share
			}
			if err := os.WriteFile(filepath.Join(l.Folder, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		f.lookAtExport(t, found)
		f.lookAtImport(t, &l)
		f.lookAtCopies(t, &l, found)
		f.goOn(t, &l)
	})
}

func (f *failing) lookAtExport(t *testing.T, found map[string][]byte) {
	text, is := found[filepath.Base(f.life.export())]
	for n := f.belief.Exported; n <= 2; n++ {
		if n == 0 && !is || n > 0 && bytes.Equal(text, []byte(exported(n))) {
			return
		}
	}
	t.Errorf("the export is %.100q; %d of them are believed", text, f.belief.Exported)
}

func (f *failing) lookAtImport(t *testing.T, l *life) {
	report, err := ingest.Import(t.Context(), l.importing(), nil)
	if err != nil {
		t.Errorf("the import: %v", err)
		return
	}
	if !report.Existing { // but made anew
		if f.belief.Imported {
			t.Error("the import is believed, and not there")
		}
		return
	}
	want, err := os.ReadFile(f.life.importing().Corpus)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(report.Corpus); err != nil || !bytes.Equal(got, want) {
		t.Errorf("the import is not what it was (%v)", err)
	}
}

func (f *failing) lookAtCopies(t *testing.T, l *life, found map[string][]byte) {
	there := func(path string) bool { return len(found[filepath.Base(path)]) > 0 } // the name may have been taken for what was to come
	if f.belief.Copied || there(l.backup()) {
		s := session{t: t, program: l.program()}
		s.db = l.backup()
		f.bench.undisturbed(&s)
	}
	if f.belief.Branched || there(l.branch()) {
		s := session{t: t, program: l.program()}
		s.db = l.branch()
		s.verifyAll()
		f.finish(&s, "the branch")
	}
}

// goOn looks at the database and resumes the run.
func (f *failing) goOn(t *testing.T, l *life) {
	s := session{t: t, program: l.program()}
	state := "the beginning"
	if f.belief.none() {
		if _, err := os.Stat(s.db); err == nil {
			state = fmt.Sprintf("half a beginning, that of cut %d", f.count)
		}
	} else {
		s.verifyAll()
		s.lines(`SELECT 1`)
		var seen belief
		if err := seen.count(s.aside); err != nil {
			t.Fatal(err)
		}
		if f.belief.exceeds(&seen) {
			t.Fatalf("believed is %+v, and there is %+v", f.belief, seen)
		}
		state = fmt.Sprint(seen)
	}
	f.finish(&s, state)
}

// again is how often a run goes on from a state from which one did already: each so-many-th time.
const again = 8

// finish resumes a run that stands in a state.
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
