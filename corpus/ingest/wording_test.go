package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator/corpus/ingest"
)

// TestHeadingsInManyLanguages reads a line as "kind number: title", or as no heading.
func TestHeadingsInManyLanguages(t *testing.T) {
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
		"卷一":                     "volume 1: ",
		"巻の二":                    "volume 2: ",
		"上":                      "number 1: ",
		"十一":                     "number 11: ",
		"三":                      "number 3: ",
		"序章":                     "named 0: ",
		"目录":                     "contents 0: ",
		"제3장 비":                  "chapter 3: 비",
		"3장":                     "chapter 3: ",
		"제1부":                    "part 1: ",
		"프롤로그":                   "named 0: ",
		"Första kapitlet":        "chapter 1: ",
		"KAPITEL 3":              "chapter 3: ",
		"Kapitel sex":            "chapter 6: ",
		"Andra delen: Havet":     "part 2: Havet",
		"Tjugoförsta kapitlet":   "chapter 21: ",
		"Tredje brevet":          "letter 3: ",
		"Brevet et Chenildieu.":  " 0: ",
		"Første kapittel":        "chapter 1: ",
		"Kapittel fire":          "chapter 4: ",
		"Enogtyvende Kapitel":    "chapter 21: ",
		"Anden Del":              "part 2: ",
		"Kapitola první":         "chapter 1: ",
		"HLAVA XII":              "chapter 12: ",
		"Kapitola dvacátá druhá": "chapter 22: ",
		"Část druhá":             "part 2: ",
		"Első fejezet":           "chapter 1: ",
		"XII. FEJEZET":           "chapter 12: ",
		"2. fejezet: A vihar":    "chapter 2: A vihar",
		"Huszonegyedik fejezet":  "chapter 21: ",
		"Tizenharmadik fejezet":  "chapter 13: ",
		"Birinci Bölüm":          "chapter 1: ",
		"BİRİNCİ KISIM":          "part 1: ",
		"BÖLÜM 7":                "chapter 7: ",
		"On Birinci Bölüm":       "chapter 11: ",
		"Yirmi İkinci Bölüm":     "chapter 22: ",
		"ΚΕΦΑΛΑΙΟ Α΄":            "chapter 1: ",
		"Κεφάλαιο ΙΒ΄: Η θύελλα": "chapter 12: Η θύελλα",
		"Κεφάλαιο δεύτερο":       "chapter 2: ",
		"ΜΕΡΟΣ ΠΡΩΤΟ":            "part 1: ",
		"Κεφάλαιο ΣΤ'":           "chapter 6: ",
		"ΠΡΟΛΟΓΟΣ":               "named 0: ",
		"פרק א":                  "chapter 1: ",
		"פרק י״ב":                "chapter 12: ",
		"פרק ט\"ו: הסערה":        "chapter 15: הסערה",
		"פרק ראשון":              "chapter 1: ",
		"חלק שני":                "part 2: ",
		"פרק עשרים ואחד":         "chapter 21: ",
		"פרק מה שקרה בלילה":      " 0: ",
		"הקדמה":                  "named 0: ",
		"الفصل الأول":            "chapter 1: ",
		"الفصل ٣: العاصفة":       "chapter 3: العاصفة",
		"الفصل الحادي عشر":       "chapter 11: ",
		"الجزء الثاني":           "part 2: ",
		"مقدمة":                  "named 0: ",
		"अध्याय १":               "chapter 1: ",
		"अध्याय 2: तूफ़ान":       "chapter 2: तूफ़ान",
		"पहला अध्याय":            "chapter 1: ",
		"भाग दो":                 "part 2: ",
		"प्रस्तावना":             "named 0: ",
		"अध्याय 1 में हमने देखा था कि वह घर लौट आया था।": " 0: ",
		"Chương 1":                           "chapter 1: ",
		"CHƯƠNG XII":                         "chapter 12: ",
		"Chương thứ nhất":                    "chapter 1: ",
		"Chương một: Cơn bão":                "chapter 1: Cơn bão",
		"Chương hai mươi mốt":                "chapter 21: ",
		"Hồi thứ hai":                        "chapter 2: ",
		"Phần ba":                            "part 3: ",
		"บทที่ ๑":                            "chapter 1: ",
		"บทที่๑๒":                            "chapter 12: ",
		"บทที่ 3 พายุ":                       "chapter 3: พายุ",
		"บทที่หนึ่ง":                         "chapter 1: ",
		"ภาคสอง":                             "part 2: ",
		"บทนำ":                               "named 0: ",
		"제 2 장 비":                            "chapter 2: 비",
		"제십이장":                               "chapter 12: ",
		"이 장":                                " 0: ",
		"제1부 바다":                             "part 1: 바다",
		"Глава ٣":                            "chapter 3: ",
		"Chapter12":                          "chapter 12: ",
		"Chapter I'll never forget":          " 0: ",
		"TO PART":                            " 0: ",
		"Del 1 de mayo quedó poco":           " 0: ",
		"Β΄":                                 "number 2: ",
		"ב'":                                 "number 2: ",
		"א.":                                 "number 1: ",
		"(١)":                                "number 1: ",
		"१":                                  "number 1: ",
		"Kap. 3":                             "chapter 3: ",
		"Level 1":                            " 0: ",
		"Man one":                            " 0: ",
		"HET BOEK":                           " 0: ",
		"FIRE":                               " 0: ",
		"MÁSODIK FEJEZET, melyben vihar jön": "chapter 2: melyben vihar jön",
		"CHAPTER II, in which it rains":      "chapter 2: in which it rains",
		"Chapter II, as she knew, was short": " 0: ",
		"कहानी एक राजा की":       " 0: ",
		"ตอน 3 ทุ่ม เขากลับบ้าน": " 0: ",
		"***":  " 0: ",
		"":     " 0: ",
		"One.": " 0: ",
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

func TestDates(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		"3 May. Bistritz.":              true,
		"Monday, June 3rd":              true,
		"May the third":                 true,
		"The 3rd of May, 1790":          false,
		"London, May 3rd, 1790.":        true,
		"St. Petersburgh, Dec. 11th":    true,
		"*4 juin 1893*":                 true,
		"Sonntag, den 4. Mai":           true,
		"1º de mayo de 1893":            true,
		"Niedziela, 7 maja":             true,
		"3 мая 1869":                    true,
		"5. března, večer":              true,
		"3 Mayıs":                       true,
		"Δευτέρα, 3 Μαΐου":              true,
		"3 במאי":                        true,
		"٣ مايو":                        true,
		"३ मई":                          true,
		"Ngày 3 tháng 5":                true,
		"五月三日 雨":                        true,
		"5월 3일":                         true,
		"1893-05-03":                    true,
		"3.5.1893":                      true,
		"May 3 was cold.":               false,
		"May 4, and no letter came.":    false,
		"It was the third of May":       false,
		"On 3 May he came":              false,
		"\u201c3 May,\u201d said Pell.": false,
		"32 May":                        false,
		"May":                           false,
		"Monday":                        false,
		"3":                             false,
		"3/4":                           false,
		"":                              false,
	} {
		if got := ingest.Dated(line); got != want {
			t.Errorf("%q is read as a date: %v", line, got)
		}
	}
}

func FuzzDate(f *testing.F) {
	for _, line := range []string{"3 May. Bistritz.", "Monday, June 3rd", "五月三日", "May the third"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		if line = ingest.CleanPage(line); ingest.Dated(line) && len(line) > 300 {
			t.Errorf("%q", line)
		}
	})
}
