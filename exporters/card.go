package exporters

import (
	"io"
	"slices"
)

// card is a character card, V2 or V3 (malfoyslastname/character-card-spec-v2, kwaroran/character-card-spec-v3). The
// character is the story itself. The codex is its book, which other characters can link to.
type card struct {
	Spec        string   `json:"spec"`
	SpecVersion string   `json:"spec_version"`
	Data        cardData `json:"data"`
}

type cardData struct {
	Name                    string         `json:"name"`
	Description             string         `json:"description"`
	Personality             string         `json:"personality"`
	Scenario                string         `json:"scenario"`
	FirstMessage            string         `json:"first_mes"`
	MessageExamples         string         `json:"mes_example"`
	CreatorNotes            string         `json:"creator_notes"`
	SystemPrompt            string         `json:"system_prompt"`
	PostHistoryInstructions string         `json:"post_history_instructions"`
	AlternateGreetings      []string       `json:"alternate_greetings"`
	Tags                    []string       `json:"tags"`
	Creator                 string         `json:"creator"`
	CharacterVersion        string         `json:"character_version"`
	Extensions              map[string]any `json:"extensions"`
	Book                    book           `json:"character_book"`
	GroupOnlyGreetings      []string       `json:"group_only_greetings,omitzero"` // V3 only, and required there
}

type book struct {
	Name              string         `json:"name"`
	Description       string         `json:"description"`
	RecursiveScanning bool           `json:"recursive_scanning"`
	Extensions        map[string]any `json:"extensions"`
	Entries           []bookEntry    `json:"entries"`
}

type bookEntry struct {
	ID             int64          `json:"id"`
	Keys           []string       `json:"keys"`
	SecondaryKeys  []string       `json:"secondary_keys"`
	Comment        string         `json:"comment"` // the title
	Name           string         `json:"name"`
	Content        string         `json:"content"`
	Constant       bool           `json:"constant"`
	Selective      bool           `json:"selective"`
	InsertionOrder int            `json:"insertion_order"`
	Priority       int            `json:"priority"` // the lowest is dropped first
	Enabled        bool           `json:"enabled"`
	Position       string         `json:"position"`
	UseRegex       *bool          `json:"use_regex,omitempty"` // V3 only, and required there
	Extensions     map[string]any `json:"extensions"`
}

func writeCardV2(w io.Writer, doc *Document) error {
	return writeValue(w, card{Spec: "chara_card_v2", SpecVersion: "2.0", Data: newCardData(doc)})
}

func writeCardV3(w io.Writer, doc *Document) error {
	data := newCardData(doc)
	data.GroupOnlyGreetings = []string{}
	for i := range data.Book.Entries {
		data.Book.Entries[i].UseRegex = new(slices.ContainsFunc(data.Book.Entries[i].Keys, IsExpression))
	}
	return writeValue(w, card{Spec: "chara_card_v3", SpecVersion: "3.0", Data: data})
}

func newCardData(doc *Document) cardData {
	data := cardData{
		Name: doc.Story.Title, Description: "The codex of " + doc.Story.Title + ".", AlternateGreetings: []string{},
		Tags:    []string{"codex"},
		Creator: "annotator", Extensions: map[string]any{ExtensionCodex: envelope(doc)},
		Book: book{
			Name: doc.Story.Title, Extensions: map[string]any{ExtensionCodex: envelope(doc)},
			Entries: []bookEntry{},
		},
	}
	titles := doc.titles()
	for i := range doc.Entries {
		data.Book.Entries = append(data.Book.Entries, newBookEntry(loreOf(&doc.Entries[i], titles), i))
	}
	return data
}

// newBookEntry returns an entry with SillyTavern's settings of the entry in World Info.
func newBookEntry(l lore, index int) bookEntry {
	return bookEntry{
		ID: l.ID, Keys: l.Keys, SecondaryKeys: []string{}, Comment: l.Title, Name: l.Title, Content: l.Content,
		Selective:      true,
		InsertionOrder: l.order(), Priority: l.order(), Enabled: l.Status.Live(), Position: "before_char",
		Extensions: map[string]any{
			ExtensionEntry: l.Entry, "exclude_recursion": true, "prevent_recursion": true,
			"match_whole_words": l.wholeWords(),
			"display_index":     index, "probability": 100, "useProbability": true, "depth": 4, "position": 0,
		},
	}
}
