package ingest

import (
	"bytes"
	"cmp"
	"fmt"
	"hash/maphash"
	"io"
	"maps"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
)

// Why files of a repository are left out.
const (
	otherVersion  = "other versions of the chapters"
	otherLanguage = "texts in another language than the chapters"
	builtBook     = "books beside the texts that they were made of"
	besideSeries  = "files beside the numbered chapters"
)

// fileGroup holds the files of folders whose paths differ in digits alone, in one format.
type fileGroup struct {
	folder  string // in the root, with "#" for digits
	files   []source
	numbers map[int][]source       // the files with each number
	names   map[string]int         // how many files have each skeleton
	samples map[string]*wordSample // of single files, by path
	size    int64                  // of the files with numbers
	prose   float64                // the share of their text that is prose; only of series
	sample  *wordSample            // of the files; made when it is needed
}

var (
	numberInName = regexp.MustCompile(`\d+`)
	anyTag       = regexp.MustCompile(`<[^<>]*>`)
)

// skeleton is a file's name without its extension, with "#" for digits.
func skeleton(path string) string {
	return numberInName.ReplaceAllString(strings.ToLower(stem(path)), "#")
}

// label is what a name has before its number: all of it, if it has none.
func label(path string) string {
	before, _, _ := strings.Cut(skeleton(path), "#")
	return before
}

// numberOf is the first number of a file's name.
func numberOf(path string) (int, bool) {
	n, err := strconv.Atoi(numberInName.FindString(stem(path)))
	return n, err == nil
}

// groupFiles groups the files of a folder, in their order.
func groupFiles(root string, found []source) []*fileGroup {
	var groups []*fileGroup
	index := map[string]*fileGroup{}
	for _, s := range found {
		folder, _ := filepath.Rel(root, filepath.Dir(s.path))
		folder = numberInName.ReplaceAllString(filepath.ToSlash(folder), "#")
		key := folder + "\x00" + string(s.format)
		g := index[key]
		if g == nil {
			g = &fileGroup{
				folder: folder, numbers: map[int][]source{}, names: map[string]int{}, samples: map[string]*wordSample{},
			}
			index[key] = g
			groups = append(groups, g)
		}
		g.files = append(g.files, s)
		g.names[skeleton(s.path)]++
		if n, ok := numberOf(s.path); ok {
			g.numbers[n] = append(g.numbers[n], s)
			g.size += s.size
		}
	}
	return groups
}

// numbered counts the files with numbers.
func (g *fileGroup) numbered() (n int) {
	for _, files := range g.numbers {
		n += len(files)
	}
	return n
}

// isSeries reports whether most files are numbered from 1, with gaps fewer than numbers.
func (g *fileGroup) isSeries() bool {
	if len(g.numbers) < 3 || 2*g.numbered() < len(g.files) || !g.files[0].isText() {
		return false
	}
	numbers := slices.Sorted(maps.Keys(g.numbers))
	first, last := numbers[0], numbers[len(numbers)-1]
	return first <= 2 && last-first < 2*len(numbers)
}

func (g *fileGroup) depth() int { return strings.Count(path.Join("/", g.folder), "/") }

// sharesNames reports whether half of the numbered files are called as those of another group.
func (g *fileGroup) sharesNames(other *fileGroup) bool {
	names, same := map[string]bool{}, 0
	for _, s := range other.files {
		names[strings.ToLower(filepath.Base(s.path))] = true
	}
	for _, s := range g.files {
		if names[strings.ToLower(filepath.Base(s.path))] {
			same++
		}
	}
	return 2*same >= min(len(g.files), len(other.files))
}

// told is how much a series tells: its size, and twice how much of it is prose. Plans are often longer than the story.
func (g *fileGroup) told() float64 { return g.prose * g.prose * float64(g.size) }

// storyGroup is the series with the most prose. Of several with the same names, as of an original and its translation,
// it is the one with the shortest path. nil: there is no series, or nothing else.
func storyGroup(groups []*fileGroup) *fileGroup {
	var story *fileGroup
	var series []*fileGroup
	for _, g := range groups {
		if !g.isSeries() {
			continue
		}
		series = append(series, g)
		all := 0.0
		for _, s := range g.files {
			if _, ok := numberOf(s.path); ok {
				all += float64(s.size) * proseShare(headText(s))
			}
		}
		g.prose = all / math.Max(float64(g.size), 1)
		if story == nil || g.told() > story.told() {
			story = g
		}
	}
	for _, g := range series {
		if 2*g.told() >= story.told() && g.sharesNames(story) &&
			cmp.Or(cmp.Compare(g.depth(), story.depth()), cmp.Compare(len(g.folder), len(story.folder)),
				strings.Compare(g.folder, story.folder)) < 0 {
			story = g
		}
	}
	return story
}

