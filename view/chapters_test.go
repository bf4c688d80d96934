package view_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"annotator"
	"annotator/storage"
	"annotator/view"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// chaptersOf returns the chapters with some titles.
func chaptersOf(titles []string) view.Chapters {
	spans := make([]view.ThreadSpan, len(titles))
	for i, title := range titles {
		spans[i].Thread = annotator.Thread{ID: int64(100 + i), Title: title}
	}
	return view.NewChapters(spans)
}

// novels are titles of chapters as the importers make them.
var novels = map[string][]string{
	"numerals": {
		"I: Marseilles—The Arrival", "II: Father and Son", "III: The Catalans", "XII: Father and Son",
		"XXI: The Island of Tiboulen",
	},
	"volumes": {
		"Prologue", "Volume I, Chapter 1: Storm", "Volume I, Chapter 2", "Volume II, Chapter 1",
		"Volume II, Chapter 2: Frost",
		"FIRST EPILOGUE: 1813-20, CHAPTER I",
	},
	"letters": {"Letter 1", "Letter 2", "CHAPTER ONE", "CHAPTER TWO", "Part 2"},
	"stories": {"A Scandal in Bohemia", "The Château d’If", "The Red-Headed League", "1984", ""},
}

func TestChaptersAreFoundByName(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		novel, name string
		want        []int
	}{
		{"numerals", "12", []int{3}},
		{"numerals", "XII", []int{3}},
		{"numerals", "xxi", []int{4}},
		{"numerals", "twenty-one", []int{4}},
		{"numerals", "#4", []int{3}},
		{"numerals", "#6", nil},
		{"numerals", "#0", nil},
		{"numerals", "4", nil},
		{"numerals", `"The Island of Tiboulen"`, []int{4}},
		{"numerals", "the island", []int{4}},
		{"numerals", "Father and Son", []int{1, 3}},
		{"numerals", "Chapter XII", []int{3}},
		{"numerals", "I: Marseilles—The Arrival", []int{0}},
		{"volumes", "1", []int{1, 3, 5}},
		{"volumes", "II.1", []int{3}},
		{"volumes", "2.two", []int{4}},
		{"volumes", "3.1", nil},
		{"volumes", "prologue", []int{0}},
		{"volumes", "First Epilogue: 1813-20, Chapter I", []int{5}},
		{"letters", "1", []int{2}},
		{"letters", "2", []int{3}},
		{"letters", "Letter 2", []int{1}},
		{"letters", "Part 2", []int{4}},
		{"stories", "chateau d'if", []int{1}},
		{"stories", "A Scandal", []int{0}},
		{"stories", `"1984"`, []int{3}},
		{"stories", "1984", []int{3}},
		{"stories", "the", []int{1, 2}},
		{"stories", "#5", []int{4}},
		{"stories", `""`, nil},
	} {
		if got := chaptersOf(novels[test.novel]).Find(test.name); !slices.Equal(got, test.want) {
			t.Errorf("%s, chapter:%s: %v, want %v", test.novel, test.name, got, test.want)
		}
	}
}

func TestChaptersAreNamed(t *testing.T) {
	t.Parallel()
	for novel, want := range map[string][][2]string{ // name, label
		"numerals": {
			{"1", "Chapter I"}, {"2", "Chapter II"}, {"3", "Chapter III"}, {"12", "Chapter XII"}, {"21", "Chapter XXI"},
		},
		"volumes": {
			{`"Prologue"`, "Prologue"},
			{"1.1", "Volume I, Chapter 1"},
			{"1.2", "Volume I, Chapter 2"},
			{"2.1", "Volume II, Chapter 1"},
			{"2.2", "Volume II, Chapter 2"},
			{`"FIRST EPILOGUE: 1813-20, CHAPTER I"`, "FIRST EPILOGUE: 1813-20, Chapter I"},
		},
		"letters": {
			{`"Letter 1"`, "Letter 1"},
			{`"Letter 2"`, "Letter 2"},
			{"1", "Chapter One"},
			{"2", "Chapter Two"},
			{`"Part 2"`, "Part 2"},
		},
		"stories": {
			{`"A Scandal in Bohemia"`, "A Scandal in Bohemia"},
			{`"The Château d’If"`, "The Château d’If"},
			{`"The Red-Headed League"`, "The Red-Headed League"},
			{`"1984"`, "1984"},
			{"#5", "thread 104"},
		},
	} {
		chapters := chaptersOf(novels[novel])
		var got [][2]string
		for i := range chapters {
			got = append(got, [2]string{chapters.Name(i), chapters[i].Label})
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", novel, diff)
		}
	}
	thread := &annotator.Thread{ID: 7, Title: "XVIII: The Treasure"}
	if got := view.SceneLabel(thread, 60); got != "Chapter XVIII, scene 60" {
		t.Errorf("a scene is %q", got)
	}
}

