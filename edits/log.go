package edits

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
)

// LogFormat is the format of a log, and LogVersion counts its incompatible changes.
const (
	LogFormat  = "annotator-edits"
	LogVersion = 1
)

// Log is the edits of people as a file, for another run of the same story. It has no ids of entries and facts.
type Log struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Story   exporters.Story `json:"story"`
	Count   int             `json:"count"` // of edits
	Edits   []LogEdit       `json:"edits"` // in the order in which they were made
}

// LogEdit is an operation. See annotator.Operation for its fields.
type LogEdit struct {
	Do         annotator.Deed      `json:"do"`
	Entry      LogEntry            `json:"entry,omitzero"`
	Other      *LogEntry           `json:"other,omitempty"`
	Fact       *LogFact            `json:"fact,omitempty"`
	Name       string              `json:"name,omitempty"`
	Text       string              `json:"text,omitempty"`
	Tags       []string            `json:"tags,omitempty"`
	Kind       annotator.ClaimKind `json:"kind,omitempty"`
	Speaker    string              `json:"speaker,omitempty"`
	State      bool                `json:"state,omitempty"`
	Identity   bool                `json:"identity,omitempty"`
	Relation   string              `json:"relation,omitempty"`
	Object     string              `json:"object,omitempty"`
	Evidence   *LogQuotation       `json:"evidence,omitempty"`
	Ended      annotator.Ending    `json:"ended,omitempty"`
	ReplacedBy *LogFact            `json:"replaced_by,omitempty"`
	From       *annotator.Position `json:"from,omitempty"`
	Hint       bool                `json:"hint,omitempty"`
	Parts      []LogEdit           `json:"parts,omitempty"`    // of create: what is added; their entry is not named
	Question   string              `json:"question,omitempty"` // of answer: its words
	Change     *LogChange          `json:"change,omitempty"`   // of revert: what was taken back
	By         string              `json:"by,omitempty"`

	isMerged bool // the entry is part of another one now
}

// LogChange is a change of an entry: a value and what it became, empty where there is none.
type LogChange struct {
	Field annotator.Field `json:"field"`
	Old   string          `json:"old,omitempty"`
	New   string          `json:"new,omitempty"`
}

// LogEntry tells which entry is meant.
type LogEntry struct {
	Term   string   `json:"term"`             // with what it is in parentheses
	Former []string `json:"former,omitempty"` // terms that it had before, the newest first
	Names  []string `json:"names,omitempty"`  // all that it has had
}

// LogFact tells which fact is meant.
type LogFact struct {
	Text       string              `json:"text"`
	Kind       annotator.ClaimKind `json:"kind,omitempty"`
	Speaker    string              `json:"speaker,omitempty"`
	Quotations []LogQuotation      `json:"quotations,omitempty"`
}

// LogQuotation is a quotation of a fact.
type LogQuotation struct {
	Post  int64  `json:"post"`
	Quote string `json:"quote"`
}

// History tells what entries and facts were.
type History struct {
	Past     func(entry int64) ([]annotator.Revision, error)
	Position func(annotator.Order) annotator.Position // of a scene
	Question func(number int64) (string, error)       // of the model; empty for none
}

// NewLog returns operations as a log, in their order, and what is left out of it with the reason. Of several that set
// the same, such as the name of an entry, the last one counts. Tags are those that are set now, and come last, because
// a merge adds some.
func NewLog(story exporters.Story, ops []annotator.Operation, h *History) (*Log, []string, error) {
	log := &Log{Format: LogFormat, Version: LogVersion, Story: story, Edits: []LogEdit{}}
	var flat []annotator.Operation
	for i := range ops {
		if !ops[i].IsList() {
			flat = append(flat, ops[i])
			continue
		}
		for _, part := range ops[i].Parts {
			part.By = cmp.Or(part.By, ops[i].By)
			flat = append(flat, part)
		}
	}
	last := map[string]int{}
	for i := range flat {
		if key := settingOf(&flat[i]); key != "" {
			last[key] = i
		}
	}
	var left []string
	var retags []LogEdit
	for i := range flat {
		if key := settingOf(&flat[i]); key != "" && last[key] != i {
			continue
		}
		edit, isSo, err := h.newEdit(&flat[i])
		switch {
		case err != nil:
			return nil, nil, err
		case !isSo:
			continue
		case edit == nil:
			left = append(left, codex.Describe(&flat[i])+" is about this run only")
			continue
		}
		if edit.Do == annotator.DeedRetag && !edit.isMerged {
			retags = append(retags, *edit)
		} else {
			log.Edits = append(log.Edits, *edit)
		}
	}
	log.Edits = append(log.Edits, retags...)
	log.Count = len(log.Edits)
	return log, left, nil
}

