package offline

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator/codex"
)

// Limits of the facts of an entry.
const (
	maxFacts   = 5   // of an entry
	firstFacts = 3   // of a new entry
	maxLength  = 320 // of a sentence, in bytes; a longer one is chosen only if there is no other
)

// Scores of a sentence about a name. One that tells who or what it is has at least definingScore. One that has less
// than leastScore is chosen only if there are few others.
const (
	definingScore = 9
	toldScore     = 15 // of a sentence that defines a name well enough for an entry if it is met once
	leastScore    = 0
	fillScore     = -3 // of one that is chosen while the entry has fewer than firstFacts
	spokenPenalty = 6  // narration comes before address
)

// sentence is a sentence about a name.
type sentence struct {
	text  string // as a fact
	quote string
	post  int64
	score int
	order int
}

func (s *sentence) defines() bool { return s.score >= definingScore }

// sentences returns the sentences that have one of some names, the best first.
func (b *book) sentences(names []*name, kind string) []sentence {
	var all []sentence
	seen := map[[2]int]bool{}
	for _, n := range names {
		for _, p := range n.places {
			key := [2]int{p.text, p.sentence}
			if !seen[key] {
				seen[key] = true
				all = append(all, b.sentence(p, kind))
			}
		}
	}
	slices.SortStableFunc(all, func(x, y sentence) int {
		return cmp.Or(cmp.Compare(y.score, x.score), cmp.Compare(x.order, y.order))
	})
	return all
}

// sentence returns the sentence of a mention.
func (b *book) sentence(p place, kind string) sentence {
	t := b.texts[p.text]
	s := t.sentences[p.sentence]
	quote, speech := t.in(s), spoken(t.body[:p.start])
	score := b.lex.informative(quote, p.start-s.start, p.end-s.start, kind, speech)
	if speech && strings.HasSuffix(t.body[:p.start], ", ") && strings.HasPrefix(t.body[p.end:], ",") &&
		!introduces.MatchString(t.body[s.start:p.start]) {
		score -= spokenPenalty * 3 // it may be an address
	}
	if speech && !strings.ContainsAny(quote, quotationMarks) {
		score -= spokenPenalty
	}
	if utf8.RuneCountInString(quote) > codex.MaxQuote {
		quote = t.in(clip(t.body, s, p.span))
		score -= 20
	}
	return sentence{definition(quote), quote, b.posts[p.text], score, p.text<<20 + p.sentence}
}

// spoken reports whether a text ends inside a quotation.
func spoken(before string) bool {
	if cut := strings.LastIndex(before, "\n\n"); cut >= 0 {
		before = before[cut:]
	}
	if strings.Count(before, `"`)%2 == 1 {
		return true
	}
	opens := max(strings.LastIndex(before, "“"), strings.LastIndex(before, "«"))
	closes := max(strings.LastIndex(before, "”"), strings.LastIndex(before, "»"))
	return opens > closes
}

// What stands behind a name, or before it, where a sentence tells who or what it is. The last group has the words of a
// noun, as far as the next preposition. Of several articles before a name, the last one begins them.
const (
	articles = `(?:[Aa]n?|[Tt]he|one of the|[Oo]ur|[Hh]is|[Hh]er|[Ii]ts|[Tt]heir|[Mm]y|[Yy]our|une?|le|la|ein|eine|` +
		`der|die|das|el|il)`
	nounWords = `((?: [\p{Ll}’-]+,?){1,6})`
	ofPlace   = `(?: (?:of|from|at|in) (?:the )?[\p{L}-]+)?(?:,| named| called|,? by name| of the name of) $`
	ofName    = `(?: of (?:the )?\p{Lu}[\p{L}’-]*(?: \p{Lu}[\p{L}’-]*)*)?`
	toBe      = `(?:is|was|were|had been|has been|became|(?:seem|appear)(?:s|ed) to be|est|était|war|ist|era|è|es|` +
		`был|была)`
	fullName = `\p{Lu}[\p{L}.-]*(?: (?:de |von |of )?\p{Lu}[\p{L}-]*)*`
	ownerOf  = `(?:` + fullName + `|(?:[Tt]he|[Tt]h[ai][st]) (?:[\p{Ll}-]+ ){0,2}[\p{Ll}-]+)` +
		`(?:’s|'s|’|') (?:[\p{Ll}-]+ )?`
)

