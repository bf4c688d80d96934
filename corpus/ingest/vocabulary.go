package ingest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

//go:embed wording.json
var wordingJSON []byte

// vocabulary is the content of wording.json, and the words of all languages taken together.
type vocabulary struct {
	Ranks          map[headingKind]rank      `json:"kinds"`
	Languages      map[string]*languageWords `json:"languages"`
	Units          map[headingKind]string    `json:"units"`
	OrdinalMarks   string                    `json:"ordinalMarks"` // before an East Asian number
	UnitMarks      string                    `json:"unitMarks"`    // between a unit and its number
	Numerals       map[string]int            `json:"numerals"`
	LetterNumerals map[string]int            // letters that are numbers, in descending order
	Powers         map[string]int            `json:"powers"`
	Signals        map[string][]*regexp.Regexp
	GenericEntries []string            // of tables of contents: they are no titles
	FilesFirst     []string            // names of files that precede the numbered ones,
	FilesLast      []string            // and behind
	FilesBeside    map[string][]string // what files of some names are

	labels  map[string]headingKind
	lists   map[string]headingKind // whole lines: named headings, contents, illustrations, ends
	numbers map[string]int
	infixes map[string]int // "einund": 1
	behind  map[string]int // "akt två": 2, where the number is another word in other languages
	months  map[string]int
	days    map[string]bool // of the week
	joiners map[string]bool
	skipped map[string]bool // articles, and "No."
	units   map[rune]headingKind
}

// words is read once. It is never changed.
var words = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{
		labels: map[string]headingKind{}, lists: map[string]headingKind{}, numbers: map[string]int{},
		infixes: map[string]int{}, behind: map[string]int{}, months: map[string]int{}, days: map[string]bool{},
		joiners: map[string]bool{}, skipped: map[string]bool{}, units: map[rune]headingKind{},
	}
	if err := json.Unmarshal(wordingJSON, v); err != nil {
		panic(fmt.Sprintf("wording.json: %v", err)) // it is part of the program, and a test reads it
	}
	for _, l := range v.Languages {
		v.add(l)
	}
	for kind, signs := range v.Units {
		for _, r := range signs {
			v.units[r] = kind
		}
	}
	return v
})

type languageWords struct {
	Labels        map[headingKind][]string
	Articles      []string
	NumberMarks   []string
	Ones          []string
	Tens          []string
	Infixes       []string
	BehindLabels  []string
	Months        []string
	Weekdays      []string
	Joiners       []string
	Last          []string
	Named         []string
	Contents      []string
	Illustrations []string
	End           []string
}

func (v *vocabulary) add(l *languageWords) {
	for kind, labels := range l.Labels {
		setAll(v.labels, labels, kind)
	}
	for kind, lines := range map[headingKind][]string{
		namedHeading: l.Named, contentsList: l.Contents,
		pictureList: l.Illustrations, endMark: l.End,
	} {
		setAll(v.lists, lines, kind)
	}
	for i, forms := range l.Ones {
		setAll(v.numbers, strings.Fields(forms), i+1)
	}
	for i, forms := range l.Tens {
		setAll(v.numbers, strings.Fields(forms), 10*(i+2))
	}
	setAll(v.numbers, l.Last, lastNumber)
	for i, forms := range l.Months {
		setAll(v.months, strings.Fields(forms), i+1)
	}
	setValues(v.infixes, l.Infixes, "")
	for _, labels := range l.Labels {
		for _, label := range labels {
			setValues(v.behind, l.BehindLabels, label+" ")
		}
	}
	setAll(v.days, l.Weekdays, true)
	setAll(v.joiners, l.Joiners, true)
	setAll(v.skipped, l.Articles, true)
	setAll(v.skipped, l.NumberMarks, true)
}

func setAll[T any](table map[string]T, keys []string, value T) {
	for _, key := range keys {
		table[fold(key)] = value
	}
}

// setValues reads entries as "einund=1", each with something before it.
func setValues(table map[string]int, entries []string, before string) {
	for _, entry := range entries {
		text, value, _ := strings.Cut(before+entry, "=")
		table[fold(text)], _ = strconv.Atoi(value)
	}
}

// matches reports whether a text has a signal of the named kind.
func (v *vocabulary) matches(kind, text string) bool {
	return slices.ContainsFunc(v.Signals[kind], func(p *regexp.Regexp) bool { return p.MatchString(text) })
}
