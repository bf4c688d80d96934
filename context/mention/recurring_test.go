package mention_test

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"annotator/context/mention"
)

// recurring returns the phrases of scenes, by their texts.
func recurring(x *mention.Index, scenes ...string) []string {
	usage := mention.NewUsage()
	for _, text := range scenes {
		usage.Add(text)
	}
	var texts []string
	for _, p := range x.Recurring(scenes, usage, func(string) bool { return false }, 12) {
		texts = append(texts, p.Text)
	}
	return texts
}

func TestRecurringFindsWhatTheNarrationCallsThings(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		scenes []string
		want   []string
		not    []string
	}{
		"a title and a description": {
			scenes: []string{
				"The silent nun came to the gate. Mr. Bell of the Watch let her pass. Then the silent nun was gone " +
					"by the road.",
				"In the yard stood the silent nun. Two men of the Watch waited by a fire, and a fire is warm. " +
					"Mr. Bell was late. The silent nun went to the road, and on the road she ran.",
				"The Watch slept. The silent nun did not, at night. Mr. Bell saw the silent nun on the road," +
					" and from the road to the gate and on the road he came with her.",
			},
			want: []string{"the silent nun", "Watch"}, not: []string{"the silent", "the nun was", "Mr", "the road"},
		},
		"French": {
			scenes: []string{
				"L’archiviste ferma la porte. On vit la sœur muette avec l’archiviste dans le couloir. " +
					"La sœur muette rit.",
				"Voilà que l’archiviste parla, et la sœur muette rit. Le soir tombait sur la ville. " +
					"La sœur muette dormit. L’archiviste entra.",
				"La sœur muette regarda l’archiviste et les autres. La sœur muette pria, mais l’archiviste partit.",
			},
			want: []string{"l'archiviste", "la sœur muette"},
		},
		"German, whose nouns have capitals": {
			scenes: []string{
				"Der Hauptmann trat in den Hof. Im Hof stand der Wagen, und der Hauptmann sah die Sonne.",
				"Da rief der Hauptmann in die Nacht, und das Tor ging auf. Die Nacht war kalt. Der Hauptmann fror.",
				"Der Hauptmann schwieg, und dann ging der Hauptmann. Die Leute sahen den Mond und das Tor der Stadt.",
			},
			want: []string{"Hauptmann"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := recurring(mention.New(), c.scenes...)
			for _, want := range c.want {
				if !slices.Contains(got, want) {
					t.Errorf("%q is not among %q", want, got)
				}
			}
			for _, not := range c.not {
				if slices.Contains(got, not) {
					t.Errorf("%q is among %q", not, got)
				}
			}
		})
	}
}

func TestRecurringLeavesOutNames(t *testing.T) {
	t.Parallel()
	scenes := []string{
		"The Captain called the Harbour Watch. The Watch came late. The Captain said no more. The Watch waited.",
		"Again the Captain called, and again the Watch was late. So said the Captain. The Watch did not hear it.",
		"The Captain slept. The Watch was there. Then the Captain rose, and the Watch with him.",
	}
	x := mention.New()
	if got := recurring(x, scenes...); !slices.Contains(got, "Captain") || !slices.Contains(got, "Watch") {
		t.Fatalf("the phrases are %q", got)
	}
	x.SetNames(1, []string{"Ada Marrow", "Captain"})
	x.SetNames(2, []string{"Harbour Watch"})
	if got := recurring(x, scenes...); slices.Contains(got, "Captain") || !slices.Contains(got, "Watch") {
		t.Errorf("with a captain, the phrases are %q", got)
	}
}

// TestRecurringFindsShortForms: an article and the head of a name are a phrase, although scenes have them once each and
// as a place. They are none if the story uses the noun of others. They come before names of what has no entry.
func TestRecurringFindsShortForms(t *testing.T) {
	t.Parallel()
	scenes := []string{
		"They rode to the plantation in the rain. A ridge was behind it, and another ridge. Dr. Bell was in Paris. " +
			"He read in the Ledger.",
		"At night she came to the plantation by the road. She had been in Paris, and on the ridge. Under the lamp " +
			"a ridge, and one more ridge. In the Ledger was his name.",
		"He spoke of the plantation, and of Paris and the Ledger. The sun was on a ridge, on the ridge. To the road!",
	}
	x := mention.New()
	x.SetNames(1, []string{"Ravenel Plantation"})
	x.SetNames(2, []string{"Chestnut Ridge"})
	x.SetNames(3, []string{"Ledger of Names"})
	got := recurring(x, scenes...)
	at := func(phrase string) int { return slices.Index(got, phrase) }
	if at("the plantation") < 0 || at("Ledger") < 0 || at("the ridge") >= 0 || at("the road") >= 0 ||
		at("Paris") >= 0 && at("Paris") < max(at("the plantation"), at("Ledger")) {
		t.Errorf("the phrases are %q", got)
	}
	for id := range int64(4) {
		x.SetNames(10+id, []string{"Black Plantation", "White Plantation"})
	}
	if got = recurring(x, scenes...); at("the plantation") >= 0 {
		t.Errorf("with five plantations, the phrases are %q", got)
	}
}

func TestRecurringSaysWhereAPhraseBegins(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		words := []string{
			"the", "The", "clerk", "Watch", "Old", "Iron", "ran", "l’heure", "a", "der", "Ärith", "N'dara's", ".", ",",
			"\n\n", "鐘", "’",
		}
		scenes := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOfN(rapid.SampledFrom(words), 0, 60).Draw(t, "words"), " ")
		}), 0, 6).Draw(t, "scenes")
		usage := mention.NewUsage()
		for _, text := range scenes {
			usage.Add(text)
		}
		limit := rapid.IntRange(0, 12).Draw(t, "limit")
		found := mention.New().Recurring(scenes, usage, func(key string) bool { return key == "clerk" }, limit)
		if len(found) > limit {
			t.Fatalf("%d phrases, at most %d were asked for", len(found), limit)
		}
		for i, p := range found {
			rest := scenes[p.Scene][p.Start:]
			if !utf8.ValidString(rest) || !strings.HasPrefix(mention.PhraseKey(rest)+" ", p.Key+" ") &&
				!strings.HasPrefix(strings.Join(mention.Words(rest), " "), p.Key) {
				t.Fatalf("%+v does not begin at %.40q", p, rest)
			}
			if p.Key == "clerk" || p.Scenes < 2 || p.Count < 1 {
				t.Fatalf("%+v is among the phrases", p)
			}
			if slices.ContainsFunc(found[:i], func(other mention.Phrase) bool { return other.Key == p.Key }) {
				t.Fatalf("%q is there twice", p.Key)
			}
		}
	})
}
