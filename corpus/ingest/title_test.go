package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/corpus/ingest"
)

func TestReadTitle(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"XVIII: The Treasure":                      "1 number 18 XVIII: The Treasure",
		"BOOK ONE: 1805, CHAPTER I":                "0 book 1 BOOK ONE: 1805|1 chapter 1 CHAPTER I: ",
		"Volume II, Chapter 5: The Storm, the Sea": "0 volume 2 Volume II: |1 chapter 5 Chapter 5: The Storm, the Sea",
		"Fantine, Book First: A Just Man, I: M. Myriel": "0  0 Fantine: Fantine|0 book 1 Book First: A Just Man|" +
			"1 number 1 I: M. Myriel",
		"Part I, A Scandal in Bohemia": "0 part 1 Part I: A Scandal in Bohemia",
		"ACT I, SCENE II":              "1 act 1 ACT I: |2 scene 2 SCENE II: ",
		"Chapter 12, Part 2":           "1 chapter 12 Chapter 12: Part 2",
		"Prologue: The Bell":           "1 named 0 Prologue: The Bell",
		"Baker Street, 221":            "1  0 Baker Street, 221: Baker Street, 221",
		"第三回　雨":                        "1 chapter 3 第三回: 雨",
		"  The Lanterns of\tHallowmere Quest #1 ": "1  0 The Lanterns of Hallowmere Quest #1: " +
			"The Lanterns of Hallowmere Quest #1",
		"FIRST EPILOGUE: 1813-20, CHAPTER I: The Return": "0  0 FIRST EPILOGUE: 1813-20: FIRST EPILOGUE: 1813-20|" +
			"1 chapter 1 CHAPTER I: The Return",
		"": "",
	} {
		var parts []string
		for _, p := range ingest.ReadTitle(title) {
			parts = append(parts, fmt.Sprintf("%d %s %d %s: %s", p.Level, p.Kind, p.Number, p.Text, p.Title))
		}
		if got := strings.Join(parts, "|"); got != want {
			t.Errorf("%q is read as %q, want %q", title, got, want)
		}
	}
}

func TestReadNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"20": 20, "XX": 20, "xx": 20, "twenty-one": 21, "Twenty One": 21, "二十": 20, "premier": 1,
		"": 0, "the": 0, ".": 0,
		"1.5": 0, "-3": 0, "20 leagues": 0,
	} {
		if got := ingest.ReadNumber(text); got != want {
			t.Errorf("%q is %d, want %d", text, got, want)
		}
	}
}

func FuzzReadTitle(f *testing.F) {
	for _, title := range []string{
		"BOOK ONE: 1805, CHAPTER I", "Part I, 3: Foo", "第十二回　雨", ", , I", "*Chapter 1*", "",
	} {
		f.Add(title)
	}
	f.Fuzz(func(t *testing.T, title string) {
		ingest.ReadNumber(title)
		parts := ingest.ReadTitle(title)
		if (len(parts) == 0) != (strings.TrimSpace(title) == "") {
			t.Errorf("%q has %d parts", title, len(parts))
		}
		for _, p := range parts {
			if p.Text == "" || p.Number < 0 || p.Level < 0 || p.Level > 2 {
				t.Errorf("%q: %+v", title, p)
			}
		}
	})
}