// TestNamesFindTheirChapter holds whatever the titles are: the name of a chapter is a point that finds only that one.
func TestNamesFindTheirChapter(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom([]string{
		"", "I", "II", "2", "Chapter 2", "CHAPTER TWO", "Part I", "Volume 2", "Letter 1", "#1", "The Storm",
		"the storm!",
		`"Mix"`, "1.2", "Epilogue", "第三回", "Chapter the Last", "ACT I, SCENE II", "'", "“", "chapter:3",
	})
	rapid.Check(t, func(t *rapid.T) {
		titles := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			between := rapid.SampledFrom([]string{", ", ": ", " "}).Draw(t, "between")
			return strings.Join(rapid.SliceOfN(part, 1, 3).Draw(t, "parts"), between)
		}), 1, 12).Draw(t, "titles")
		chapters := chaptersOf(titles)
		for i := range chapters {
			point, err := view.ParsePoint(chapters.Point(i).String())
			if err != nil {
				t.Fatal(err)
			}
			if found := chapters.Find(point.Name); !slices.Equal(found, []int{i}) {
				t.Fatalf("%s of %q finds %v, not %d", point, titles, found, i)
			}
		}
	})
}

// TestChapterErrorsStayWithinTheLimit looks for all kinds of chapters under each limit. Neither what is found nor an
// error names a later chapter.
func TestChapterErrorsStayWithinTheLimit(t *testing.T) {
	t.Parallel()
	titles := []string{
		"Volume I, Chapter 1: Alpha", "Volume I, Chapter 2: Betony", "Volume II, Chapter 1: Gammer",
		"Volume II, Chapter 2: Delphi", "Volume II, Chapter 3: Epsilon",
	}
	ctx := t.Context()
	db, err := storage.OpenWriter(ctx, filepath.Join(t.TempDir(), "x.db"), "the test", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	err = db.Run.Begin(ctx, storage.Corpus{Title: "A story", Path: "s.db", Identity: "1"},
		func(yield func(*annotator.Scene, error) bool) {
			for i, title := range titles {
				order := annotator.Order(i+1) * annotator.OrderStep
				if !yield(&annotator.Scene{
					N: i + 1, Order: order, Thread: annotator.Thread{ID: int64(50 - i), Title: title, Order: order},
					Posts: []annotator.Post{{ID: int64(i + 1), Body: title}}, Opens: true, Ends: true,
				}, nil) {
					return
				}
			}
		})
	if err != nil {
		t.Fatal(err)
	}
	names := []string{
		"1", "2", "3", "II.1", "9", "#1", "#5", "#9", "Epsilon", "Epsilom", "e", "Volume", "Chapter", "Delphi",
		"alpha", "Gamer",
	}
	for last := 1; last <= len(titles); last++ {
		limit, err := view.LimitAt(ctx, db, view.Point{Kind: view.PointScene, ID: int64(last)})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			m, err := view.At(db, limit).LimitAt(ctx, view.Point{Kind: view.PointChapter, Name: name})
			if err == nil && (m.IsZero() || m.Scene > last) {
				t.Errorf("chapter:%s is scene %d after %d", name, m.Scene, last)
			}
			for _, later := range titles[last:] {
				_, own, _ := strings.Cut(later, ": ")
				if said := fmt.Sprint(err); err != nil && name != own && strings.Contains(said, own) {
					t.Errorf("chapter:%s under scene %d: %v", name, last, err)
				}
			}
		}
	}
	_, err = view.LimitAt(ctx, db, view.Point{Kind: view.PointChapter, Name: "1"})
	want := "chapter 1 may be any of 2; name one: chapter:1.1 (Volume I, Chapter 1: Alpha), " +
		"chapter:2.1 (Volume II, Chapter 1: Gammer)"
	if annotator.KindOf(err) != annotator.Misused || !strings.Contains(fmt.Sprint(err), want) {
		t.Errorf("an ambiguous number: %v, want %s", err, want)
	}
	_, err = view.LimitAt(ctx, db, view.Point{Kind: view.PointChapter, Name: "Epsilom"})
	if annotator.KindOf(err) != annotator.NotFound || !strings.Contains(fmt.Sprint(err), "chapter:3 (Volume II") {
		t.Errorf("a mistyped title: %v", err)
	}
}
