package offline

import (
	"regexp"
	"strings"
	"unicode"

	"annotator/model/chatwire"
)

// maxQuote bounds a quotation, in bytes.
const maxQuote = 300

// bestSentence returns the most informative sentence about a name, verbatim or cut around it, and its text's index.
func (r *reader) bestSentence(among []mention) (text int, quote string) {
	best, score := among[0], -1<<30
	for i, m := range among {
		if s := r.informative(m) - min(i, 5); s > score {
			best, score = m, s
		}
	}
	t := r.texts[best.text]
	return best.text, t.in(clip(t.body, t.sentences[best.sentence], best.span))
}

// What says what is named, right after the name, and what may do so.
var (
	apposition = regexp.MustCompile(`^(, (an?|the|who|whose|which|our|his|her)| (is|was) (an?|the|called)|` +
		` were the| had been a) `)
	copula = regexp.MustCompile(`^ (is|was|were) `)
)

// informative scores how much the sentence of a mention says about what is named.
func (r *reader) informative(m mention) int {
	t := r.texts[m.text]
	sentence := t.sentences[m.sentence]
	after, before := t.body[m.end:sentence.end], t.body[sentence.start:m.start]
	score := 0
	switch {
	case apposition.MatchString(after):
		score += 14
	case copula.MatchString(after):
		score += 4
	}
	if m.hi-m.lo > 1 {
		score += 3
	}
	if endsWithAny(before, " named ", " called ", " the name of ", " known as ") {
		score += 12
	}
	switch length := sentence.end - sentence.start; {
	case length < 30:
		score -= 12
	case length > maxQuote:
		score -= 8
	}
	if strings.HasSuffix(strings.TrimRight(t.in(sentence), `"”’' `), "?") {
		score -= 6
	}
	if strings.ContainsAny(t.in(m.span), "\n") {
		score -= 10
	}
	if strings.ContainsAny(t.in(sentence), "\"“”«»") {
		score -= 6
	}
	return score
}

// definition makes a definition of a quotation: one line, without quotation marks where they only open or close it.
func definition(quote string) string {
	const marks = `"“”«»`
	line := collapse(quote)
	if bare := strings.TrimSpace(strings.Trim(line, marks)); !strings.ContainsAny(bare, marks) && bare != "" {
		return bare
	}
	return line
}

func endsWithAny(s string, suffixes ...string) bool {
	for _, p := range suffixes {
		if strings.HasSuffix(s, p) {
			return true
		}
	}
	return false
}

// clip returns the sentence, or where it is longer than maxQuote the part of it around the mention, on word boundaries.
func clip(body string, sentence, mention span) span {
	if sentence.end-sentence.start <= maxQuote {
		return sentence
	}
	s := sentence
	if mention.end-s.start > maxQuote {
		s.start = wordBefore(body, max(s.start, mention.start-maxQuote/2), mention.start)
	}
	if s.end-s.start > maxQuote {
		s.end = s.start + maxQuote
		s.end = max(mention.end, s.start+strings.LastIndexFunc(body[s.start:chatwire.RuneStart(body, s.end)],
			unicode.IsSpace))
	}
	return s
}

// wordBefore returns where the first word after the first blank of body[from:to] starts, to where there is none.
func wordBefore(body string, from, to int) int {
	from = chatwire.RuneStart(body, from)
	cut := strings.IndexFunc(body[from:to], unicode.IsSpace)
	if cut < 0 {
		return to
	}
	rest := strings.TrimLeftFunc(body[from+cut:to], unicode.IsSpace)
	return to - len(rest)
}
