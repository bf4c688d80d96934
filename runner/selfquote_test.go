package runner_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator"
	"annotator/internal/longtest"
)

// selfQuoted are the entries of a story whose last scene quotes itself. The scene has words of the names of the first.
var selfQuoted = []string{"Anna Voss", "Bertram", "lantern of Kesh", "Dolores Quill"}

// hostileCalls draws calls that take away, each next to a fact with a quotation of the scene or without one.
func hostileCalls(t *rapid.T) []annotator.ToolCall {
	entry := rapid.IntRange(1, len(selfQuoted))
	facts := rapid.SampledFrom([]string{
		`[{"text":"It is the road.","quote":"They went down the road."}]`,
		`[{"text":"It is Anna Voss.","quote":"said Voss","kind":"inferred"}]`,
		`[{"text":"It is gone.","quote":"You are the road.","state":true}]`,
		`["It never was."]`,
	})
	also := rapid.SampledFrom([]string{
		`"close":[{"fact":1,"by":1},{"fact":2,"by":1},{"fact":3,"by":1},4]`, `"close":[1,2,3]`,
		`"close":[4,5,6,7,8,9,10]`,
		`"close":[{"fact":1,"by":4},{"fact":4,"by":1}]`,
		`"term":"The Road"`, `"term":"the road","aliases":["Anna Voss","Hush"]`,
		`"drop_aliases":["Bertram","Dolores Quill","lantern of Kesh"]`, `"tags":[],"status":"tentative"`,
	})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) annotator.ToolCall {
		switch id := entry.Draw(t, "entry"); rapid.IntRange(0, 5).Draw(t, "call") {
		case 0:
			return deletes(id)
		case 1, 2:
			return merges(id, entry.Draw(t, "into"))
		default:
			return updates(id, `"facts":`+facts.Draw(t, "facts")+`,`+also.Draw(t, "also"))
		}
	}), 1, 10).Draw(t, "calls")
}

// TestAStoryThatQuotesItself tests that a scene destroys nothing of entries that it does not name, whatever it quotes
// and in whatever order. It may settle what is open, and merge an entry into one that it names, which keeps all. It may
// rename an entry into which it has merged the one that it names; the former name stays.
func TestAStoryThatQuotesItself(t *testing.T) {
	t.Parallel()
	var made []annotator.ToolCall
	for _, name := range selfQuoted {
		made = append(made, makes(name, "person", fmt.Sprintf(`["%[1]s was there.",
			{"text":"%[1]s is tired.","state":true},{"text":"%[1]s lied.","kind":"claimed"}]`, name)))
	}
	merged := 0
	for seed := range longtest.Pick(12, 60) {
		attack := rapid.Custom(hostileCalls).Example(seed)
		s, all := told{
			{strings.Join(selfQuoted, ", ") + ".", made},
			{"They went down the road. You are the road. The Road! “Hush,” said Voss.", attack},
		}.read(t, nil)
		named := s.entry(t, 1)
		for id, name := range selfQuoted[1:] {
			e := s.entry(t, int64(id+2))
			renamed := e.Term != name && named.MergedInto != e.ID
			held := e
			for held.MergedInto != 0 {
				held = s.entry(t, held.MergedInto)
			}
			if held != e {
				merged++
			}
			narrated := slices.ContainsFunc(held.Claims, func(f annotator.Claim) bool {
				return f.Text == name+" was there." && f.Until == 0
			})
			if !held.Status.Live() || !narrated || !slices.Contains(held.Names(), name) || renamed ||
				!slices.Equal(e.Tags, []string{"person"}) {
				t.Errorf("seed %d: %q is %+v", seed, name, held)
				for _, call := range all[len(made):] {
					t.Logf("%s\n\t%s", call.Arguments, call.Result)
				}
			}
		}
	}
	if merged == 0 {
		t.Error("nothing was merged")
	}
}
