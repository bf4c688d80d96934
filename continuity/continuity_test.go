package continuity

import (
	"strings"
	"testing"

	"annotator"

	"pgregory.net/rapid"
)

func question() *Question {
	return &Question{
		posts: []annotator.Post{
			{ID: 1, Body: "She lit the lamp. \"Not a word,\" said Tomas & went."},
			{ID: 2, Body: "The quay was empty."},
		},
		shown: map[[2]int64]bool{{12, 3}: true},
	}
}

// TestAnswersAreRead reads the forms in which models write a line.
func TestAnswersAreRead(t *testing.T) {
	for _, test := range []struct{ line, quote, reason string }{
		{`CONTRADICTION 12:3 "lit the lamp" It is broken.`, "She lit the lamp.", "It is broken."},
		{`- **CONTRADICTION** 12:3 — “lit the lamp” — It is broken.`, "She lit the lamp.", "It is broken."},
		{
			`CONTRADICTION: #12:3 "&quot;Not a word,&quot; said Tomas &amp; went" "Tomas" is dead.`,
			`"Not a word," said Tomas & went.`, `"Tomas" is dead.`,
		},
	} {
		found, unfounded, usable := question().Answer(test.line)
		if !usable || unfounded != 0 || len(found) != 1 {
			t.Errorf("%s: found %v, %d unfounded, usable %t", test.line, found, unfounded, usable)
			continue
		}
		f := found[0]
		if f.Sort != annotator.Contradiction || f.Entry != 12 || f.Claim != 3 || f.Quote != test.quote ||
			f.Reason != test.reason {
			t.Errorf("%s: found %+v", test.line, f)
		}
	}
}

// TestUnfoundedLinesAreLeftOut: a line counts only if it names a fact that was shown and quotes the chapter.
func TestUnfoundedLinesAreLeftOut(t *testing.T) {
	for answer, want := range map[string]struct {
		unfounded int
		usable    bool
	}{
		"NONE":                                    {0, true},
		"none.":                                   {0, true},
		"It is a lovely chapter.":                 {0, false},
		`KNOWLEDGE 12:4 "lit the lamp" No fact.`:  {1, true},
		`PROMISE 12:3 "lit the moon" No words.`:   {1, true},
		`PROMISE 12:3 lit the lamp, without mark`: {1, true},
		"CONTRADICTION":                           {1, true},
	} {
		found, unfounded, usable := question().Answer(answer)
		if len(found) != 0 || unfounded != want.unfounded || usable != want.usable {
			t.Errorf("%s: found %v, %d unfounded, usable %t", answer, found, unfounded, usable)
		}
	}
}

// TestPartsAreTheChapter: the parts hold each post once, in order, and are no longer than they may be.
func TestPartsAreTheChapter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var posts []annotator.Post
		for i, length := range rapid.SliceOf(rapid.IntRange(0, 2*maxPart)).Draw(t, "lengths") {
			posts = append(posts, annotator.Post{ID: int64(i + 1), Body: strings.Repeat("é", length)})
		}
		next := int64(1)
		for _, part := range Parts(posts) {
			length := 0
			for i := range part {
				if part[i].ID != next {
					t.Fatalf("post %d follows post %d", part[i].ID, next-1)
				}
				next++
				length += len(part[i].Body) / 2
			}
			if len(part) == 0 || len(part) > 1 && length > maxPart {
				t.Fatalf("a part has %d posts and %d characters", len(part), length)
			}
		}
		if int(next) != len(posts)+1 {
			t.Fatalf("the parts end at post %d of %d", next-1, len(posts))
		}
	})
}

func FuzzAnswer(f *testing.F) {
	f.Add(`CONTRADICTION 12:3 "lit the lamp" It is broken.`)
	f.Add("KNOWLEDGE 12:3 \"\xff")
	f.Add("PROMISE 9223372036854775808:3 “” x")
	f.Fuzz(func(t *testing.T, answer string) {
		q := question()
		found, _, _ := q.Answer(answer)
		for i := range found {
			if !q.shown[[2]int64{found[i].Entry, found[i].Claim}] {
				t.Fatalf("a finding is about %d:%d", found[i].Entry, found[i].Claim)
			}
			quote := strings.Join(strings.Fields(found[i].Quote), " ")
			if !strings.Contains(q.posts[0].Body+" "+q.posts[1].Body, quote) {
				t.Fatalf("a finding quotes %q", found[i].Quote)
			}
		}
	})
}
