package offline

import (
	"regexp"
	"strings"
	"unicode"

	"annotator/model/chatwire"
)

// maxQuote is the size limit of a quotation, in bytes.
const maxQuote = 300

// bestSentence returns the most informative sentence about a name, cut if it is long, and the index of its text.
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

// Phrases after a name that define it, and phrases that may.
var (
	apposition = regexp.MustCompile(`^(, (an?|the|who|whose|which|our|his|her)| (is|was) (an?|the|called)|` +
		` were the| had been a) `)
	copula = regexp.MustCompile(`^ (is|was|were) `)
)

// informative scores how well the sentence of a mention describes the named thing.
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

// definition turns a quotation into a definition: one line, without a quotation mark that only opens or closes it.
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

// clip returns the sentence. If it is longer than maxQuote, it returns the words around the mention.
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

// wordBefore returns the start of the first word after the first blank of body[from:to], or to if there is none.
func wordBefore(body string, from, to int) int {
	from = chatwire.RuneStart(body, from)
	cut := strings.IndexFunc(body[from:to], unicode.IsSpace)
	if cut < 0 {
		return to
	}
	rest := strings.TrimLeftFunc(body[from+cut:to], unicode.IsSpace)
	return to - len(rest)
}
