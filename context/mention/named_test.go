package mention_test

import (
	"slices"
	"strings"
	"testing"

	"annotator/context/mention"

	"pgregory.net/rapid"
)

// TestNamedByAPart: of a text that has no whole name, which of some entries are meant. The usage is of scenes that
// write words of the language in lower case, and of a text like the one at hand.
func TestNamedByAPart(t *testing.T) {
	t.Parallel()
	usage := mention.NewUsage()
	for range 20 {
		usage.Add("The rest of the captain's guild, a lantern, and I. They watch, then rest by the quay with a " +
			"brother of the watch; I go.")
	}
	for range 5 {
		usage.Add("There the Watch went. By the Guild, the Guild, Tom and Captain Marrow's Guild stand in the brass " +
			"hall of Grey Guild.")
	}
	names := []string{
		"Brother Anselm Caul", "Ysolde Marrow", "Saint Ærith's Rest", "the Mere Watch", "Guild of Lamplighters",
		"I S A", "child with the brass thimble",
		"Ninth Lantern", "Hadrian Thesk", "Captain Dobrow", "Tom Hare", "Tom Fox", "Tom Wolf", "Tom Bear",
		"Tom Hare the Younger", "Mere", "der graue Turm", "Анна Каренина",
	}
	for text, want := range map[string][]int64{
		"Brother Caul nods.":                  {1},
		"To Caul's door.":                     {1},
		"Then Caul went, and caul was there.": {1},
		"a caul":                              nil,
		"Lord Thesk came.":                    {9},
		"Captain Marrow came.":                {2},
		"Captain Vimes came.":                 nil,
		"The captain came with Captain.":      nil, // the story writes it in lower case, too
		"The rest of it. Rest, then.":         nil,
		"in the Rest":                         nil, // a name of one capitalised word has to be an alias of its own
		"I am here, and I stay.":              nil,
		"with the watch, of a lantern":        nil,
		"At the Guild.":                       nil, // more often written otherwise
		"a thimble, two":                      nil, // no particular one
		"by the thimble, two":                 {7},
		"the brass":                           nil, // five scenes of 25 would be too many
		"Tom sat.":                            nil, // four have it
		"Tom Fox sat.":                        {12},
		"Then Tom Hare the Younger sat.":      {15},
		"by Hare, who":                        {11, 15},
		"by Hare, who saw Tom Hare":           {11},
		"Hare, and Hare the Younger":          {15},
		"In the Mere Watch":                   {4},
		"the Mere":                            {16},
		"ein Turm, der Turm":                  {17},
		"Каренина вошла.":                     {18},
		"an old Ærith, and Saint Dymphna":     {3},
		"Saint Dymphna":                       nil,
		"WREN CAUL":                           {1},
		"nothing":                             nil,
		"Anselm\n\nCaul":                      {1},
		"":                                    nil,
	} {
		var got []int64
		for _, m := range indexOf(names...).Named(text, usage) {
			got = append(got, m.ID)
		}
		slices.Sort(got)

		if !slices.Equal(got, want) {
			t.Errorf("%q names %v, want %v", text, got, want)
		}
	}
}

// TestFewScenesMakeNoCommonWord: at a story's beginning most scenes name the thing that it is about.
func TestFewScenesMakeNoCommonWord(t *testing.T) {
	t.Parallel()
	usage, index := mention.NewUsage(), mention.New()
	index.SetNames(1, []string{"Ninth Lantern"})
	for n := range 40 {
		usage.Add("He stood by the Ninth, and no other.")
		if named := len(index.Named("at the glass of the Ninth, low down", usage)) > 0; named != (n < 8) {
			t.Errorf("named is %t after %d scenes", named, n+1)
		}
	}
}

// TestNamedInsideHan: a character that is common in the story is no name where it is a part of another word.
func TestNamedInsideHan(t *testing.T) {
	t.Parallel()
	usage := mention.NewUsage()
	for range 30 {
		usage.Add("四角い部屋の角を兎角曲がる。清書。")
	}
	for text, want := range map[string][]int64{
		"町の角へ出た。":   {1},
		"四角い顔。":     nil,
		"方角が違う。町の角": {1},
		"角屋に泊まる。":   nil,
		"カド角カド":     {1},
		"大方清も来る":    nil,
		"清は来た":      {2},
		"那僧道":       {3}, // in few scenes
		"四国の清和源氏":   {4}, // longer names are not
		"角":         {1},
	} {
		if got := ids(indexOf("角", "清", "僧", "清和").Named(text, usage)); !slices.Equal(got, want) {
			t.Errorf("%s names %v, want %v", text, got, want)
		}
	}
}

// TestNamedFindsMore: what is named whole is found, and nothing is found for a word that no name has.
func TestNamedFindsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfN(phrase(3, parts), 1, 8).Draw(t, "names")
		text, other := phrase(15, append(slices.Clone(parts), names...)).Draw(t, "text"),
			phrase(9, parts).Draw(t, "other")
		index, usage := indexOf(names...), mention.NewUsage()
		usage.Add(text)
		usage.Add(other)
		named := ids(index.Named(text, usage))
		for _, id := range ids(index.Find(text)) {
			if !slices.Contains(named, id) {
				t.Fatalf("%q is found and not named", names[id-1])
			}
		}
		if found := index.Named(strings.Repeat("nowhere Nowhere ", 3), usage); found != nil {
			t.Fatalf("%v", found)
		}
		for id := range names {
			index.SetNames(int64(id+1), nil)
		}
		if found := index.Named(text, usage); found != nil {
			t.Fatalf("found after their names were removed: %v", found)
		}
	})
}

// TestDistinctiveWordsName tests which words of a name are enough to name a thing.
func TestDistinctiveWordsName(t *testing.T) {
	t.Parallel()
	usage := mention.NewUsage()
	for n := range 20 {
		text := "The old man of the house read a letter from Wren, and Wren went on with it. 他读信。"
		if n%5 == 0 {
			text += " It was the captain's letter, half burnt in the fire."
		}
		usage.Add(text)
	}
	for _, test := range []struct {
		text, name string
		want       bool
	}{
		{"What was burnt was gone.", "the burnt letter", true},
		{"BURNT’s", "the burnt letter", true},
		{"The letter of the old man.", "the burnt letter", false}, // everywhere
		{"The Burnt Letter", "the burnt letter", true},
		{"of the house", "house", true}, // the whole name
		{"of the house", "house of fire", false},
		{"the fire", "house of fire", true},
		{"the fireplace", "house of fire", false}, // a part of a word
		{"Captain Vimes", "Captain Marrow", true},
		{"a tallow candle for Wren", "Wren", true},
		{"and Tallow", "Wren Tallow", true},
		{"他读灯", "灯塔", false}, // a character of it
		{"灯塔", "灯塔", true},
		{"what came", "", false},
	} {
		if got := usage.Names(test.text, []string{test.name}); got != test.want {
			t.Errorf("%q names %q: %v", test.text, test.name, got)
		}
	}
}
