package codex_test

import (
	"testing"

	"annotator"
	"annotator/codex"
)

func TestFromSide(t *testing.T) {
	t.Parallel()
	for relation, want := range map[string]string{
		"Sister of": "sibling of", "son of": "parent of", "owns": "owned by", "owned by": "owner of",
		"captain of": "has as captain", "rescues": "← rescues", "Schwester von": "← Schwester von",
	} {
		if got := codex.FromSide(relation, false); got != want {
			t.Errorf("%q is %q from the other side, want %q", relation, got, want)
		}
		if got := codex.FromSide(relation, true); got != relation {
			t.Errorf("%q is %q from its own side", relation, got)
		}
	}
}

// TestInversesAgree: the inverse of an inverse is on the side of the relation: it has the same inverse.
func TestInversesAgree(t *testing.T) {
	t.Parallel()
	for _, relation := range []string{"twin of", "mother of", "niece of", "wife of", "pupil of", "captor of"} {
		inverse := codex.Inverse(relation)
		if back := codex.Inverse(inverse); inverse == "" || codex.Inverse(back) != inverse {
			t.Errorf("%q, %q, %q, %q", relation, inverse, back, codex.Inverse(back))
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
