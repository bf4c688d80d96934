package ingest

import (
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed wording.json
var wordingJSON []byte

// vocabulary is the content of wording.json, the languages taken together.
type vocabulary struct {
	labels  map[string]headingKind
	ranks   map[headingKind]rank
	lists   map[string]headingKind // whole lines: named headings, contents, illustrations, ends
	numbers map[string]int
	infixes map[string]int // "einund": 1
	joiners map[string]bool
	skipped map[string]bool // articles, and "No."
	units   map[rune]headingKind
	ordinal string // signs before an East Asian number
	between string // signs between a unit and its number
	digits  map[rune]int
	powers  map[rune]int
	signals map[string][]*regexp.Regexp
	shop    []*regexp.Regexp
	beside  []*regexp.Regexp  // what is written beside a story
	generic map[string]bool   // entries of tables of contents that are no titles
	links   []*regexp.Regexp  // texts of links through a site
	files   map[string]string // what a file of this name is
	first   map[string]bool   // files that stand before the numbered ones,
	last    map[string]bool   // and behind
}

// words is read once. It is never changed.
var words = sync.OnceValue(func() *vocabulary {
	v, err := readVocabulary(wordingJSON)
	if err != nil {
		panic(fmt.Sprintf("wording.json: %v", err)) // it is part of the program, and a test reads it
	}
	return v
})

type languageWords struct {
	Labels        map[headingKind][]string `json:"labels"`
	Articles      []string                 `json:"articles"`
	NumberMarks   []string                 `json:"numberMarks"`
	Ones          []string                 `json:"ones"`
	Tens          []string                 `json:"tens"`
	Infixes       []string                 `json:"infixes"`
	Joiners       []string                 `json:"joiners"`
	Last          []string                 `json:"last"`
	Named         []string                 `json:"named"`
	Contents      []string                 `json:"contents"`
	Illustrations []string                 `json:"illustrations"`
	End           []string                 `json:"end"`
}

func readVocabulary(data []byte) (*vocabulary, error) {
	var file struct {
		Kinds        map[headingKind]rank      `json:"kinds"`
		Languages    map[string]*languageWords `json:"languages"`
		Units        map[headingKind]string    `json:"units"`
		OrdinalMarks string                    `json:"ordinalMarks"`
		UnitMarks    string                    `json:"unitMarks"`
		Numerals     map[string]int            `json:"numerals"`
		Powers       map[string]int            `json:"powers"`
		Signals      map[string][]string       `json:"signals"`
		Shop         []string                  `json:"shop"`
		Generic      []string                  `json:"genericEntries"`
		Navigation   []string                  `json:"navigation"`
		Beside       []string                  `json:"beside"`
		FilesFirst   []string                  `json:"filesFirst"`
		FilesLast    []string                  `json:"filesLast"`
		FilesBeside  map[string][]string       `json:"filesBeside"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		return nil, err
	}
	v := &vocabulary{
		labels: map[string]headingKind{}, ranks: file.Kinds, lists: map[string]headingKind{}, numbers: map[string]int{},
		infixes: map[string]int{}, joiners: map[string]bool{}, skipped: map[string]bool{}, units: map[rune]headingKind{},
		ordinal: file.OrdinalMarks, between: file.UnitMarks, digits: map[rune]int{}, powers: map[rune]int{}, signals: map[string][]*regexp.Regexp{},
	}
	for _, l := range file.Languages {
		v.add(l)
	}
	for kind, signs := range file.Units {
		for _, r := range signs {
			v.units[r] = kind
		}
	}
	for sign, n := range file.Numerals {
		r, _ := utf8.DecodeRuneInString(sign)
		v.digits[r] = n
	}
	for sign, n := range file.Powers {
		r, _ := utf8.DecodeRuneInString(sign)
		v.powers[r] = n
	}
	for name, patterns := range file.Signals {
		compiled, err := compileAll(patterns)
		if err != nil {
			return nil, err
		}
		v.signals[name] = compiled
	}
	v.files, v.first, v.last = map[string]string{}, setOf(file.FilesFirst), setOf(file.FilesLast)
	for what, names := range file.FilesBeside {
		for _, name := range names {
			v.files[name] = what
		}
	}
	v.generic = setOf(file.Generic)
	var shopErr, besideErr, linksErr error
	v.links, linksErr = compileAll(file.Navigation)
	v.shop, shopErr = compileAll(file.Shop)
	v.beside, besideErr = compileAll(file.Beside)
	return v, errors.Join(shopErr, besideErr, linksErr)
}

func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

func compileAll(patterns []string) ([]*regexp.Regexp, error) {
	all := make([]*regexp.Regexp, len(patterns))
	for i, pattern := range patterns {
		var err error
		if all[i], err = regexp.Compile(pattern); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (v *vocabulary) add(l *languageWords) {
	for kind, labels := range l.Labels {
		for _, label := range labels {
			v.labels[fold(label)] = kind
		}
	}
	for kind, lines := range map[headingKind][]string{namedHeading: l.Named, contentsList: l.Contents, pictureList: l.Illustrations, endMark: l.End} {
		for _, line := range lines {
			v.lists[fold(line)] = kind
		}
	}
	for i, forms := range l.Ones {
		for form := range strings.FieldsSeq(forms) {
			v.numbers[fold(form)] = i + 1
		}
	}
	for i, forms := range l.Tens {
		for form := range strings.FieldsSeq(forms) {
			v.numbers[fold(form)] = 10 * (i + 2)
		}
	}
	for _, form := range l.Last {
		v.numbers[fold(form)] = lastNumber
	}
	for _, infix := range l.Infixes {
		text, value, _ := strings.Cut(infix, "=")
		v.infixes[fold(text)], _ = strconv.Atoi(value)
	}
	for _, joiner := range l.Joiners {
		v.joiners[fold(joiner)] = true
	}
	for _, word := range append(l.Articles, l.NumberMarks...) {
		v.skipped[fold(word)] = true
	}
}

// matches reports whether a text has a signal of the named kind.
func (v *vocabulary) matches(kind, text string) bool {
	return matchesAny(v.signals[kind], text)
}

func matchesAny(patterns []*regexp.Regexp, text string) bool {
	return slices.ContainsFunc(patterns, func(p *regexp.Regexp) bool { return p.MatchString(text) })
}
