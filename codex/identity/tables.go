package identity

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

//go:embed words/titles.txt
var titleLines string

// nicknameLines is a table of github.com/carltonnorthern/nicknames, one first name a line with its nicknames. NOTICE
// has its licence.
//
//go:embed words/nicknames.txt
var nicknameLines string

//go:embed words/diminutives.txt
var diminutiveLines string

//go:embed words/men.txt
var menLines string

//go:embed words/women.txt
var womenLines string

// stage tells a daughter from her mother, and titles that go with the family name.
type stage int8

const (
	anyStage stage = iota
	maiden
	wife
	mister
)

// title is what a title says of its bearer.
type title struct {
	form   string // one for all its forms
	gender Gender
	stage  stage
	rank   bool // of nobility, of which a person has one
	high   bool // of an officer, who is not called Mr.
}

type lists struct {
	titles    map[string]title
	wives     map[string]bool     // titles behind the name of a husband
	nicknames map[string][]string // of a first name
	full      map[string][]string // first names of a nickname
	given     map[string]Gender   // of a first name
}

// tables parses the embedded lists, once.
var tables = sync.OnceValue(func() *lists {
	l := &lists{
		titles: map[string]title{}, nicknames: map[string][]string{}, full: map[string][]string{},
		given: map[string]Gender{}, wives: map[string]bool{},
	}
	for line := range lines(titleLines) {
		t := title{form: line[1]}
		switch line[0] {
		case "man":
			t.gender = Man
		case "mister":
			t.gender, t.stage = Man, mister
		case "lord":
			t.gender, t.rank = Man, true
		case "peeress":
			t.gender, t.stage, t.rank = Woman, wife, true
		case "officer":
			t.high = true
		case "after":
			for _, form := range line[1:] {
				l.wives[form] = true
			}
			continue
		case "woman":
			t.gender = Woman
		case "maiden":
			t.gender, t.stage = Woman, maiden
		case "wife":
			t.gender, t.stage = Woman, wife
		}
		for _, form := range line[1:] {
			l.titles[strings.Join(fold(form), " ")] = t
		}
	}
	for line := range lines(nicknameLines + diminutiveLines) {
		for _, short := range line[1:] {
			l.nicknames[line[0]] = append(l.nicknames[line[0]], short)
			l.full[short] = append(l.full[short], line[0])
		}
	}
	for line := range lines(menLines) {
		l.give(line, Man)
	}
	for line := range lines(womenLines) {
		l.give(line, Woman)
	}
	nicknames := map[string]Gender{}
	for short, full := range l.full {
		genders := map[Gender]bool{}
		for _, name := range full {
			genders[l.given[name]] = true
		}
		if _, listed := l.given[short]; !listed && len(genders) == 1 {
			nicknames[short] = l.given[full[0]]
		}
	}
	maps.Copy(l.given, nicknames) // a nickname is of the gender of all its full names
	return l
})

func (l *lists) give(names []string, gender Gender) {
	for _, name := range names {
		l.given[name] = gender
	}
}

// lines yields the words of each line that is no comment.
func lines(text string) func(yield func([]string) bool) {
	return func(yield func([]string) bool) {
		for line := range strings.Lines(text) {
			if words := strings.Fields(line); len(words) > 1 && words[0] != "#" && !yield(words) {
				return
			}
		}
	}
}

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(words) {
		set[word] = true
	}
	return set
}

// IsTitle reports whether a word is a title of a person in one of the languages.
func IsTitle(word string) bool {
	if plain, known := tables().titles[word]; known || ascii(word) {
		return plain.form != ""
	}
	words := fold(word)
	return len(words) == 1 && tables().titles[words[0]].form != ""
}

func ascii(word string) bool {
	return strings.IndexFunc(word, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// IsFirstName reports whether a word is a first name with nicknames, or a nickname, in the lists.
func IsFirstName(word string) bool {
	words, t := fold(word), tables()
	return len(words) == 1 && (t.nicknames[words[0]] != nil || t.full[words[0]] != nil)
}

// FullNames returns the folded first names of which a word is a nickname.
func FullNames(word string) []string { return tables().full[word] }

// nickname reports whether one of two folded first names is a nickname of the other.
func nickname(a, b string) bool {
	t := tables()
	return slices.Contains(t.nicknames[a], b) || slices.Contains(t.nicknames[b], a)
}

// compatible reports whether two folded first names may be of one person. They are equal, or one is the initial or a
// nickname of the other, or both are nicknames of one.
func compatible(a, b string) bool {
	if a == b || nickname(a, b) || (initial(a) || initial(b)) && []rune(a)[0] == []rune(b)[0] {
		return true
	}
	return slices.ContainsFunc(tables().full[a], func(full string) bool {
		return slices.Contains(tables().nicknames[full], b)
	})
}
