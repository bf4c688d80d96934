package mention_test

import (
	"testing"

	"annotator/context/mention"
)

// TestGeneral: a name means several people if the story has its noun mostly with other words.
func TestGeneral(t *testing.T) {
	t.Parallel()
	scenes := []string{
		"His father came with the girl. Her father was late, and my father saw a girl. The captain rowed. " +
			"The old man had the lamp in the hall.",
		"Your father was not there. A girl sang, and the little girl laughed. The captain saw the captain's boat. " +
			"The Father Superior called for the man.",
	}
	russian := []string{"Её отец пришёл. Мой отец спал. Твой отец ушёл, а отец девочки молчал.", "Девочка пела."}
	index := mention.New()
	index.SetNames(1, []string{"Father Superior"})
	for _, test := range []struct {
		name   string
		scenes []string
		want   bool
	}{
		{"his father", scenes, true},
		{"father", scenes, true},
		{"the girl", scenes, true},
		{"girl", scenes, true},
		{"captain", scenes, false},       // the only one
		{"the captain", scenes, false},   // likewise
		{"little girl", scenes, false},   // which says more
		{"man", scenes, false},           // too few
		{"father in law", scenes, false}, // likewise
		{"Father", scenes, false},        // a name
		{"его отец", russian, true},
		{"девочка", russian, false},
		{"отец", russian, false}, // the language has no article
		{"", scenes, false},
	} {
		usage := mention.NewUsage()
		for _, text := range test.scenes {
			usage.Add(text)
		}
		if got := index.General(test.name, test.scenes, usage); got != test.want {
			t.Errorf("%q is general: %t", test.name, got)
		}
	}
}

func TestCommon(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{
		"girl": true, "the stair": true, "Captain": true, "captain's": true, "die frau": true, "Marrow": false,
		"music master": false, "Captain Marrow": false, "the Ferryman": false, "张三": false, "'": false,
	} {
		if mention.Common(name) != want {
			t.Errorf("%q is common: %v", name, !want)
		}
	}
}