// storyFiles returns the files of the story in a folder that holds more: versions, translations, plots, notes. What is
// left out is in the report by folders.
func storyFiles(root string, found []source, report *Report) []source {
	groups := groupFiles(root, found)
	story := storyGroup(groups)
	out := map[string][]string{} // names by reason
	count := map[string]int{}
	leave := func(why, name string, n int) {
		out[why], count[why] = append(out[why], name), count[why]+n
	}
	var kept []source
	for _, g := range groups {
		if why := g.outside(story, groups); why != "" {
			files := slices.DeleteFunc(slices.Clone(g.files), func(s source) bool {
				first := story != nil && placeOf(s.path) != 0 && path.Dir(story.folder) == g.folder && s.isText()
				if first {
					kept = append(kept, s)
				}
				return first
			})
			if len(files) > 0 {
				leave(why, g.String(root, files), len(files))
			}
			continue
		}
		for _, s := range g.files {
			if why := g.besides(s, story); why != "" {
				name, _ := filepath.Rel(root, s.path)
				leave(why, name, 1)
			} else {
				kept = append(kept, s)
			}
		}
	}
	for _, why := range slices.Sorted(maps.Keys(out)) {
		report.leaveOutMany(why, strings.Join(out[why], ", "), count[why])
	}
	if story != nil && len(count) > 0 {
		report.note("the story is taken from the numbered files of %s, the most text of one series; "+
			"to read others, name their folder or the files", folderName(story.folder))
	}
	return kept
}

func folderName(folder string) string {
	if folder == "." {
		return "the folder itself"
	}
	return folder
}

// String names the files: the one, or the folder with their number.
func (g *fileGroup) String(root string, files []source) string {
	if len(files) == 1 {
		name, _ := filepath.Rel(root, files[0].path)
		return name
	}
	return fmt.Sprintf("%s (%s)", path.Join(g.folder, "*"+filepath.Ext(g.files[0].path)),
		annotator.Quantity(len(files), "file"))
}

// outside says why a group is not of the story; "" if it is. Without a series only a book made of the texts is left
// out.
func (g *fileGroup) outside(story *fileGroup, all []*fileGroup) string {
	switch {
	case story == nil && !g.files[0].isText():
		for _, other := range all {
			if other.files[0].isText() && other.words().share(g.words()) >= isCopy {
				return builtBook
			}
		}
		return ""
	case story == nil, g == story:
		return ""
	case !g.files[0].isText():
		return builtBook
	case g.words().share(story.words()) >= isCopy:
		return otherVersion
	case g.isSeries() && g.words().otherLanguage(story.words()):
		return otherLanguage
	case g.continues(story):
		return ""
	}
	return besideSeries
}

// continues reports whether a group is a further part of the story. Its files have numbers behind the same label, and
// are about as long. Its folder is as deep.
func (g *fileGroup) continues(story *fileGroup) bool {
	n, of := g.numbered(), story.numbered()
	return 2*n >= len(g.files) && n > 0 && g.depth() == story.depth() && g.label() == story.label() &&
		3*g.size/int64(n) >= story.size/int64(of)
}

// label is the one that most numbered files have.
func (g *fileGroup) label() string {
	count := map[string]int{}
	for _, s := range g.files {
		if _, ok := numberOf(s.path); ok {
			count[label(s.path)]++
		}
	}
	best := ""
	for _, name := range slices.Sorted(maps.Keys(count)) {
		if count[name] > count[best] {
			best = name
		}
	}
	return best
}

// besides says why a file in a group of the story is not of it; "" if it is. It may be another version of a file with
// the same number, or notes on it. Without a number it may hold lists.
func (g *fileGroup) besides(s source, story *fileGroup) string {
	n, ok := numberOf(s.path)
	switch {
	case story == nil:
		return ""
	case !ok && placeOf(s.path) == 0 && proseShare(headText(s)) < story.prose/2:
		return besideSeries
	case !ok:
		return ""
	}
	mine := g.names[skeleton(s.path)]
	for _, other := range g.numbers[n] {
		theirs := g.names[skeleton(other.path)]
		beside := filepath.Dir(other.path) == filepath.Dir(s.path)
		weaker := beside && (mine < theirs || mine == theirs && len(s.path) > len(other.path)) ||
			!beside && compareFiles(s, other) < 0
		switch {
		case weaker && g.sampleOf(s).share(g.sampleOf(other)) >= isCopy:
			return otherVersion
		case weaker && beside && mine > 2 && strings.HasPrefix(stem(s.path), stem(other.path)):
			return besideSeries
		}
	}
	return ""
}

