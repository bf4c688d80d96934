package codex_test

import (
	"strings"
	"testing"

	"annotator/codex"
)

// TestNamesThatLookTheSame: whatever a name is disguised with, its skeleton is that of the plain name; names that look
// different have different ones.
func TestNamesThatLookTheSame(t *testing.T) {
	t.Parallel()
	for _, same := range [][]string{
		{
			"Alice Marrow", "ALICE MARROW", "Аlісе Маrrоw", "Αlice Μarrοw", "Ａｌｉｃｅ　Ｍａｒｒｏｗ", "𝐀𝓁𝒾𝕔𝖾 Marrow",
			"Al\u200bice\u2060 Mar\u00adrow", "\ufeffAlice \u202eMarrow\u202c",
		},
		{"Zoë", "Zoe\u0308", "Ζoë"},
		{"Bob", "Вob", "вob", "Ᏼob"},
		{"Tom (ship)", "Тоm (ѕhір)"},
		{"علی\u200cرضا", "علیرضا"},
		{"ﬁnn", "Finn"},
		{"", "\u200b", " "},
	} {
		for _, name := range same[1:] {
			if got, want := codex.Skeleton(name), codex.Skeleton(same[0]); got != want {
				t.Errorf("%+q: %q, not %q", name, got, want)
			}
		}
	}
	seen := map[string]string{}
	for _, name := range []string{
		"Alice", "Alive", "Zoe", "Zoë", "Анна", "Инна", "Ада", "Ида", "Ηρα", "Δία", "漢", "汉",
		"Bob 1", "Bob l", "علی",
	} {
		if other, known := seen[codex.Skeleton(name)]; known {
			t.Errorf("%q looks like %q", name, other)
		}
		seen[codex.Skeleton(name)] = name
	}
}

func TestSkeletonIsItsOwn(t *testing.T) {
	t.Parallel()
	for r := range rune(0x1f000) {
		name := "a" + string(r) + "b"
		if !strings.Contains(name, "\ufffd") && codex.Skeleton(codex.Skeleton(name)) != codex.Skeleton(name) {
			t.Errorf("%+q: %+q, then %+q", name, codex.Skeleton(name), codex.Skeleton(codex.Skeleton(name)))
		}
	}
}

// TestNamesHaveNothingInvisible: what cannot be seen goes, and spelling stays.
func TestNamesHaveNothingInvisible(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"Alice":                                      "Alice",
		"\ufeffAl\u200bi\u200dce":                    "Alice",
		"Al\u202eecila\u202c \u2066x\u2069":          "Alecila x",
		"A\U000e0041\U000e0042\U000e007fda":          "Ada",
		"Mar\u00adrow\ufe0f":                         "Marrow",
		"\u115f\u3164Gate\u2028Keeper\u00a0 of\tAsh": "Gate Keeper of Ash",
		"علی\u200cرضا":                               "علی\u200cرضا",
		"\u200cعلی\u200c":                            "علی",
		"क्\u200dष":                                  "क्\u200dष",
		"\u0600\u0661":                               "\u0600\u0661", // a sign before a number is seen
		"\u200b\u202e":                               "",
		"Bell\x00\x1b":                               "Bell",
	} {
		if got := codex.CleanName(name); got != want {
			t.Errorf("%+q: %+q, not %+q", name, got, want)
		}
	}
}

func TestLookAlikes(t *testing.T) {
	t.Parallel()
	alike := codex.LookAlikes([]string{"Alice", "Captain Marrow"})
	for name, want := range map[string]bool{
		"Аlice": true, "Alice": false, "aLICE": false, "Ali\u200bce": true,
		"Captain": false, "CAPTAIN MARRΟW": true, "": false,
	} {
		if alike(name) != want {
			t.Errorf("%+q: %v", name, !want)
		}
	}
}
