package runner_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"annotator"
	"annotator/internal/longtest"
	"annotator/storage"
)

// someEdits are edits of a person, of which the rules refuse the last.
func someEdits() []annotator.Operation {
	return []annotator.Operation{
		{Do: annotator.DeedRename, Entry: 1, Name: "What a person calls it"},
		{Do: annotator.DeedAdd, Entry: 2, Text: "A person says so."},
		{Do: annotator.DeedNever, Entry: 1, Other: 2},
		{Do: annotator.DeedMerge, Entry: 1, Other: 2},
	}
}

func (s *stage) file(name string, ops ...annotator.Operation) {
	s.t.Helper()
	for i := range ops {
		if err := storage.FileEdit(context.Background(), s.db(name), time.Now, &ops[i]); err != nil {
			s.t.Fatal(err)
		}
	}
}

// TestEditsBesideARun: edits that are stored while a run reads a scene are applied before the next one. The rows are
// those of a run that is stopped after that scene, while the person edits.
func TestEditsBesideARun(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	stored := false
	s.bus.Subscribe(func(n annotator.Notice) {
		if n.Kind == annotator.NoticeCalling && n.Scene == 3 && !stored {
			stored = true
			s.file("beside", someEdits()...)
		}
	})
	if err := s.run("beside"); err != nil || !stored {
		t.Fatalf("stored: %v, %v", stored, err)
	}
	s.verify("beside")
	if n := s.count("beside", `SELECT count(*) FROM trace e WHERE e.kind = 'edit'
		AND (e.error = '') = (e.tool <> 'merge')
		AND (SELECT scene FROM trace t WHERE t.id < e.id AND t.scene > 0 ORDER BY t.id DESC LIMIT 1) = 3`); n != 4 {
		t.Errorf("%d of 4 edits are behind scene 3", n)
	}
	s.config.Limit = 3
	if err := s.run("between"); err != nil && annotator.KindOf(err) != annotator.Interrupted {
		t.Fatal(err)
	}
	s.file("between", someEdits()...)
	s.config.Limit = 0
	if err := s.run("between"); err != nil {
		t.Fatal(err)
	}
	s.compareBut("between", dump(t, s.db("beside")), "run_state")
}

// TestKilledWithEdits kills a run that has edits to apply after its transitions, and lets another process continue.
func TestKilledWithEdits(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	s.config.Limit = 3
	if err := s.run("base"); err != nil && annotator.KindOf(err) != annotator.Interrupted {
		t.Fatal(err)
	}
	s.file("base", someEdits()...)
	s.config.Limit = 2
	begin := func(name string) {
		t.Helper()
		whole, err := os.ReadFile(s.db("base"))
		if err == nil {
			err = os.WriteFile(s.db(name), whole, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	begin("calm")
	if killed, _ := s.spawn("calm", 0, never, 0); killed {
		t.Fatal("the undisturbed run was killed")
	}
	calm := dump(t, s.db("calm"))
	for last := 1; last <= 12; last += longtest.Pick(3, 1) {
		name := fmt.Sprintf("killed-%d", last)
		begin(name)
		if killed, _ := s.spawn(name, last, func(told int) bool { return told == last }, 0); !killed {
			t.Fatalf("it was not killed after %d transitions", last)
		}
		if n := s.count(name, `SELECT (SELECT count(*) FROM pending_edit)
			+ (SELECT count(*) FROM trace WHERE kind = 'edit')`); n != 4 {
			t.Fatalf("after %d transitions there are %d edits", last, n)
		}
		s.config.Limit = 2
		if n := s.count(name, `SELECT count(*) FROM scene WHERE state = 'recorded'`); n > 3 {
			s.config.Limit = 5 - n
		}
		if killed, _ := s.spawn(name, 0, never, 0); killed {
			t.Fatal("it was killed again")
		}
		s.config.Limit = 2
		s.compareBut(name, calm, "run_state")
	}
}

// seed is the entries of a person with which a run may begin.
func seed() *annotator.Operation {
	return &annotator.Operation{Do: annotator.DeedSeed, Parts: []annotator.Operation{
		{Do: annotator.DeedCreate, Name: "The Lamp", Parts: []annotator.Operation{
			{Do: annotator.DeedAdd, Text: "A person says so.", Kind: annotator.Noted},
		}},
		{Do: annotator.DeedCreate, Name: "Gallows Quay", Tags: []string{"place"}},
	}}
}

// TestKilledWithSeed kills a run that begins with a seed, and lets another process continue with the same. Under each
// limit its entries are there, as a person's.
func TestKilledWithSeed(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	s.config.Limit, s.config.Seed = 2, seed()
	if killed, _ := s.spawn("calm", 0, never, 0); killed {
		t.Fatal("the undisturbed run was killed")
	}
	s.verify("calm")
	if n := s.count("calm", `SELECT count(*) FROM value WHERE entry_id <= 2 AND from_seen = 0
		AND field IN ('term', 'claim', 'tag')`); n != 4 {
		t.Errorf("%d of 4 values of the seed are there from the start", n)
	}
	if n := s.count("calm", `SELECT count(*) FROM trace WHERE tool = 'seed'
		AND id > (SELECT min(id) FROM trace WHERE kind = 'scene')`); n != 0 {
		t.Error("the seed is behind a scene")
	}
	calm := dump(t, s.db("calm"))
	for last := 1; last <= 8; last += longtest.Pick(3, 1) {
		name := fmt.Sprintf("killed-%d", last)
		s.config.Limit = 2
		if killed, _ := s.spawn(name, last, func(told int) bool { return told == last }, 0); !killed {
			t.Fatalf("it was not killed after %d transitions", last)
		}
		s.config.Limit = 2 - s.count(name, `SELECT count(*) FROM scene WHERE state = 'recorded'`)
		if killed, _ := s.spawn(name, 0, never, 0); killed {
			t.Fatal("it was killed again")
		}
		s.compareBut(name, calm, "run_state")
	}
}

// TestOtherSeedsAreRefused: a run has one seed, and only from its beginning.
func TestOtherSeedsAreRefused(t *testing.T) {
	t.Parallel()
	s := crashStage(t)
	s.config.Limit = 1
	run := func(name string, op *annotator.Operation) error {
		s.config.Seed = op
		err := s.run(name)
		if annotator.KindOf(err) == annotator.Interrupted {
			return nil
		}
		return err
	}
	other := seed()
	other.Hint = true
	for _, test := range []struct {
		name string
		op   *annotator.Operation
		want bool
	}{
		{"seeded", seed(), true},
		{"seeded", seed(), true},
		{"seeded", other, false},
		{"seeded", nil, true},
		{"bare", nil, true},
		{"bare", seed(), false},
	} {
		if err := run(test.name, test.op); (err == nil) != test.want ||
			err != nil && annotator.KindOf(err) != annotator.Misused {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	s.verify("seeded")
}
