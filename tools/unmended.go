package tools

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
)

// Unmended returns the calls among rows of the journal that were to change the glossary and failed, and that no later
// call corrected. A later call corrects one if it changed the same entry or one of the same name. It corrects a call
// that names none if it is of the same turn.
func Unmended(rows []annotator.Trace) []annotator.FailedCall {
	type failed struct {
		annotator.FailedCall
		about map[string]bool
	}
	var open []failed
	calls := map[string]*annotator.Trace{} // by id
	for i := range rows {
		row := &rows[i]
		call := row // an update is its own result
		switch row.Kind {
		case annotator.TraceCall:
			calls[row.CallID] = row
			continue
		case annotator.TraceResult:
			if call = calls[row.CallID]; call == nil {
				continue
			}
		case annotator.TraceUpdate:
		default:
			continue
		}
		if !slices.Contains([]string{CreateName, UpdateName, deleteName}, row.Tool) || row.Error == Repeated {
			continue
		}
		subject, about := aboutCall(call.Parsed.Arguments, row.Content)
		if row.Error != "" {
			open = append(open,
				failed{annotator.FailedCall{
					Turn: row.Turn, Scene: row.Scene, Tool: row.Tool, Subject: subject,
					Code: row.Error,
				}, about})
			continue
		}
		open = slices.DeleteFunc(open, func(f failed) bool {
			return len(f.about) == 0 && f.Turn == row.Turn || overlap(f.about, about)
		})
	}
	var list []annotator.FailedCall
	for i := range open {
		list = append(list, open[i].FailedCall)
	}
	return list
}

// named is what the arguments of a call, or its answer, say of the entry that it is about.
type named struct {
	Term    string          `json:"term"`
	EntryID json.RawMessage `json:"entry_id"` // a number, or a name
	Entry   struct {
		ID   int64  `json:"id"`
		Term string `json:"term"`
	} `json:"entry"`
	Error struct {
		EntryID int64 `json:"entry_id"`
	} `json:"error"`
}

// aboutCall returns what a call is about, as its arguments name it, and keys of the entries and names in them and in
// the answer.
func aboutCall(arguments json.RawMessage, answer string) (subject string, about map[string]bool) {
	about = map[string]bool{}
	for i, text := range [][]byte{arguments, []byte(answer)} {
		var n named
		_ = json.Unmarshal(text, &n) // the parts that fit; of a call that nobody can read there are none
		id := strings.Trim(string(n.EntryID), `"`)
		if i == 0 {
			subject = n.Term
			if subject == "" && id != "null" {
				subject = id
			}
		}
		for _, key := range []string{n.Term, n.Entry.Term, id, fmt.Sprint(n.Entry.ID), fmt.Sprint(n.Error.EntryID)} {
			base, _ := codex.SplitName(key)
			if base = codex.Normalize(base); base != "" && base != "null" && base != "0" {
				about[base] = true
			}
		}
	}
	return subject, about
}

func overlap(a, b map[string]bool) bool {
	for key := range a {
		if b[key] {
			return true
		}
	}
	return false
}
