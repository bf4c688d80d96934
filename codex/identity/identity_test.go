package identity_test

import (
	"slices"
	"strings"
	"testing"

	"annotator/codex/identity"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestCompare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b     string
		evidence identity.Evidence
		veto     identity.Veto
	}{
		{"Mr. Bennet", "Mister BENNET", identity.Equal, ""},
		{"M. de Villefort", "Monsieur Villefort", identity.Equal, ""},
		{"Saint-Méran", "Saint-Meran", identity.Equal, ""},
		{"Dawn", "Dawn (character)", identity.Equal, ""},
		{"Captain Ysolde Marrow", "Ysolde Marrow", identity.Untitled, ""},
		{"Lizzy Bennet", "Elizabeth Bennet", identity.Nickname, ""},
		{"Митя Карамазов", "Дмитрий Карамазов", identity.Nickname, ""},
		{"J. Watson", "John Watson", identity.Nickname, ""},
		{"John Watson", "John H. Watson", identity.Shorter, ""},
		{"Dr. Watson", "John Watson", identity.Part, ""},
		{"M. Franz", "Franz d’Épinay", identity.Part, ""},
		{"Mr. Avery", "Avery Marrow", identity.None, ""},
		{"Jack", "John Marrow", identity.Diminutive, ""},
		{"Bohemia", "King of Bohemia", identity.Place, ""},
		{"M. de Monte Cristo", "Count of Monte Cristo", identity.Untitled, ""},
		{"Marrow", "Tobin", identity.None, ""},
		{"Mr. and Mrs. Bennet", "Jane Bennet", identity.None, ""},
		{"Mr. Bennet", "Mrs. Bennet", identity.None, identity.Titles},
		{"Miss Bennet", "Mrs. Bennet", identity.None, identity.Titles},
		{"Mademoiselle Danglars", "Baron Danglars", identity.None, identity.Titles},
		{"граф Ростов", "графиня Ростова", identity.None, identity.Titles},
		{"Graf Wetter", "Gräfin Wetter", identity.None, identity.Titles},
		{"Sherlock Holmes", "Mycroft Holmes", identity.None, identity.FirstNames},
		{"hooded man", "blind man", identity.None, ""},
		{"John Smith Jr.", "John Smith Sr.", identity.None, identity.Generations},
		{"Old Jerry", "Young Jerry", identity.None, identity.Generations},
		{"Room 101", "Room 102", identity.None, identity.Numbers},
		{"Ward Six", "Ward Seven", identity.None, identity.Numbers},
	} {
		for _, order := range [][2]string{{test.a, test.b}, {test.b, test.a}} {
			e, v := identity.Compare(identity.Read(order[0]), identity.Read(order[1]))
			if e != test.evidence || v != test.veto {
				t.Errorf("%q and %q: evidence %d, veto %q", order[0], order[1], e, v)
			}
		}
	}
}

func groupsOf(names ...string) string {
	s := identity.NewSet()
	for _, name := range names {
		s.Add(name, identity.Person, identity.Unknown)
	}
	var all []string
	for _, group := range s.Resolve().All() {
		all = append(all, strings.Join(group, " = "))
	}
	return strings.Join(all, "; ")
}

func TestResolve(t *testing.T) {
	t.Parallel()
	for _, want := range []string{
		// A short form of one family of longer names.
		"Dr. Watson = John H. Watson = John Watson = Watson",
		"Baron Danglars = Danglars = M. Danglars",
		"Elizabeth Bennet = Lizzy Bennet = Miss Bennet",
		"Elizabeth = Miss Elizabeth; Lizzy",
		"Count of Monte Cristo = M. de Monte Cristo",
		"Andrea Cavalcanti = M. Andrea = M. Cavalcanti",
		// One that fits two families belongs to neither.
		"Dantès; Edmond Dantès; Louis Dantès",
		"Bennet; Mr. Bennet; Mrs. Bennet",
		"John; John Clay; John Turner",
		// Titles.
		"Miss Elizabeth Bennet; Mrs. Bennet",
		"Captain Morrel = M. Morrel; Madame Morrel",
		"Admiral Croft; Mrs. Croft",
		"General Marrow; Henry Marrow = Mr. Marrow",
		"Captain Marrow = Captain Ysolde Marrow = Ysolde Marrow",
		"Colonel Fussell; Dolly Fussell",
		"Ali; Ali Begum",
		"Josiah Marrow = Mr. Marrow; Mrs. Marrow",
		"Avery Marrow; Mr. Marrow; Mrs. Marrow",
		"John Marrow; Mr. Marrow; Mrs. John Marrow",
		"Sir Thomas Bertram; Tom Bertram",
		"Flora Jane; Jane",
		"Mrs. Robert Ferrars; Robert = Robert Marrow",
		"Mrs. Toller; Toller",
		"Comte de Morcerf; Vicomte de Morcerf",
	} {
		names := strings.FieldsFunc(want, func(r rune) bool { return r == '=' || r == ';' })
		for i := range names {
			names[i] = strings.TrimSpace(names[i])
		}
		if got := groupsOf(names...); got != want {
			t.Errorf("%q\n got %s\nwant %s", names, got, want)
		}
	}
}

// TestPlaceOfAnOffice: a country is not its king, unless the story shows that it is a person.
func TestPlaceOfAnOffice(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]int{"": 2, identity.Person: 1} {
		s := identity.NewSet()
		s.Add("King of Bohemia", "", identity.Unknown)
		s.Add("Bohemia", kind, identity.Unknown)
		if got := s.Resolve().All(); len(got) != want {
			t.Errorf("kind %q: %q", kind, got)
		}
	}
}

