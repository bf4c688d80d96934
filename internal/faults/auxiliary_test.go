package faults_test

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"annotator/internal/longtest"
)

// TestAuxiliaryQuestionsFail applies each fault permanently to the auxiliary questions: the curator's, and the
// summaries. No scene depends on them. If there is no usable answer, a rule replaces it. The run continues to its end,
// or halts.
func TestAuxiliaryQuestionsFail(t *testing.T) {
	t.Parallel()
	config := plain()
	config.Curator.Off, config.ContextBudget = false, 5_600
	b := newBench(t, config)
	for what, question := range map[string]string{"curator": ofCurator, "summary": ofSummary} {
		aim := func(body []byte) bool { return bytes.Contains(body, []byte(question)) }
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			rows := catalogueRows()
			for i := 0; i < len(rows); i += longtest.Pick(sampleStep, 1) {
				c := &cell{
					row: &rows[i], form: rows[i].forms[0], wire: wires()[0], times: forEver,
					mode: cmp.Or(rows[i].only, streamed),
				}
				t.Run(fmt.Sprintf("%d %s", rows[i].n, rows[i].fault), func(t *testing.T) { b.tryAuxiliary(t, c, aim) })
			}
		})
	}
}

// tryAuxiliary applies the cell's trouble only to the requests at which it is aimed.
func (b *bench) tryAuxiliary(t *testing.T, c *cell, aim func([]byte) bool) {
	db := filepath.Join(t.TempDir(), "story.db")
	synctest.Test(t, func(t *testing.T) {
		s := b.session(t, db, c.wire, c.mode)
		trouble := c.trouble(b.calls)
		trouble.aim, trouble.alone, trouble.place = aim, true, 1
		begin := time.Now()
		got := s.check(s.run(trouble))
		if took := time.Since(begin); took > longestRun {
			t.Errorf("the run took %s", took)
		}
		if trouble.struck == 0 {
			t.Error("nobody was asked")
		}
		if got != 'R' && got != 'H' {
			t.Errorf("ended %c\n%s", got, s.calls())
		}
		s.finishSound(got)
	})
}
