package scripted

import "strings"

// Candidate is an entry that the curator is asked about.
type Candidate struct {
	Entry   int64
	Term    string  // as the question has it: escaped
	Similar []int64 // ids of the entries that may be the same thing, best first
}

// Candidates returns the entries that a question puts to the curator; none where it asks for something else.
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

// Decide answers a question to the curator with the decision on each candidate: the fields of its object, without the two that
// identify the entry. Nil leaves a candidate out. An answer without decisions is text, since an empty reply is a fault.
func Decide(question string, decide func(Candidate) map[string]any) Reply {
	var objects []map[string]any
	for _, c := range Candidates(question) {
		if object := decide(c); object != nil {
			object["entry"], object["term"] = c.Entry, c.Term
			objects = append(objects, object)
		}
	}
	if len(objects) == 0 {
		return Reply{Text: "I decide on none of them."}
	}
	return Reply{Text: mustJSON(objects)}
}

func confirm(Candidate) map[string]any {
	return map[string]any{"decision": "CONFIRM", "reason": "It is named in the story."}
}