// TestRareNamesDoNotMatter: a name that two families have means the one that is named far more often.
func TestRareNamesDoNotMatter(t *testing.T) {
	t.Parallel()
	s := identity.NewSet()
	for name, count := range map[string]int{"Dantès": 90, "Edmond Dantès": 20, "Louis Dantès": 1} {
		s.Add(name, identity.Person, identity.Unknown)
		s.Count(name, count)
	}
	want := [][]string{{"Dantès", "Edmond Dantès"}, {"Louis Dantès"}}
	if diff := cmp.Diff(want, s.Resolve().All()); diff != "" {
		t.Error(diff)
	}
}

// TestRareTitlesDoNotMatter: one Master Holmes does not make Mr. Holmes another one.
func TestRareTitlesDoNotMatter(t *testing.T) {
	t.Parallel()
	s := identity.NewSet()
	for name, count := range map[string]int{"Mr. Holmes": 10, "Sherlock Holmes": 40, "Master Holmes": 1} {
		s.Add(name, identity.Person, identity.Unknown)
		s.Count(name, count)
	}
	if got := s.Resolve().Of("Mr. Holmes"); !slices.Contains(got, "Sherlock Holmes") {
		t.Errorf("Mr. Holmes is %q", got)
	}
}

// TestNicknamesNeedAGender: a nickname alone joins two names if the story shows that both are of one gender.
func TestNicknamesNeedAGender(t *testing.T) {
	t.Parallel()
	for gender, want := range map[identity.Gender]int{identity.Woman: 1, identity.Man: 2, identity.Unknown: 2} {
		s := identity.NewSet()
		s.Add("Elizabeth", identity.Person, identity.Woman)
		s.Add("Lizzy", identity.Person, gender)
		if got := s.Resolve().All(); len(got) != want {
			t.Errorf("gender %d: %q", gender, got)
		}
	}
}

func TestFits(t *testing.T) {
	t.Parallel()
	s := identity.NewSet()
	for _, name := range []string{"Dantès", "Edmond Dantès", "Louis Dantès"} {
		s.Add(name, identity.Person, identity.Unknown)
	}
	want := [][]string{{"Edmond Dantès"}, {"Louis Dantès"}}
	if diff := cmp.Diff(want, s.Resolve().Fits("Dantès")); diff != "" {
		t.Error(diff)
	}
}

// told is something that a Set is told.
type told struct {
	op, a, b string
	gender   identity.Gender
}

func (f told) tell(s *identity.Set) {
	switch f.op {
	case "add":
		s.Add(f.a, "", f.gender)
	case "join":
		s.Join(f.a, f.b)
	case "part":
		s.Part(f.a, f.b)
	}
}

func tellings() *rapid.Generator[[]told] {
	oneOf := func(t *rapid.T, what string, choice ...string) string { return rapid.SampledFrom(choice).Draw(t, what) }
	name := rapid.Custom(func(t *rapid.T) string {
		return oneOf(t, "title", "", "", "Mr. ", "Mrs. ", "Miss ", "Dr. ", "General ", "Captain ",
			"Count of ", "Old ", "Young ") +
			oneOf(t, "first", "", "", "John ", "Jack ", "J. ", "Elizabeth ", "Lizzy ", "Jane ", "John H. ") +
			oneOf(t, "last", "Marrow", "Watson", "Jane", "Begum", "101", "102")
	})
	gender := rapid.SampledFrom([]identity.Gender{identity.Unknown, identity.Man, identity.Woman})
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) told {
		op := oneOf(t, "op", "add", "add", "add", "join", "part")
		return told{op, name.Draw(t, "a"), name.Draw(t, "b"), gender.Draw(t, "gender")}
	}), 1, 14)
}

// TestVetoedNamesAreNeverJoined tells a set names, joins and partings at random. No two names of a group have a veto of
// their own, or were told apart.
func TestVetoedNamesAreNeverJoined(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := tellings().Draw(t, "told")
		s := identity.NewSet()
		for _, f := range all {
			f.tell(s)
		}
		groups := s.Resolve()
		for _, group := range groups.All() {
			for i, a := range group {
				for _, b := range group[:i] {
					if _, veto := identity.Compare(identity.Read(a), identity.Read(b)); veto != "" {
						t.Fatalf("%q and %q are one, though %s", a, b, veto)
					}
				}
			}
		}
		for _, f := range all {
			e, _ := identity.Compare(identity.Read(f.a), identity.Read(f.b))
			if f.op == "part" && e != identity.Equal && slices.Contains(groups.Of(f.a), f.b) {
				t.Fatalf("%q and %q are one, though they were told apart", f.a, f.b)
			}
		}
	})
}

// TestOrderDoesNotMatter tells two sets the same in two orders.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		all := tellings().Draw(t, "told")
		one, other := identity.NewSet(), identity.NewSet()
		for _, f := range all {
			f.tell(one)
		}
		for _, f := range rapid.Permutation(all).Draw(t, "order") {
			f.tell(other)
		}
		if diff := cmp.Diff(one.Resolve().All(), other.Resolve().All()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestIsTitle(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]bool{
		"mrs": true, "herr": true, "fräulein": true, "княгиня": true, "marrow": false,
	} {
		if got := identity.IsTitle(word); got != want {
			t.Errorf("%s: %v", word, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("M. de Villefort, Jr.", "the")
	f.Add("of", "Dr. ’s")
	f.Fuzz(func(t *testing.T, a, b string) {
		s := identity.NewSet()
		s.Add(a, "", identity.Unknown)
		s.Add(b, "", identity.Unknown)
		if groups := s.Resolve().All(); len(groups) == 0 || len(groups) > 2 {
			t.Errorf("%q", groups)
		}
	})
}