// settingOf names what an operation sets, so that the last one counts; empty if each counts.
func settingOf(op *annotator.Operation) string {
	switch op.Do {
	case annotator.DeedEdit:
		if op.Text == op.Was {
			return fmt.Sprint("relation", op.Entry, "/", op.Fact)
		}
	case annotator.DeedRename, annotator.DeedRetag:
		return fmt.Sprint(op.Do, op.Entry)
	case annotator.DeedHide, annotator.DeedKeep, annotator.DeedMerge, annotator.DeedSplit:
		return fmt.Sprint("status", op.Entry)
	case annotator.DeedLock, annotator.DeedUnlock, annotator.DeedNever:
		if op.Other != 0 {
			return fmt.Sprint("other", min(op.Entry, op.Other), "/", max(op.Entry, op.Other))
		}
		return fmt.Sprint("lock", op.Entry, "/", op.Fact)
	case annotator.DeedAdd, annotator.DeedReject:
		if op.Name != "" {
			return fmt.Sprint("name", op.Entry, "/", codex.Normalize(op.Name))
		}
	}
	return ""
}

// newEdit returns an operation without ids; nil if it cannot be told without. It reports whether the codex still has
// the name that the operation sets, or does not have it.
func (h *History) newEdit(op *annotator.Operation) (edit *LogEdit, isSo bool, err error) {
	past, err := h.Past(op.Entry)
	if err != nil || len(past) == 0 {
		return nil, true, err
	}
	e := annotator.Entry{ID: op.Entry, Status: annotator.Tentative}
	for i := range past {
		if err := codex.Apply(&e, &past[i]); err != nil {
			return nil, true, err
		}
	}
	isAdd := op.Do == annotator.DeedAdd
	if op.Name != "" && (isAdd || op.Do == annotator.DeedReject) && hasName(&e, op.Name) != isAdd {
		return nil, false, nil
	}
	edit = &LogEdit{
		Do: op.Do, Entry: logEntry(past), Name: op.Name, Text: op.Text, Tags: op.Tags, Kind: op.Kind,
		Speaker: op.Speaker, State: op.State, Identity: op.Identity, Relation: op.Relation, Object: op.Object,
		Ended: op.Ended,
		Hint:  op.Hint, By: op.By,
		isMerged: e.Status == annotator.Merged,
	}
	switch op.Do {
	case annotator.DeedAnswer:
		edit.Question, err = h.Question(op.Question)
	case annotator.DeedRevert:
		at := slices.IndexFunc(past, func(r annotator.Revision) bool { return r.ID == op.Revision })
		if at < 0 || past[at].Actor == annotator.ActorPerson {
			return nil, true, nil
		}
		edit.Change = new(changeOf(&past[at]))
	}
	for i := range op.Parts {
		edit.Parts = append(edit.Parts, h.newPart(&op.Parts[i]))
	}
	if err != nil {
		return nil, true, err
	}
	if op.Do == annotator.DeedRetag {
		edit.Tags = e.Tags
	}
	edit.Evidence, edit.From = h.where(op)
	other := op.Other
	if op.Do == annotator.DeedSplit {
		other = mergedInto(past)
	}
	if other != 0 {
		others, err := h.Past(other)
		if err != nil || len(others) == 0 {
			return nil, true, err
		}
		edit.Other = new(logEntry(others))
	}
	edit.Fact, edit.ReplacedBy = logFact(past, op.Fact), logFact(past, op.ReplacedBy)
	if edit.Fact == nil && op.Fact != 0 {
		return nil, true, nil
	}
	return edit, true, nil
}

// newPart returns what a new entry has as an edit without its entry.
func (h *History) newPart(op *annotator.Operation) LogEdit {
	part := LogEdit{
		Do: op.Do, Name: op.Name, Text: op.Text, Kind: op.Kind, Speaker: op.Speaker, State: op.State,
		Identity: op.Identity, Relation: op.Relation, Object: op.Object,
	}
	part.Evidence, part.From = h.where(op)
	return part
}

