package codex

import (
	"slices"
	"strconv"
	"strings"

	"annotator"
)

// UserField is a field that a user wants entries to have. A fact has its name as the relation, and its value as the
// object.
type UserField struct {
	Name        string   `yaml:"name" json:"name"`
	Description string   `yaml:"description" json:"description,omitempty"`
	Kinds       []string `yaml:"kinds" json:"kinds,omitempty"`   // tags of which an entry needs one; nil: all entries
	Type        string   `yaml:"type" json:"type,omitempty"`     // "number", else text
	OneOf       []string `yaml:"one_of" json:"one_of,omitempty"` // the values that it may have; nil: any
	// Examples are values. They are taken only where the story has their words.
	Examples []string `yaml:"examples" json:"examples,omitempty"`
}

// FieldCode is the code of a refused value of a user's field.
const FieldCode = "FIELD"

// FieldOf returns the field that a fact is of; nil for none.
func FieldOf(fields []UserField, f *Fact) *UserField {
	for i := range fields {
		if Normalize(fields[i].Name) == Normalize(f.Relation) {
			return &fields[i]
		}
	}
	return nil
}

// Check returns why an entry with some tags does not get a fact with a value of the field, as a *Refusal. A value needs
// a quotation. One that an example has needs its words in the quotation, or the example would be taken for the story.
func (u *UserField) Check(tags []string, f *Fact) error {
	value := CleanName(f.Object)
	isKind := func(kind string) bool { return slices.Contains(tags, kind) }
	isValue := func(v string) bool { return Normalize(v) == Normalize(value) }
	switch {
	case u.Kinds != nil && !slices.ContainsFunc(u.Kinds, isKind):
		return refuse(FieldCode, "%s is of entries with one of these tags: %s", u.Name, strings.Join(u.Kinds, ", "))
	case !HasWord(value):
		return refuse(FieldCode, "%s needs its value as the object", u.Name)
	case u.OneOf != nil && !slices.ContainsFunc(u.OneOf, isValue):
		return refuse(FieldCode, "%s is one of: %s", u.Name, strings.Join(u.OneOf, ", "))
	case u.Type == "number" && !isNumber(value):
		return refuse(FieldCode, "%s is a number, and not %.60q", u.Name, value)
	case len(f.Quotes) == 0:
		return refuse(FieldCode, "%s needs a quote that the story has", u.Name)
	case slices.ContainsFunc(u.Examples, isValue) && !quotesHave(f.Quotes, value):
		return refuse(FieldCode, "the quote does not say %.60q, which is an example of %s", value, u.Name)
	}
	return nil
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil && !strings.ContainsAny(text, "nNxXpP_") // not NaN, Inf or a form of Go
}

// quotesHave reports whether quotations have the words of a text one after another.
func quotesHave(quotes []annotator.Evidence, text string) bool {
	needle := " " + strings.Join(words(text), " ") + " "
	return slices.ContainsFunc(quotes, func(v annotator.Evidence) bool {
		return strings.Contains(" "+strings.Join(words(v.Quote), " ")+" ", needle)
	})
}
