package main

import (
	"context"
	"fmt"

	"annotator"
	"annotator/storage"
)

// The limits of a part apart from a number of scenes.
const (
	allScenes = 0
	noScene   = -1 // it is not read
)

// limitsOf shares a limit among parts that have some scenes left, one scene after another to each in turn. A part that
// may be read to its end is not limited.
func limitsOf(limit int, left []int) []int {
	limits := make([]int, len(left))
	if limit == 0 {
		return limits
	}
	for more := true; more && limit > 0; {
		more = false
		for i, n := range left {
			if limit > 0 && limits[i] < n {
				limits[i], limit, more = limits[i]+1, limit-1, true
			}
		}
	}
	for i, n := range left {
		switch limits[i] {
		case n:
			limits[i] = allScenes
		case 0:
			limits[i] = noScene
		}
	}
	return limits
}

// sayRead says how far the parts are that this run has read and not joined.
func (p *partedRun) sayRead(ctx context.Context) error {
	p.progress.close()
	total, read := 0, 0
	for i, n := range p.scenes {
		if p.reads(i) {
			total += n
		}
	}
	err := p.eachStatus(ctx, func(_ int, run *storage.RunStatus) { read += run.Recorded + run.Quarantined })
	if err != nil {
		return err
	}
	switch {
	case p.json:
		return p.printJSON(map[string]any{"joined": false, "scenes": map[string]int{"read": read, "total": total}})
	case p.part > 0 && p.quiet:
		fmt.Fprintln(p.out, p.databaseOf(p.part))
	case p.part > 0:
		text := fmt.Sprintf("%s: %d of %s read. A run with --parts %d and without --part joins the parts, once all "+
			"are in their folder.", p.databaseOf(p.part), read, annotator.Quantity(total, "scene"), p.numParts)
		fmt.Fprintln(p.out, wrapLines(text, terminalWidth(p.out)))
	case !p.quiet:
		text := fmt.Sprintf("%d of %s are read: --limit %d stopped the parts, which are joined once all is read. Run "+
			"again to read on, or without --limit to read and join all that is left.", read,
			annotator.Quantity(total, "scene"), p.limit)
		fmt.Fprintln(p.out, wrapLines(text, terminalWidth(p.out)))
	}
	return nil
}

// eachStatus calls a function with the state of each part that this run reads and that has begun.
func (p *partedRun) eachStatus(ctx context.Context, do func(i int, run *storage.RunStatus)) error {
	for i := range p.parts {
		if !p.reads(i) || !exists(p.databaseOf(i+1)) {
			continue
		}
		if err := withDatabase(ctx, p.databaseOf(i+1), func(db *storage.DB) error {
			run, err := db.Run.Status(ctx)
			if annotator.KindOf(err) == annotator.NotFound {
				return nil
			}
			do(i, &run)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}