// where returns the quotation of an operation and the scene from which it is seen; nil for none.
func (h *History) where(op *annotator.Operation) (quotation *LogQuotation, from *annotator.Position) {
	if v := op.Evidence; v != nil {
		quotation = &LogQuotation{v.Post, v.Quote}
	}
	if op.From != 0 {
		from = new(h.Position(op.From))
	}
	return quotation, from
}

// changeOf returns a revision without numbers.
func changeOf(r *annotator.Revision) LogChange {
	return LogChange{r.Field, wordsOf(r.Field, r.Old), wordsOf(r.Field, r.New)}
}

// wordsOf returns a value of an entry without numbers: the words of a fact and how it ended, of a quotation, of a name.
func wordsOf(field annotator.Field, value string) string {
	var v struct {
		Text, Quote, Name string
		Ended             annotator.Ending
	}
	if field == annotator.FieldMerge || json.Unmarshal([]byte(value), &v) != nil {
		return value
	}
	words := v.Text + v.Quote + v.Name
	if v.Ended != "" {
		words += " (" + string(v.Ended) + ")"
	}
	return words
}

// hasName reports whether an entry has a name.
func hasName(e *annotator.Entry, name string) bool {
	return slices.ContainsFunc(e.Aliases, func(a annotator.Alias) bool {
		return codex.Normalize(a.Name) == codex.Normalize(name)
	})
}

// logEntry returns the names of an entry from its history. Of those that people gave, only its first and its present
// term tell where it is found.
func logEntry(past []annotator.Revision) LogEntry {
	var terms, names []string
	persons := false // the newest term is a person's
	for i := range past {
		r := &past[i]
		if isPersons := r.Actor == annotator.ActorPerson; r.Field == annotator.FieldTerm {
			if isPersons && len(terms) > 1 && persons {
				terms = terms[:len(terms)-1]
			}
			terms, persons = append(terms, r.New), isPersons
			continue
		} else if r.Field != annotator.FieldAlias || isPersons {
			continue
		}
		var alias annotator.Alias
		if json.Unmarshal([]byte(r.New), &alias) == nil && r.New != "" {
			names = append(names, alias.Name)
		}
	}
	if terms == nil {
		return LogEntry{}
	}
	slices.Reverse(terms)
	slices.Sort(names)
	return LogEntry{
		Term: terms[0], Former: codex.OtherNames(terms, terms[0]), Names: codex.OtherNames(slices.Compact(names)),
	}
}

// mergedInto returns the entry that an entry was merged into last; 0 for none.
func mergedInto(past []annotator.Revision) (into int64) {
	for i := range past {
		if past[i].Field == annotator.FieldMerge {
			into, _ = strconv.ParseInt(past[i].New, 10, 64)
		}
	}
	return into
}

// logFact returns a fact from the history of its entry; nil if there is none with the number.
func logFact(past []annotator.Revision, number int64) (fact *LogFact) {
	for i := range past {
		switch r := &past[i]; {
		case number == 0 || r.New == "":
		case r.Field == annotator.FieldClaim:
			var c annotator.Claim
			if json.Unmarshal([]byte(r.New), &c) == nil && c.ID == number && fact == nil {
				fact = &LogFact{Text: c.Text, Kind: c.Kind, Speaker: c.Speaker}
			}
		case r.Field == annotator.FieldEvidence:
			var v annotator.Evidence
			if json.Unmarshal([]byte(r.New), &v) == nil && v.Claim == number && fact != nil {
				fact.Quotations = append(fact.Quotations, LogQuotation{v.Post, v.Quote})
			}
		}
	}
	return fact
}

// ReadLog reads a log. The errors name the line of what is not understood, and are of kind annotator.Misused.
func ReadLog(text []byte) (*Log, []int, error) {
	if len(text) > MaxSize {
		return nil, nil, tooLarge()
	}
	root, err := parse(text)
	if err != nil {
		return nil, nil, err
	}
	log, at := &Log{}, lines{}
	if err := at.decode(root, reflect.ValueOf(log).Elem(), ""); err != nil {
		return nil, nil, err
	}
	switch {
	case log.Format != LogFormat:
		return nil, nil, misread(at.at("format"), "the format is %.40q, and not %s", log.Format, LogFormat)
	case log.Version != LogVersion:
		return nil, nil, misread(at.at("version"), "version %d is not known; this is version %d", log.Version,
			LogVersion)
	}
	numbers := make([]int, len(log.Edits))
	for i := range log.Edits {
		numbers[i] = at.at("edits", i)
	}
	return log, numbers, nil
}
