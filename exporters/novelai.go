package exporters

import (
	"crypto/sha256"
	"fmt"
	"io"
)

// novelAI is a lorebook of NovelAI, version 6.
type novelAI struct {
	Version    int               `json:"lorebookVersion"`
	Entries    []novelAIEntry    `json:"entries"`
	Settings   map[string]bool   `json:"settings"`
	Categories []novelAICategory `json:"categories"`
}

type novelAIEntry struct {
	Text               string         `json:"text"`
	ContextConfig      novelAIContext `json:"contextConfig"`
	LastUpdatedAt      int64          `json:"lastUpdatedAt"`
	DisplayName        string         `json:"displayName"`
	ID                 string         `json:"id"`
	Keys               []string       `json:"keys"` // plain, or regular expressions between slashes
	SearchRange        int            `json:"searchRange"`
	Enabled            bool           `json:"enabled"`
	ForceActivation    bool           `json:"forceActivation"`
	KeyRelative        bool           `json:"keyRelative"`
	NonStoryActivated  bool           `json:"nonStoryActivatable"`
	Category           string         `json:"category"` // the id of a category, or ""
	LoreBiasGroups     []any          `json:"loreBiasGroups"`
	AdvancedConditions []any          `json:"advancedConditions"`
}

type novelAIContext struct {
	Prefix            string `json:"prefix"`
	Suffix            string `json:"suffix"`
	TokenBudget       int    `json:"tokenBudget"` // 1: all of the context
	ReservedTokens    int    `json:"reservedTokens"`
	BudgetPriority    int    `json:"budgetPriority"`
	TrimDirection     string `json:"trimDirection"`
	InsertionType     string `json:"insertionType"`
	MaximumTrimType   string `json:"maximumTrimType"`
	InsertionPosition int    `json:"insertionPosition"`
}

type novelAICategory struct {
	Name               string         `json:"name"`
	ID                 string         `json:"id"`
	Enabled            bool           `json:"enabled"`
	CreateSubcontext   bool           `json:"createSubcontext"`
	SubcontextSettings novelAIContext `json:"subcontextSettings"`
	UseDefaults        bool           `json:"useCategoryDefaults"`
	Defaults           map[string]any `json:"categoryDefaults"`
	BiasGroups         []any          `json:"categoryBiasGroups"`
}

// writeNovelAI writes a document as a lorebook of NovelAI. The first tag of an entry is its category.
func writeNovelAI(w io.Writer, doc *Document) error {
	context := novelAIContext{
		Suffix: "\n", TokenBudget: 1, BudgetPriority: 400, TrimDirection: "trimBottom", InsertionType: "newline",
		MaximumTrimType:   "sentence",
		InsertionPosition: -1,
	}
	lorebook := novelAI{
		Version: 6, Entries: []novelAIEntry{}, Settings: map[string]bool{"orderByKeyLocations": false},
		Categories: []novelAICategory{},
	}
	categories, titles := map[string]string{}, doc.titles()
	for i := range doc.Entries {
		l := loreOf(&doc.Entries[i], titles)
		var category string
		if len(l.Tags) > 0 {
			if category = categories[l.Tags[0]]; category == "" {
				category = uuidOf(doc, "category "+l.Tags[0])
				categories[l.Tags[0]] = category
				lorebook.Categories = append(lorebook.Categories, novelAICategory{
					Name: l.Tags[0], ID: category, Enabled: true, SubcontextSettings: context,
					Defaults: map[string]any{}, BiasGroups: []any{},
				})
			}
		}
		lorebook.Entries = append(lorebook.Entries, novelAIEntry{
			Text: l.Title + ": " + l.Content, ContextConfig: context, DisplayName: l.Title,
			ID: uuidOf(doc, fmt.Sprintf("entry %d", l.ID)), Keys: l.Keys,
			SearchRange: 1000, Enabled: l.Status.Live(), Category: category, LoreBiasGroups: []any{},
			AdvancedConditions: []any{},
		})
	}
	return writeValue(w, lorebook)
}

// uuidOf returns the UUID of a part of a codex, version 8 of RFC 9562. It is the same in each export, so that a program
// replaces an earlier import.
func uuidOf(doc *Document, thing string) string {
	b := sha256.Sum256([]byte(doc.Story.CorpusHash + " " + thing))
	b[6], b[8] = b[6]&0x0f|0x80, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:16])
}
