package storage

import (
	"context"
	"fmt"
	"path/filepath"

	"annotator"
)

// verifyJoin checks the steps of a join: their order, and that the parts still have the revisions that were replayed.
func (v *verifier) verifyJoin(ctx context.Context, f *Finding) error {
	steps, err := collect(ctx, v.q, scanStep, joinSteps, 0)
	if err != nil {
		return err
	}
	for len(steps) > 0 {
		n := 1
		for n < len(steps) && steps[n].Part == steps[0].Part {
			n++
		}
		checkSteps(steps[:n], f)
		if n < len(steps) && (steps[n].Part != steps[0].Part+1 || !steps[n-1].Last) {
			f.add(fmt.Sprintf("journal row %d joins part %d after part %d, or before its end", steps[n].row,
				steps[n].Part, steps[0].Part))
		}
		if err := v.verifyPart(ctx, steps[:n], f); err != nil {
			return err
		}
		steps = steps[n:]
	}
	return nil
}

// checkSteps checks that the steps of a part follow each other.
func checkSteps(steps []madeStep, f *Finding) {
	through, snapshot := int64(0), int64(0)
	for i := range steps {
		s := &steps[i]
		if s.After != through || s.Through < s.After || s.Snapshot <= snapshot || s.Path != steps[0].Path ||
			s.Last && i < len(steps)-1 {
			f.add(fmt.Sprintf("journal row %d does not go on where the step of part %d before it ended", s.row, s.Part))
		}
		through, snapshot = s.Through, s.Snapshot
	}
}

// verifyPart compares the digests of the steps of a part with its database, if it is there.
func (v *verifier) verifyPart(ctx context.Context, steps []madeStep, f *Finding) error {
	path := filepath.Join(filepath.Dir(v.path), filepath.FromSlash(steps[0].Path))
	db, err := Open(ctx, path)
	if annotator.KindOf(err) == annotator.NotFound {
		f.Unchecked = fmt.Sprintf("the revisions of part %d: its database is not at %s", steps[0].Part, path)
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	for i := range steps {
		s := &steps[i]
		revisions, err := db.Joins.revisions(ctx, s.After, s.Through)
		if err != nil {
			return err
		}
		if digestRevisions(revisions) != s.Digest {
			f.add(fmt.Sprintf("revisions %d to %d of part %d are not those that journal row %d has replayed", s.After+1,
				s.Through, s.Part, s.row))
		}
	}
	return nil
}
