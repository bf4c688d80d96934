package codex_test

import (
	"testing"

	"annotator"
	"annotator/codex"
)

// TestTold: from either side, the words of a relation stay in the order of the story.
func TestTold(t *testing.T) {
	t.Parallel()
	for want, r := range map[string][3]string{
		"lied to Wren":            {"", "lied to", "Wren"},
		"Vane: lied to Wren":      {"Vane", "lied to", "Wren"},
		"Anna: mother of Maren":   {"Anna", "mother of", "Maren"},
		"Anna: lies":              {"Anna", "lies", ""},
		"Caul: ordered the death": {"Caul", "ordered the death", ""},
	} {
		if got := codex.Told(r[0], r[1], r[2]); got != want {
			t.Errorf("%q reads %q, want %q", r, got, want)
		}
	}
}

func TestMatterOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		relation string
		state    bool
		want     codex.Matter
	}{
		{"promised", true, codex.Promise},
		{"Owes a life to", false, codex.Promise},
		{"opposes", true, codex.Conflict},
		{"knows", false, codex.Knowledge},
		{"asks", true, codex.Question},
		{"lives at", true, codex.OpenState},
		{"", true, codex.OpenState},
		{"sister of", false, ""},
		{"", false, ""},
	} {
		if got := codex.MatterOf(&annotator.Claim{Relation: test.relation, State: test.state}); got != test.want {
			t.Errorf("%q, %t: %q", test.relation, test.state, got)
		}
	}
}

// TestDirectory: a full name outranks other names, and a name of several entries names none.
func TestDirectory(t *testing.T) {
	t.Parallel()
	d := codex.NewDirectory()
	d.Add(1, "dawn (ship)", true)
	d.Add(1, "dawn", false)
	d.Add(2, "dawn", true)
	d.Add(2, "dawn", false)
	d.Add(3, "vys", false)
	d.Add(4, "vys", false)
	d.Add(3, "vys", false)
	for name, want := range map[string]int64{"Dawn (ship)": 1, "DAWN": 2, "vys": 0, "": 0, "Mik": 0} {
		if got := d.Find(name); got != want {
			t.Errorf("%q is entry %d, want %d", name, got, want)
		}
	}
}