var (
	copula = regexp.MustCompile(`^(?:, (?:who|which))?` + ofName + ` ` + toBe +
		`(?: once| now| then| also| still| indeed| only| formerly| really)?(?: ` + articles + `| —|)` + nounWords)
	anyCopula  = regexp.MustCompile(`^` + ofName + ` ` + toBe + ` (\p{L}+)`)
	ownAfter   = regexp.MustCompile(`^(?:,|,? who)?(?: ` + toBe + `)? (?:my|your|our) `)
	ownBefore  = regexp.MustCompile(`\b(?:[Mm]y|[Yy]our|[Oo]ur)(?: [\p{Ll}-]+){1,3},? $`)
	apposition = regexp.MustCompile(`^(?:,| \(|—) ?(?:once |formerly )?(?:an?|the|one of the|his|her|their|une?|le|` +
		`la|ein|eine|der|die|das|el|il)` + nounWords)
	relation   = regexp.MustCompile(`^,()((?: [\p{Ll}-]+){1,2})(?: (?:of|at|to|in) |[,.;])`)
	kinOf      = regexp.MustCompile(`^(?:,| ` + toBe + `) ` + ownerOf + kinNouns)
	kinBefore  = regexp.MustCompile(ownerOf + kinNouns + `,? $`)
	ofAfter    = regexp.MustCompile(`^, of (?:the (?:[\p{Ll}-]+ ){0,4})?\p{Lu}`)
	introduces = regexp.MustCompile(`^[“‘"]?(?:I am|My name is|This is)` +
		`(?: the| (?:my|the|his|her)(?: [\p{Ll}’'-]+){1,5},)? $`)
	goesOn     = regexp.MustCompile(`^, \p{Ll}`)
	aimed      = regexp.MustCompile(`\b(?:to|from|by|with|in|at|on|for)(?: the)? $`)
	anyNoun    = regexp.MustCompile(`\b[Aa]n?(?: [\p{Ll}-]+)+, $`)
	kinAfter   = regexp.MustCompile(`^(?:’s|'s) (?:\p{Ll}+ )?` + kinNouns)
	nounBefore = regexp.MustCompile(`(?s)^(?:.*[ “(—])?` + articles + nounWords + ofPlace)
	nounInside = regexp.MustCompile(`(?s)^.*\p{L} (?:an?|the|his|her|my|our|their)` + nounWords + ofPlace)
	roleBefore = regexp.MustCompile(`(?:^|[ “(—])` + articles + `(?: [\p{Ll}-]+){0,2}( [\p{Ll}-]+) $`)
	ofBefore   = regexp.MustCompile(`(?:^|[ “(—])(?:[Tt]he|[Aa]n?)(?: [\p{Ll}-]+){0,2}( [\p{Ll}-]+) of $`)
)

const kinNouns = `(?:(?:grand|step)?(?:father|mother|son|daughter)|brother|sister|wife|husband|widow|uncle|aunt|` +
	`nephew|niece|cousin|friend|betrothed|servant|master|partner|secretary|steward)\b`

// tells returns the noun of what somebody or something is in the words that a pattern finds in a text. It returns none
// if they have none before a preposition.
func (l *lexicon) tells(pattern *regexp.Regexp, text string, nouns []set) string {
	found := pattern.FindStringSubmatch(text)
	if found == nil {
		return ""
	}
	for word := range strings.FieldsSeq(found[len(found)-1]) {
		bare := strings.TrimRight(word, ",")
		noun := bare[strings.LastIndexByte(bare, '-')+1:]
		if slices.ContainsFunc(nouns, func(s set) bool {
			return s[noun] || s["man"] && endsWithAny(noun, workers...)
		}) {
			return noun
		}
		if prepositions[bare] || strings.HasSuffix(word, ",") && endsWithAny(bare, "ing", "ed", "ly") {
			return ""
		}
	}
	return ""
}

// explains returns the noun with which the words before a name end: "the editor of the paper, Marrow" but not "the
// governor spoke bareheaded, Marrow".
func (l *lexicon) explains(pattern *regexp.Regexp, text string, nouns []set) string {
	noun := l.tells(pattern, text, nouns)
	if noun == "" {
		return ""
	}
	rest := strings.TrimLeft(text[strings.LastIndex(text, noun)+len(noun):], ",")
	next, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if next = strings.Trim(next, ","); next == "" || prepositions[next] || next == "named" || next == "called" {
		return noun
	}
	return ""
}

// apposes returns the noun of an apposition behind a name: ", the king’s attorney," but not ", the servant came up".
func (l *lexicon) apposes(after string, nouns []set) string {
	noun := l.tells(apposition, after, nouns)
	if noun == "" {
		return ""
	}
	_, rest, _ := strings.Cut(after, noun)
	next, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	if next == "" || strings.ContainsAny(rest[:1], ",.;:!?—)”’") || prepositions[next] {
		return noun
	}
	return ""
}

