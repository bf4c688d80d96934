package corpus_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator/corpus"
)

var mechanicalTexts = []string{
	"1d20", "rolled 3d6 = 14", "Rolled 14, 3, 9 = 26 (3d20)", "/roll 1d20+5", "2d20kh1 + 4 → 19 vs DC 15", "1d100: 73",
	"3d: 40 %",
	"17", "3.5 %", "12 + 4 = 16", "**18**", "> 4, 4, 2", "🎲 6", "Gewürfelt: 2w6 = 9", "1к20 = 7", "Итого: 12", "骰子: 4",
	"٣ + ٤ = ٧",
	"[x] Run", "[X] Plan Kestrel (12)", "- [ ] Stay at the quay", "-[x] with the moth", "☑ 走", "Votes: 12", "12 votes",
	"Tally:\n12\n7",
	"votes:\n[x] Run\n\n14\n",
}

var storyTexts = []string{
	"She rolled over.", "The dice are cast: 1d20.", "Rolled 14: the door opens.", "Twelve.", "Votes.", "Dice", "Run 12",
	"7 ships",
	"[x] He opened the door and the lantern went out.", "[x] \"Run\"", "[x] Run: she will follow",
	"[x] the king who was promised is dead and gone",
	"[ ] 国王在黎明前死去而没有人敢说出他的名字", "他走了1d20", "彼は12", "Голоса.", "Голоса: 12", "голос 3", "Die! 3", "XIV", "三", "½",
	"1d20 ⠓⠑⠇⠇⠕", "5 ❤",
	"Wren: 1d20+3 = 17", "DC 12 to nurse the flame", "[b]12[/b]", "12pm", "3 jets.", "\xff 3", "3 \ufffd",
}

func TestMechanicsAreNoStory(t *testing.T) {
	t.Parallel()
	for _, text := range mechanicalTexts {
		if !corpus.IsMechanical(text) {
			t.Errorf("%q is taken for a story", text)
		}
	}
	for _, text := range append(storyTexts, "", "\n", "***", "...", "?!", "Tally:") {
		if corpus.IsMechanical(text) {
			t.Errorf("%q is taken for mechanics", text)
		}
	}
}

// TestOneLineMakesAStory: lines that are mechanical each are so together, and no longer with one line of story anywhere
// among them.
func TestOneLineMakesAStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.SampledFrom(mechanicalTexts), 1, 6).Draw(t, "lines")
		if !corpus.IsMechanical(strings.Join(lines, "\n")) {
			t.Fatalf("%q is taken for a story", lines)
		}
		at := rapid.IntRange(0, len(lines)).Draw(t, "at")
		mixed := append(append(append([]string{}, lines[:at]...), rapid.SampledFrom(storyTexts).Draw(t, "story")),
			lines[at:]...)
		if corpus.IsMechanical(strings.Join(mixed, "\n")) {
			t.Fatalf("%q is taken for mechanics", mixed)
		}
	})
}

// TestUnknownWordMakesAStory tests that a word outside of the game's vocabulary makes a line a story, in any script and
// at any place in the line.
func TestUnknownWordMakesAStory(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		script := rapid.SampledFrom([]string{
			"[a-z]{5,9}q", "[а-я]{5,9}ю", "[ァ-ヴ]{6}", "[一-龥]{6}", "[ก-ฮ]{6}",
			"[א-ת]{6}", "[ا-ي]{6}",
		}).Draw(t, "script")
		word := rapid.StringMatching(script).Draw(t, "word")
		line := rapid.SampledFrom(mechanicalTexts[:17]).Draw(t, "line")
		text := rapid.SampledFrom([]string{
			word + " " + line, line + " " + word,
			fmt.Sprintf("%s (%s)", line, word),
		}).Draw(t, "text")
		if corpus.IsMechanical(text) {
			t.Fatalf("%q is taken for mechanics", text)
		}
	})
}

func FuzzMechanics(f *testing.F) {
	for _, text := range append(mechanicalTexts, storyTexts...) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !corpus.IsMechanical(text) {
			return
		}
		if corpus.IsMechanical(text + "\nThe lamp went out.") {
			t.Errorf("%q with a sentence is taken for mechanics", text)
		}
		if !corpus.IsMechanical(text + "\n1d20") {
			t.Errorf("%q with dice is taken for a story", text)
		}
	})
}
