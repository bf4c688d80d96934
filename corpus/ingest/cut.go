package ingest

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// sceneBreak is the line for a break between scenes that are joined.
const sceneBreak = "* * *"

// piece is some paragraphs that stay together, with an estimate of their tokens.
type piece struct {
	paragraphs []block
	tokens     int
}

func (p *piece) add(paragraph block) {
	p.paragraphs = append(p.paragraphs, paragraph)
	p.tokens += estimate(paragraph.text)
}

// join takes the next piece in, with the break between them as a line.
func (p *piece) join(next piece) {
	p.paragraphs = append(append(p.paragraphs, block{text: sceneBreak}), next.paragraphs...)
	p.tokens += next.tokens
}

// cutScenes cuts a chapter into scenes of about target tokens: at its own breaks, else between paragraphs. Only a
// paragraph longer than two scenes is cut between its sentences. Parts shorter than a quarter are joined to a
// neighbour. The texts of the result hold every word of the blocks, in order.
//
// A scene is a block that says where its first paragraph is from.
func cutScenes(blocks []block, target int) []block {
	var scenes []block
	for _, part := range joinShort(splitAtBreaks(blocks, target), target) {
		for _, paragraphs := range splitEvenly(part, target) {
			if paragraphs = trimBreaks(paragraphs); len(paragraphs) > 0 {
				scene := paragraphs[0]
				scene.text = joinParagraphs(paragraphs)
				scenes = append(scenes, scene)
			}
		}
	}
	return scenes
}

func joinParagraphs(paragraphs []block) string {
	texts := make([]string, len(paragraphs))
	for i, p := range paragraphs {
		texts[i] = p.text
	}
	return strings.Join(texts, "\n\n")
}

func splitAtBreaks(blocks []block, target int) []piece {
	var pieces []piece
	var open piece
	for _, b := range append(slices.Clip(blocks), block{}) {
		if !b.isBreak() {
			for _, text := range splitParagraph(b.text, target) {
				open.add(block{text, b.doc, b.offset})
			}
			continue
		}
		if len(open.paragraphs) > 0 {
			pieces = append(pieces, open)
		}
		open = piece{}
	}
	return pieces
}

func joinShort(pieces []piece, target int) []piece {
	short := target / 4
	var joined []piece
	for _, next := range pieces {
		if len(joined) == 0 {
			joined = append(joined, next)
			continue
		}
		last := &joined[len(joined)-1]
		if last.tokens < short || next.tokens < short && last.tokens+next.tokens <= target+target/2 {
			last.join(next)
			continue
		}
		joined = append(joined, next)
	}
	if n := len(joined); n > 1 && joined[n-1].tokens < short {
		joined[n-2].join(joined[n-1])
		joined = joined[:n-1]
	}
	return joined
}

// splitEvenly parts a long piece into as many as come nearest to the target, all of about one length: no small rest
// remains.
func splitEvenly(p piece, target int) [][]block {
	parts := max(1, (p.tokens+target/2)/target)
	var split [][]block
	start, done := 0, 0
	for i, paragraph := range p.paragraphs {
		tokens := estimate(paragraph.text)
		if i > start && (done+tokens/2)*parts >= p.tokens*(len(split)+1) && len(split)+1 < parts {
			split = append(split, p.paragraphs[start:i])
			start = i
		}
		done += tokens
	}
	return append(split, p.paragraphs[start:])
}

// trimBreaks drops break lines from the ends of a scene.
func trimBreaks(paragraphs []block) []block {
	for len(paragraphs) > 0 && paragraphs[0].text == sceneBreak {
		paragraphs = paragraphs[1:]
	}
	for len(paragraphs) > 0 && paragraphs[len(paragraphs)-1].text == sceneBreak {
		paragraphs = paragraphs[:len(paragraphs)-1]
	}
	return paragraphs
}

// splitParagraph parts a paragraph of more than two scenes: behind a sentence where there is one in reach, else between
// words, else anywhere.
func splitParagraph(text string, target int) []string {
	total := estimate(text)
	if total <= 2*target {
		return []string{text}
	}
	size := total / ((total + target - 1) / target) * 4
	var parts []string
	start, weight, sentence, word := 0, 0, 0, 0
	for i, r := range text {
		if weight >= size {
			cut := i
			for _, better := range []int{word, sentence} {
				if better > start+(i-start)/2 {
					cut = better
				}
			}
			parts = append(parts, text[start:cut])
			weight = 4 * estimate(text[cut:i])
			start = cut
		}
		weight += weigh(r)
		if next := i + utf8.RuneLen(r); unicode.IsSpace(r) {
			word = next
			if endsSentence(text[start:i]) {
				sentence = next
			}
		} else if isWide(r) && unicode.Is(unicode.STerm, r) {
			sentence = next
		}
	}
	parts = append(parts, text[start:])
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return parts
}

// endsSentence reports whether a text ends a sentence of any script, closing quotation marks and brackets aside.
func endsSentence(text string) bool {
	text = strings.TrimRightFunc(text, func(r rune) bool {
		return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf)
	})
	last, _ := utf8.DecodeLastRuneInString(text)
	return last == '…' || unicode.Is(unicode.STerm, last)
}

// estimate guesses the tokens of a text: a quarter of its characters, and one for each character of a script that is
// written without spaces.
func estimate(text string) int {
	quarters := 0
	for _, r := range text {
		quarters += weigh(r)
	}
	return (quarters + 3) / 4
}

// weigh is a character's share in quarters of a token.
func weigh(r rune) int {
	if isWide(r) {
		return 4
	}
	return 1
}

// isWide knows, roughly, the scripts without spaces between words: Thai to Myanmar, Khmer, and all of East Asia.
func isWide(r rune) bool {
	return r >= 0x2E80 || r >= 0x0E00 && r <= 0x109F || r >= 0x1780 && r <= 0x17FF
}