// clause reports whether a sentence opens with a clause that a comma ends: "At the name of Franz, the pupil dilated."
func clause(before string) bool {
	first, _, _ := strings.Cut(strings.TrimLeft(before, quotationMarks+"‘ "), " ")
	return prepositions[strings.ToLower(first)] && !strings.Contains(before, ",")
}

// prepositions, conjunctions and denials end the words of a noun.
var prepositions = readWords("about after again and as at away before behind but by down for from here in into never " +
	"no not of off on out over than that there to too under up upon when where which while who whose with without")

// workers are endings of nouns for people, of which the list has those of "man".
var workers = []string{"man", "woman", "master", "mistress", "keeper", "maker", "monger"}

// nouns returns the lists of what something of a kind is.
func (l *lexicon) nouns(kind string) []set {
	switch kind {
	case tagPerson:
		return []set{l.roles}
	case tagPlace:
		return []set{l.places}
	case tagGroup:
		return []set{l.groups}
	case tagThing:
		return []set{l.things, l.vessels}
	}
	return []set{l.roles, l.vessels}
}

// informative scores how well a sentence describes what a name in it, between two offsets, means. In speech a noun that
// begins a sentence may be of somebody else than the one who is addressed: "Your mother, Albert, is old."
func (l *lexicon) informative(sentence string, start, end int, kind string, speech bool) int {
	before, after := sentence[:start], sentence[end:]
	before = before[max(0, runeStart(before, max(0, len(before)-nearby))):]
	nouns, score := l.nouns(kind), 0
	introduced := speech && introduces.MatchString(before) && goesOn.MatchString(after)
	switch {
	case strings.HasSuffix(before, " and ") && strings.HasPrefix(after, " were "): // it tells of several
	case kinOf.MatchString(after):
		score += 20
	case introduced:
		score += 18 + spokenPenalty
	case l.tells(copula, after, nouns) != "" && !acts(after) &&
		(strings.HasPrefix(after, ", wh") || !aimed.MatchString(before)): // "to Marrow, who is": of Marrow
		score += l.weigh(20, copula, after, nouns)
	case l.apposes(after, nouns) != "" && !clause(before) && !listed(before, after):
		score += l.weigh(20, apposition, after, nouns)
	case l.tells(relation, after, nouns) != "" && !clause(before):
		score += l.weigh(20, relation, after, nouns)
	case kinBefore.MatchString(before) && closes(before, after) && !listed(before, after):
		score += 18
	case ofAfter.MatchString(after):
		score += 12
	case l.explains(nounBefore, before, nouns) != "" && closes(before, after) && !listed(before, after) &&
		!addresses(before, after, speech) && (!speech || l.explains(nounInside, before, nouns) != ""):
		score += l.weigh(18, nounBefore, before, nouns)
	case kind != tagPerson && l.tells(ofBefore, before, nouns) != "":
		score += 14
	case l.explains(roleBefore, before, nouns) != "":
		score += l.weigh(12, roleBefore, before, nouns)
	case kinAfter.MatchString(after):
		score += 6
	case l.tells(copula, after, []set{l.roles, l.places, l.groups, l.things, l.vessels}) != "":
		score -= 20 // it tells of a namesake of another kind
	case states(after):
		score += 3
	}
	if !introduced && (ownBefore.MatchString(before) || ownAfter.MatchString(after)) {
		score -= vaguePenalty // of somebody whom the sentence does not name
	}
	if strings.TrimLeft(sentence[:start], "“\"«’ ") == "" {
		score += 5 // the name is the subject
	}
	return score + form(sentence)
}

// states reports whether "was" behind a name begins a statement, not a deed: "was rich", but not "was sitting".
func states(after string) bool { return anyCopula.MatchString(after) && !acts(after) }

// acts reports whether "was" behind a name begins a deed: "was telling the captain".
func acts(after string) bool {
	found := anyCopula.FindStringSubmatch(after)
	return found != nil && (prepositions[found[1]] || endsWithAny(found[1], "ing", "ed"))
}

// listed reports whether a name behind a comma is one of several: "his wife, Marrow, and his daughter".
func listed(before, after string) bool {
	return strings.HasSuffix(before, ", ") && strings.HasPrefix(after, ", and ")
}

// addresses reports whether a name at the end of a clause may be that of the one who is spoken to: "a better assistant,
// Mr. Marrow." An only son, Marrow, is not.
func addresses(before, after string, speech bool) bool {
	return speech && anyNoun.MatchString(before) && after != "" && strings.ContainsAny(after[:1], ",.;:!?") &&
		!kinEnds.MatchString(before)
}

