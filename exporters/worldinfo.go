package exporters

import (
	"io"
	"strconv"
)

// worldInfo is a World Info book of SillyTavern 1.19 (public/scripts/world-info.js). Its name is that of its file.
type worldInfo struct {
	Entries    map[string]worldInfoEntry `json:"entries"` // by uid
	Extensions map[string]any            `json:"extensions"`
}

// worldInfoEntry has every field that the program writes. Fields that follow the program's settings by default are
// null.
type worldInfoEntry struct {
	UID                       int64          `json:"uid"`
	Key                       []string       `json:"key"`
	KeySecondary              []string       `json:"keysecondary"`
	Comment                   string         `json:"comment"` // the title
	Content                   string         `json:"content"`
	Constant                  bool           `json:"constant"`
	Vectorized                bool           `json:"vectorized"`
	Selective                 bool           `json:"selective"`
	SelectiveLogic            int            `json:"selectiveLogic"`
	AddMemo                   bool           `json:"addMemo"` // show the title
	Order                     int            `json:"order"`
	Position                  int            `json:"position"` // 0: before the character
	Disable                   bool           `json:"disable"`
	IgnoreBudget              bool           `json:"ignoreBudget"`
	ExcludeRecursion          bool           `json:"excludeRecursion"`
	PreventRecursion          bool           `json:"preventRecursion"`
	DelayUntilRecursion       int            `json:"delayUntilRecursion"`
	Probability               int            `json:"probability"`
	UseProbability            bool           `json:"useProbability"`
	Depth                     int            `json:"depth"`
	OutletName                string         `json:"outletName"`
	Group                     string         `json:"group"`
	GroupOverride             bool           `json:"groupOverride"`
	GroupWeight               int            `json:"groupWeight"`
	ScanDepth                 *int           `json:"scanDepth"`
	CaseSensitive             *bool          `json:"caseSensitive"`
	MatchWholeWords           *bool          `json:"matchWholeWords"`
	UseGroupScoring           *bool          `json:"useGroupScoring"`
	AutomationID              string         `json:"automationId"`
	Role                      int            `json:"role"`
	Sticky                    *int           `json:"sticky"`
	Cooldown                  *int           `json:"cooldown"`
	Delay                     *int           `json:"delay"`
	MatchPersonaDescription   bool           `json:"matchPersonaDescription"`
	MatchCharacterDescription bool           `json:"matchCharacterDescription"`
	MatchCharacterPersonality bool           `json:"matchCharacterPersonality"`
	MatchCharacterDepthPrompt bool           `json:"matchCharacterDepthPrompt"`
	MatchScenario             bool           `json:"matchScenario"`
	MatchCreatorNotes         bool           `json:"matchCreatorNotes"`
	Triggers                  []string       `json:"triggers"`
	DisplayIndex              int            `json:"displayIndex"`
	Extensions                map[string]any `json:"extensions"`
}

// writeWorldInfo writes a document as a World Info book. The names of an entry are its keys.
func writeWorldInfo(w io.Writer, doc *Document) error {
	book := worldInfo{Entries: map[string]worldInfoEntry{}, Extensions: map[string]any{ExtensionCodex: envelope(doc)}}
	titles := doc.titles()
	for i := range doc.Entries {
		l := loreOf(&doc.Entries[i], titles)
		book.Entries[strconv.FormatInt(l.ID, 10)] = worldInfoEntry{
			UID: l.ID, Key: l.Keys, KeySecondary: []string{}, Comment: l.Title, Content: l.Content, Selective: true,
			AddMemo: true,
			Order:   l.order(), Disable: !l.Status.Live(), ExcludeRecursion: true, PreventRecursion: true,
			Probability: 100, UseProbability: true, Depth: 4,
			GroupWeight: 100, MatchWholeWords: l.wholeWords(), Triggers: []string{}, DisplayIndex: i,
			Extensions: map[string]any{ExtensionEntry: l.Entry},
		}
	}
	return writeValue(w, book)
}
