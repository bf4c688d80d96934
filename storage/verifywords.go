package storage

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"annotator/internal/sqlite"
)

// scenesWith identifies the scenes that have a word: how many there are, the sum of their numbers and that of the
// squares.
type scenesWith struct{ count, sum, squares int64 }

func (w scenesWith) with(n int64) scenesWith {
	return scenesWith{w.count + 1, w.sum + n, w.squares + n*n}
}

// anySize is the number of words of a scene with letters of which it is not known how FTS5 takes them.
const anySize = -1

// known are the letters of common scripts that every version of FTS5's tokenizer takes for parts of words.
var known = &unicode.RangeTable{
	R16: []unicode.Range16{
		// ASCII, and the micro sign
		{'\'', '\'', 1},
		{'-', '-', 1},
		{'0', '9', 1},
		{'a', 'z', 1},
		{0xb5, 0xb5, 1},
		// Latin, and marks
		{0xc0, 0x23f, 1},
		{0x300, 0x36f, 1},
		// Greek
		{0x386, 0x386, 1},
		{0x388, 0x3ce, 1},
		{0x3d0, 0x3d1, 1},
		{0x3d5, 0x3d6, 1},
		{0x3f0, 0x3f1, 1},
		{0x3f5, 0x3f5, 1},
		// Cyrillic, Hebrew, Arabic, Devanagari, Thai
		{0x400, 0x523, 1},
		{0x5d0, 0x5ea, 1},
		{0x621, 0x652, 1},
		{0x905, 0x94d, 1},
		{0xe01, 0xe3a, 1},
		// Hangul, kana
		{0x1100, 0x11a2, 1},
		{0x2019, 0x2019, 1},
		{0x3041, 0x3096, 1},
		{0x3099, 0x309a, 1},
		{0x30a1, 0x30fa, 1},
		// Han, Hangul
		{0x3400, 0x4db5, 1},
		{0x4e00, 0x9fcb, 1},
		{0xac00, 0xd7a3, 1},
	},
	LatinOffset: 5,
}

// isUnknown reports whether a word has other letters.
func isUnknown(word string) bool {
	return strings.ContainsFunc(word, func(r rune) bool { return !unicode.Is(known, r) })
}

// foldWord returns the form of a word by which those are equal that FTS5 takes for one.
func foldWord(word string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for other := unicode.SimpleFold(r); other != r; other = unicode.SimpleFold(other) {
			if !unicode.IsUpper(other) && (other < least || unicode.IsUpper(least)) {
				least = other
			}
		}
		return least
	}, word)
}

// verifyWords compares the index of words with the posts of the scenes. It compares the scenes that have each word, and
// the number of words of each scene. If the index lacks a word of a scene, a later name with this word is not found
// there.
func (v *verifier) verifyWords(ctx context.Context, f *Finding) error {
	if v.source.Finder == nil {
		f.Unchecked = "the words, since the posts were not read"
		return nil
	}
	read, err := collect(ctx, v.q, ScanValue[int], `SELECT n FROM scene WHERE mentioned = 1`)
	if err != nil {
		return err
	}
	words, sizes, find := map[string]scenesWith{}, map[int]int{}, v.source.Finder(nil)
	looked := map[int]bool{}
	for _, n := range read {
		looked[n] = true
	}
	for scene, err := range v.scenes(ctx) {
		if err != nil {
			return err
		}
		if !looked[scene.N] {
			continue
		}
		found, n := find(scene).Words, int64(scene.N)
		sizes[scene.N] = len(found)
		if slices.ContainsFunc(found, isUnknown) {
			sizes[scene.N] = anySize
		}
		found = slices.DeleteFunc(found, isUnknown)
		for i := range found {
			found[i] = foldWord(found[i])
		}
		slices.Sort(found)
		for _, word := range slices.Compact(found) {
			words[word] = words[word].with(n)
		}
	}
	if err := v.verifySizes(ctx, f, sizes); err != nil {
		return err
	}
	found := map[string]scenesWith{}
	err = sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var word string
		var n int64
		if err := rows.Scan(&word, &n); err != nil {
			return err
		}
		found[foldWord(word)] = found[foldWord(word)].with(n)
		return nil
	}, `SELECT term, doc FROM scene_word_term`)
	for _, word := range slices.Sorted(maps.Keys(words)) {
		if found[word] != words[word] {
			f.add(fmt.Sprintf("the word %.40q is looked up in other scenes than those that have it", word))
		}
	}
	return err
}

// verifySizes compares how many words the index has of each scene.
func (v *verifier) verifySizes(ctx context.Context, f *Finding, sizes map[int]int) error {
	err := sqlite.Each(ctx, v.q, func(rows *sql.Rows) error {
		var n int
		var size []byte
		if err := rows.Scan(&n, &size); err != nil {
			return err
		}
		want, known := sizes[n]
		delete(sizes, n)
		if !known || want != anySize && decodeSize(size) != want {
			f.add(fmt.Sprintf("scene %d is looked up by other words than those of its posts", n))
		}
		return nil
	}, `SELECT id, sz FROM scene_word_docsize ORDER BY id`)
	for _, n := range slices.Sorted(maps.Keys(sizes)) {
		f.add(fmt.Sprintf("the words of scene %d are not in the index", n))
	}
	return err
}

// decodeSize reads a number as FTS5 stores it: seven bits a byte, the highest first, of which all but the last have the
// eighth bit set.
func decodeSize(encoded []byte) (n int) {
	for _, b := range encoded {
		n = n<<7 | int(b&0x7f)
	}
	return n
}