var kinEnds = regexp.MustCompile(`\b` + kinNouns + `, $`)

// weigh lowers the score of a sentence in which a pattern finds a vague noun. It does so less if words describe it: a
// tall old man or a man of honour, but not a man.
func (l *lexicon) weigh(score int, pattern *regexp.Regexp, text string, nouns []set) int {
	noun := l.tells(pattern, text, nouns)
	if !l.vague[noun] {
		return score
	}
	found := pattern.FindStringSubmatch(text)
	before, after, _ := strings.Cut(found[len(found)-1], noun)
	if len(strings.Fields(before)) >= describing || strings.HasPrefix(after, " of") {
		return score - vaguePenalty/3
	}
	return score - vaguePenalty
}

// vaguePenalty is how much less a vague noun tells than an office. It is a third of that behind as many words as
// describing.
const (
	vaguePenalty = 12
	describing   = 2
)

// closes reports whether a name behind a noun and a comma ends there, as one does that explains the noun. Else the
// comma ends a clause: "On seeing her father, Valentine rose."
func closes(before, after string) bool {
	return !strings.HasSuffix(before, ", ") || after == "" || !strings.HasPrefix(after, ", who") &&
		strings.ContainsAny(after[:1], ",.;:!?)") ||
		strings.HasPrefix(after, "”") || strings.HasPrefix(after, "’") || strings.HasPrefix(after, "—")
}

// nearby is how many bytes before a name are looked at.
const nearby = 80

// form scores how well a sentence stands alone.
func form(sentence string) (score int) {
	switch length := len(sentence); {
	case length < 25:
		score -= 25
	case length < 40:
		score -= 12
	case length > maxLength:
		score -= 8
	case length > 220:
		score -= 2
	}
	trimmed := strings.TrimRight(sentence, `"”’»' `)
	switch {
	case strings.HasSuffix(trimmed, "?"):
		score -= 12
	case strings.HasSuffix(trimmed, "!"):
		score -= 6
	case !endsWithAny(trimmed, ".", "…"), strings.Contains(sentence, "?"):
		score -= 14
	}
	if strings.ContainsAny(sentence, quotationMarks) {
		score -= spokenPenalty
	}
	first, _, _ := strings.Cut(strings.TrimLeft(sentence, "“\"«‘ "), " ")
	switch strings.ToLower(strings.Trim(first, ",")) {
	case "but", "and", "then", "so", "yes", "no", "oh", "ah", "well", "why", "now", "for", "or", "nor":
		score -= 4
	case "he", "she", "it", "they", "this", "that", "these", "i", "we", "you":
		score -= 3
	}
	if r, _ := utf8.DecodeRuneInString(strings.TrimLeft(sentence, "“\"«‘— ")); unicode.IsLower(r) {
		score -= 10
	}
	return score
}

// rate scores a fact of an entry as a sentence about one of its names.
func (l *lexicon) rate(fact string, names []string, kind string) int {
	best := form(fact)
	for _, name := range names {
		if at := strings.Index(fact, name); at >= 0 && name != "" {
			best = max(best, l.informative(fact, at, at+len(name), kind, false))
		}
	}
	return best
}

const quotationMarks = `"“”«»`

// definition turns a quotation into a fact: one line, without a quotation mark that only opens or closes it.
func definition(quote string) string {
	line := collapse(quote)
	bare := strings.TrimSpace(strings.Trim(line, quotationMarks))
	if !strings.ContainsAny(bare, quotationMarks) && bare != "" {
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

// clip returns the words of a sentence around a mention, if the sentence is longer than a quotation may be.
func clip(body string, sentence, mention span) span {
	s := sentence
	if mention.end-s.start > maxLength {
		s.start = wordBefore(body, max(s.start, mention.start-maxLength/2), mention.start)
	}
	if s.end-s.start > maxLength {
		end := strings.LastIndexFunc(body[s.start:runeStart(body, s.start+maxLength)], unicode.IsSpace)
		s.end = max(mention.end, s.start+end)
	}
	return s
}

// wordBefore returns the start of the first word after the first blank of body[from:to], or to if there is none.
func wordBefore(body string, from, to int) int {
	from = runeStart(body, from)
	cut := strings.IndexFunc(body[from:to], unicode.IsSpace)
	if cut < 0 {
		return to
	}
	rest := strings.TrimLeftFunc(body[from+cut:to], unicode.IsSpace)
	return to - len(rest)
}