// isCopy is the share of a text's phrases that another must have, to be a version of it.
const isCopy = 0.25

// wordSample is what is remembered of the words of some texts: their most frequent ones, and one phrase in eight.
type wordSample struct {
	counts  map[string]int
	phrases map[uint64]bool
}

var phraseSeed = maphash.MakeSeed()

// phraseWords is the length of a phrase. Sentences of different stories rarely share one.
const phraseWords = 6

func (g *fileGroup) words() *wordSample {
	if g.sample == nil {
		g.sample = sampleOf(g.files...)
	}
	return g.sample
}

// sampleOf is the sample of one file of the group.
func (g *fileGroup) sampleOf(s source) *wordSample {
	if g.samples[s.path] == nil {
		g.samples[s.path] = sampleOf(s)
	}
	return g.samples[s.path]
}

// sampleOf reads the beginnings of files. One that cannot be read has no words.
func sampleOf(files ...source) *wordSample {
	w := &wordSample{map[string]int{}, map[uint64]bool{}}
	for _, s := range files {
		w.add(headText(s))
	}
	return w
}

// headText is the beginning of a file as words between spaces, of a book in an archive that of its pages.
func headText(s source) string {
	if s.isText() {
		head, err := readHead(s.path)
		if err != nil {
			return ""
		}
		return anyTag.ReplaceAllString(decodeHead(head, ""), " ")
	}
	var text bytes.Buffer
	_ = s.inArchive(func(a *archive) {
		for _, name := range slices.Sorted(maps.Keys(a.files)) {
			if !strings.Contains(path.Ext(name), "ht") && name != "word/document.xml" && name != "content.xml" {
				continue
			}
			page, err := a.files[name].Open()
			if err != nil {
				continue
			}
			_, _ = io.CopyN(&text, page, headSize)
			_ = page.Close()
			text.WriteByte('\n')
		}
	})
	return anyTag.ReplaceAllString(text.String(), " ")
}

// add counts the words of a text; of scripts without spaces, each sign is one.
func (w *wordSample) add(text string) {
	var phrase []string
	for field := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) }) {
		for _, word := range signs(field) {
			w.counts[word]++
			phrase = append(phrase, word)
			if len(phrase) < phraseWords {
				continue
			}
			if h := maphash.String(phraseSeed, strings.Join(phrase[len(phrase)-phraseWords:], " ")); h%8 == 0 {
				w.phrases[h] = true
			}
			if len(phrase) > 1<<10 {
				phrase = slices.Clone(phrase[len(phrase)-phraseWords:])
			}
		}
	}
}

// signs returns the words of a run of letters.
func signs(run string) []string {
	if strings.ContainsFunc(run, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai)
	}) {
		return strings.Split(run, "")
	}
	return []string{run}
}

// share is the share of the phrases that another text has, too.
func (w *wordSample) share(other *wordSample) float64 {
	same := 0
	for phrase := range w.phrases {
		if other.phrases[phrase] {
			same++
		}
	}
	return float64(same) / math.Max(float64(len(w.phrases)), 8)
}

// otherLanguage reports whether hardly any of the words occur in another text. In one language most do.
func (w *wordSample) otherLanguage(other *wordSample) bool {
	all, known := 0, 0
	for word, n := range w.counts {
		all += n
		if other.counts[word] > 0 {
			known += n
		}
	}
	return 4*known < all
}

// listLine is a line that is a heading, an item of a list, a row of a table, or a field with a name.
var listLine = regexp.MustCompile(`^(?:[#|>]|[-*+•]\s|\d+[.)]\s|\*\*[^*]+\*\*)`)

// proseShare is the share of a text that is in paragraphs which end as sentences do. Plans and notes are lists,
// tables and headings.
func proseShare(text string) float64 {
	all, prose, paragraph, last := 0, 0, 0, ""
	end := func() {
		r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(last, "*_ "))
		if unicode.In(r, unicode.Sentence_Terminal, unicode.Quotation_Mark) || r == '…' || r == ')' || r == '—' {
			prose += paragraph
		}
		paragraph, last = 0, ""
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		all += len(line)
		switch {
		case line == "":
			end()
		case listLine.MatchString(line):
			end()
		default:
			paragraph, last = paragraph+len(line), line
		}
	}
	end()
	return float64(prose) / math.Max(float64(all), 1)
}
