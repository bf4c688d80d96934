package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/corpus/ingest"
)

// TestHeadingsInTwelveLanguages reads a line as "kind number: title", or as no heading.
func TestHeadingsInTwelveLanguages(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"CHAPTER I":                          "chapter 1: ",
		"Chapter 12. The Storm":              "chapter 12: The Storm",
		"CHAPTER THE LAST":                   "chapter 9999: ",
		"Chapter Twenty-One: Down":           "chapter 21: Down",
		"CHAPTERXXVII.":                      "chapter 27: ",
		"THE FIRST ACT":                      "act 1: ",
		"ACT II. Scene 1":                    "act 2: Scene 1",
		"Letter 4":                           "letter 4: ",
		"CANTO THE FIRST":                    "canto 1: ",
		"BOOK THE SECOND: The Golden Thread": "book 2: The Golden Thread",
		"Part I wanted to see was closed.":   " 0: ",
		"Chapter and verse.":                 " 0: ",
		"The first act ended with applause.": " 0: ",
		"In chapter 3 we saw her":            " 0: ",
		"IV":                                 "number 4: ",
		"IV.":                                "number 4: ",
		"12":                                 "number 12: ",
		"I. A SCANDAL IN BOHEMIA":            "number 1: A SCANDAL IN BOHEMIA",
		"I - HOW CANDIDE WAS BROUGHT UP":     "number 1: HOW CANDIDE WAS BROUGHT UP",
		"MIX":                                " 0: ",
		"1984":                               " 0: ",
		"I went home.":                       " 0: ",
		"TWENTY-TWO":                         "number 22: ",
		"PROLOGUE":                           "named 0: ",
		"Prologue: The Bell":                 "named 0: The Bell",
		"Epilogue — Home":                    "named 0: Home",
		"THE END":                            "end 0: ",
		"CONTENTS.":                          "contents 0: ",
		"Chapitre premier":                   "chapter 1: ",
		"CHAPITRE XIV":                       "chapter 14: ",
		"LIVRE DEUXIÈME":                     "book 2: ",
		"Première partie":                    "part 1: ",
		"Chapitre où l’on s’adore":           " 0: ",
		"Chapitre vingt et unième":           "chapter 21: ",
		"Chapitre dix-sept":                  "chapter 17: ",
		"TABLE DES MATIÈRES":                 "contents 0: ",
		"Erstes Kapitel":                     "chapter 1: ",
		"1. Kapitel":                         "chapter 1: ",
		"Kapitel 7: Der Sturm":               "chapter 7: Der Sturm",
		"Einundzwanzigstes Kapitel":          "chapter 21: ",
		"Zweites Buch":                       "book 2: ",
		"Capítulo primero":                   "chapter 1: ",
		"CAPÍTULO XXI":                       "chapter 21: ",
		"Capítulo treinta y dos":             "chapter 32: ",
		"Segunda parte":                      "part 2: ",
		"Capitolo primo":                     "chapter 1: ",
		"CAPITOLO VENTUNO":                   "chapter 21: ",
		"Canto terzo":                        "canto 3: ",
		"Hoofdstuk 3":                        "chapter 3: ",
		"Eerste hoofdstuk":                   "chapter 1: ",
		"Vijfentwintigste hoofdstuk":         "chapter 25: ",
		"Capítulo vinte e três":              "chapter 23: ",
		"Rozdział pierwszy":                  "chapter 1: ",
		"ROZDZIAŁ XII":                       "chapter 12: ",
		"Część druga":                        "part 2: ",
		"Глава первая":                       "chapter 1: ",
		"ГЛАВА 12. Буря":                     "chapter 12: Буря",
		"Глава двадцать первая": "chapter 21: ",
		"ЧАСТЬ ПЕРВАЯ":          "part 1: ",
		"Часть вторая. Дорога":  "part 2: Дорога",
		"Том 2":                 "volume 2: ",
		"Действие первое":       "act 1: ",
		"Эпилог":                "named 0: ",
		"第一回　甄士隐梦幻识通灵　贾雨村风尘怀闺秀": "chapter 1: 甄士隐梦幻识通灵 贾雨村风尘怀闺秀",
		"第二十三章 雨": "chapter 23: 雨",
		"第12章":    "chapter 12: ",
		"第１２話　雨":  "chapter 12: 雨",
		"第四回中既将薛家母子在荣府内寄居等事略已表明，此回则暂不能写矣。": " 0: ",
		"卷一":    "volume 1: ",
		"巻の二":   "volume 2: ",
		"上":     "number 1: ",
		"十一":    "number 11: ",
		"三":     "number 3: ",
		"序章":    "named 0: ",
		"目录":    "contents 0: ",
		"제3장 비": "chapter 3: 비",
		"3장":    "chapter 3: ",
		"제1부":   "part 1: ",
		"프롤로그":  "named 0: ",
		"***":   " 0: ",
		"":      " 0: ",
		"One.":  " 0: ",
		strings.Repeat("Chapter 1 very long ", 12): " 0: ",
	} {
		kind, number, title := ingest.Heading(line)
		if got := fmt.Sprintf("%s %d: %s", kind, number, title); got != want {
			t.Errorf("%q is read as %q, want %q", line, got, want)
		}
	}
}

func FuzzHeading(f *testing.F) {
	for _, line := range []string{"CHAPTER I. Home", "第十二回　雨", "Einundzwanzigstes Kapitel", "1. Scene", "제3장"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = ingest.CleanPage(line)
		if _, number, title := ingest.Heading(line); number < 0 || len(title) > len(line)+8 {
			t.Errorf("%q: %d, %q", line, number, title)
		}
	})
}
