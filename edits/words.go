package edits

import (
	"fmt"
	"strings"

	"annotator"
	"annotator/codex"
)

// Words says what an operation does to its entry, for people. The entry is as it is before it, and other is that of a
// merge or of never.
func Words(op *annotator.Operation, e, other *annotator.Entry) string {
	switch op.Do {
	case annotator.DeedEdit:
		return editWords(op, e)
	case annotator.DeedAdd:
		return addWords(op, e)
	case annotator.DeedReject:
		if op.Name != "" {
			return fmt.Sprintf("%q is no name of it", op.Name)
		}
		return factWords(op, e) + " is wrong"
	case annotator.DeedEnd:
		return factWords(op, e) + " is over"
	case annotator.DeedKeep:
		return "it belongs in the codex"
	case annotator.DeedRename:
		return fmt.Sprintf("the name %q becomes %q", e.Name(), op.Name)
	case annotator.DeedRetag:
		return fmt.Sprintf("the tags %s become %s", listWords(e.Tags), listWords(op.Tags))
	case annotator.DeedHide:
		return "it is taken out of the codex"
	case annotator.DeedMerge:
		return "it is the same as " + nameWords(op.Other, other)
	case annotator.DeedNever:
		return "it is not the same as " + nameWords(op.Other, other)
	case annotator.DeedSplit:
		return "it is an entry of its own again"
	case annotator.DeedLock, annotator.DeedUnlock:
		return lockWords(op, e, other)
	}
	return codex.Describe(op)
}

func editWords(op *annotator.Operation, e *annotator.Entry) string {
	var parts []string
	if op.Relation == "" || op.Text != op.Was {
		parts = append(parts, fmt.Sprintf("becomes %q", op.Text))
	}
	if op.Relation != "" {
		parts = append(parts, "says: "+relationWords(op))
	}
	return factWords(op, e) + " " + strings.Join(parts, ", and ")
}

func relationWords(op *annotator.Operation) string {
	return codex.RelationWords(&annotator.Claim{Relation: op.Relation, Object: op.Object})
}

func addWords(op *annotator.Operation, e *annotator.Entry) string {
	if op.Name != "" {
		return fmt.Sprintf("%q is a name of it", op.Name)
	}
	quotation := ""
	if v := op.Evidence; v != nil {
		quotation = fmt.Sprintf(", quoted from post %d: %q", v.Post, v.Quote)
	}
	known := codex.Known(e, codex.Fact{Text: op.Text, Kind: op.Kind, Speaker: op.Speaker})
	switch {
	case known == 0:
		return fmt.Sprintf("new fact %q%s", op.Text, quotation)
	case op.Relation != "" && quotation == "":
		return fmt.Sprintf("fact %d %q says: %s", known, op.Text, relationWords(op))
	case op.Identity && quotation == "":
		return fmt.Sprintf("fact %d %q says who or what it is", known, op.Text)
	}
	return fmt.Sprintf("fact %d %q%s", known, op.Text, quotation)
}

// createWords says what a new entry has.
func createWords(op *annotator.Operation) string {
	text := fmt.Sprintf("new entry %q", op.Name)
	if len(op.Tags) > 0 {
		text += fmt.Sprintf(" (%s)", listWords(op.Tags))
	}
	for i := range op.Parts {
		text += ", " + addWords(&op.Parts[i], &annotator.Entry{})
	}
	return text
}

func lockWords(op *annotator.Operation, e, other *annotator.Entry) string {
	what := "it"
	switch {
	case op.Fact != 0:
		what = factWords(op, e)
	case op.Other != 0:
		return "it may be the same as " + nameWords(op.Other, other)
	}
	if op.Do == annotator.DeedLock {
		return what + " is locked"
	}
	return what + " is unlocked"
}

// factWords names the fact of an operation.
func factWords(op *annotator.Operation, e *annotator.Entry) string {
	text := op.Was
	for i := range e.Claims {
		if e.Claims[i].ID == op.Fact {
			text = e.Claims[i].Text
		}
	}
	return fmt.Sprintf("fact %d %q", op.Fact, text)
}

func nameWords(id int64, e *annotator.Entry) string {
	if e == nil {
		return fmt.Sprintf("#%d", id)
	}
	return fmt.Sprintf("#%d %s", id, e.Name())
}

func listWords(list []string) string {
	if len(list) == 0 {
		return "(none)"
	}
	return strings.Join(list, ", ")
}
