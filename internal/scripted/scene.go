package scripted

import (
	"html"
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator/model/chatwire"
)

const (
	sceneTag = `<scene number="`
	postTag  = "<post "
)

// quoteBytes is the length at which a sentence is cut.
const quoteBytes = 160

// scene is a scene of a user message.
type scene struct {
	number int64
	posts  []post
}

type post struct {
	id   int64
	body string // unescaped
}

// quote is a passage of a post, verbatim.
type quote struct {
	post int64
	text string
}

// bears returns the passage as the quotation of a fact, in the form of tools.
func (q quote) bears(fact string) []map[string]any {
	return []map[string]any{{"text": fact, "quote": q.text, "post_id": q.post}}
}

// parseScene reads the last scene in a text, and ignores unknown content.
func parseScene(text string) scene {
	text = text[max(strings.LastIndex(text, sceneTag), 0):]
	text, _, _ = strings.Cut(text, "</scene>")
	s := scene{number: attribute(text, "number")}
	_, rest, ok := strings.Cut(text, postTag)
	for ok {
		var element string
		element, rest, ok = strings.Cut(rest, postTag)
		tag, body, _ := strings.Cut(element, ">")
		body, _, _ = strings.Cut(body, "</post>")
		s.posts = append(s.posts, post{id: attribute(" "+tag, "id"), body: html.UnescapeString(body)})
	}
	return s
}

// quotes returns the sentences of all posts, in order.
func (s *scene) quotes() []quote {
	var quotes []quote
	for _, p := range s.posts {
		for sentence := range sentences(p.body) {
			quotes = append(quotes, quote{post: p.id, text: sentence})
		}
	}
	return quotes
}

// sentences yields the texts between full stops and line ends. It cuts long ones, and trims white space.
func sentences(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			end := len(text)
			if i := strings.IndexAny(text, ".!?\n"); i >= 0 {
				end = i + 1
			}
			end = chatwire.RuneStart(text, min(end, quoteBytes))
			sentence := strings.TrimSpace(text[:end])
			text = text[end:]
			if strings.ContainsFunc(sentence, unicode.IsLetter) && !yield(sentence) {
				return
			}
		}
	}
}

// longestWord returns the first of the longest words of a text, capitalised; "Term" if there is none.
func longestWord(text string) string {
	longest := ""
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) }) {
		if utf8.RuneCountInString(word) > utf8.RuneCountInString(longest) {
			longest = word
		}
	}
	if longest == "" {
		return "Term"
	}
	first, size := utf8.DecodeRuneInString(longest)
	return string(unicode.ToUpper(first)) + longest[size:]
}
