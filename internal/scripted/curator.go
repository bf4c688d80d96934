package scripted

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"strings"
)

// Candidate is an entry in a question to the curator.
type Candidate struct {
	Entry   int64
	Term    string  // as the question has it: escaped
	Similar []int64 // ids of possible duplicates, best first
}

// Candidates returns the entries in a question to the curator; none if the request has no such question.
func Candidates(question string) (list []Candidate) {
	parts := strings.Split(question, "\n<candidate ")
	for _, part := range parts[1:] {
		var c Candidate
		for i, tag := range strings.Split(part, "<entry")[1:] {
			switch id := attribute(tag, "id"); i {
			case 0:
				_, term, _ := strings.Cut(tag, ` term="`)
				c.Entry = id
				c.Term, _, _ = strings.Cut(term, `"`)
			default:
				c.Similar = append(c.Similar, id)
			}
		}
		list = append(list, c)
	}
	return list
}

// Decide answers a question to the curator with the decision on each candidate: the fields of its object, without the
// two that identify the entry. A nil decision omits a candidate. Without any decision the answer is text, since an
// empty reply is a fault.
func Decide(question string, decide func(Candidate) map[string]any) Reply {
	var objects []map[string]any
	for _, c := range Candidates(question) {
		if object := maps.Clone(decide(c)); object != nil { // a script may give the same decision to several requests
			object["entry"], object["term"] = c.Entry, c.Term
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		return Reply{Text: BesideDecisions(question) + "I decide on none of them."}
	}
	return Reply{Text: BesideDecisions(question) + mustJSON(objects)}
}

// BesideDecisions returns what a question asks for apart from decisions: summaries and present statements. It says that
// no state has ended, and that no entry is redundant.
func BesideDecisions(question string) string {
	text := Recap(question) + Present(question)
	if strings.Contains(question, "\n<states now=") {
		text += "<ended/>\n"
	}
	if strings.Contains(question, "\n<redundant>\n") {
		text += "<drop/>\n"
	}
	return text
}

var outdated = regexp.MustCompile(`(?s)\n<outdated>\n(.*?)</outdated>`)

// Present returns the present statements that a question asks for; nothing if it asks for none.
func Present(question string) string {
	var b strings.Builder
	if asked := outdated.FindStringSubmatch(question); asked != nil {
		for _, tag := range strings.Split(asked[1], "<entry")[1:] {
			fmt.Fprintf(&b, "<present id=\"%d\">It is as its %d lines say.</present>\n", attribute(tag, "id"),
				strings.Count(tag, "\n"))
		}
	}
	return b.String()
}

var (
	endedThreads  = regexp.MustCompile(`These threads have ended: ([\d, ]+)\.`)
	wantedThreads = regexp.MustCompile(`(?:summary so far: ([\d, ]+)\. )?For each of th(?:em|ose) write`)
)

// Recap returns summaries of ended threads and the story so far; nothing if a question asks for none.
func Recap(question string) string {
	ended := endedThreads.FindStringSubmatch(question)
	if ended == nil {
		return ""
	}
	var b strings.Builder
	if wanted := wantedThreads.FindStringSubmatch(question); wanted != nil {
		for id := range strings.SplitSeq(cmp.Or(wanted[1], ended[1]), ", ") {
			fmt.Fprintf(&b, "<thread id=\"%s\">Thread %[1]s goes by.</thread>\n", id)
		}
	}
	fmt.Fprintf(&b, "<cumulative>The story has come to the end of thread %s.</cumulative>\n",
		ended[1][strings.LastIndex(ended[1], " ")+1:])
	return b.String()
}

func confirm(Candidate) map[string]any {
	return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
}
