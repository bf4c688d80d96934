package ingest

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"annotator"
)

// The parts of a source that are not a part of its story. Options.Keep keeps them.
const (
	partLicence        = "licence"        // of an archive, known by its wording
	partContents       = "contents"       // lists of contents
	partIllustrations  = "illustrations"  // lists of illustrations
	partTitlePage      = "title-page"     // title, author, motto before the first chapter
	partImprint        = "imprint"        // publisher, printer, copyright, colophon
	partDedication     = "dedication"     // where the book's markup calls it that
	partMakerNotes     = "maker-notes"    // of those who made the file: transcribers' notes, errata, credits
	partAdvertisements = "advertisements" // for other books
	partAuthorNotes    = "author-notes"   // of a serial's author around a chapter
	partTags           = "tags"           // of an archive of stories: fandom, rating, summary
	partNavigation     = "navigation"     // of a web page: menus, links
	partAround         = "around-story"   // of a web page, outside of what holds its story: comments, notes, menus
	partHidden         = "hidden"         // what the page does not show
	partPageMarks      = "page-marks"     // numbers of pages and lines
	partNoteMarks      = "note-marks"     // numbers and signs that lead to notes, and back
	partNotes          = "notes"          // footnotes and endnotes that markup calls so
	partRuby           = "ruby"           // readings of characters
	partLayout         = "layout"         // notes on layout, shortcodes
	partMarks          = "marks"          // of emphasis and of breaks between scenes
	partHeadings       = "headings"       // without text, or in other words than the contents table's
	partFrontMatter    = "front-matter"   // data before a Markdown text
	partMatter         = "matter"         // front and back matter that the book's markup calls so
	partOtherPosts     = "other-posts"    // of a forum's page, not the story's
	partComments       = "comments"       // of those who read a manuscript
	partDeletions      = "deletions"      // text that a manuscript marks as deleted
	partRunningHeads   = "running-heads"  // headers and footers of pages
	partControl        = "control-characters"
)

// Parts lists the names of what can be left out.
func Parts() []string {
	return []string{
		partLicence, partContents, partIllustrations, partTitlePage, partImprint, partDedication, partMakerNotes,
		partAdvertisements,
		partAuthorNotes, partTags, partNavigation, partAround, partHidden, partPageMarks, partNoteMarks, partNotes,
		partRuby,
		partLayout, partMarks,
		partHeadings, partFrontMatter, partMatter, partOtherPosts, partComments, partDeletions, partRunningHeads,
	}
}

// Account counts the text of the sources in characters other than white space, after decoding and without markup.
// Source is the sum of Kept and all parts.
type Account struct {
	Source int    `json:"source"`
	Kept   int    `json:"kept"`
	Parts  []Part `json:"parts,omitempty"`
}

// Part is what was left out under one name.
type Part struct {
	Name       string `json:"name"`
	Characters int    `json:"characters"`
	Words      int    `json:"words"`
	Begins     string `json:"begins"` // its first words
}

// leaveOut counts a text as one that is left out.
func (a *Account) leaveOut(name, text string) {
	n := countCharacters(text)
	if n == 0 {
		return
	}
	a.leaveOutPart(Part{name, n, annotator.CountWords(text), firstWords(text)})
}

// leaveOutPart counts what is left out under a name.
func (a *Account) leaveOutPart(part Part) {
	i := slices.IndexFunc(a.Parts, func(p Part) bool { return p.Name == part.Name })
	if i < 0 {
		a.Parts = append(a.Parts, part)
		return
	}
	a.Parts[i].Characters += part.Characters
	a.Parts[i].Words += part.Words
}

// of is how many characters are left out under a name.
func (a *Account) of(name string) int {
	i := slices.IndexFunc(a.Parts, func(p Part) bool { return p.Name == name })
	if i < 0 {
		return 0
	}
	return a.Parts[i].Characters
}

// leftOut is how many characters are left out.
func (a *Account) leftOut() int {
	n := 0
	for _, p := range a.Parts {
		n += p.Characters
	}
	return n
}

// add adds another account.
func (a *Account) add(other *Account) {
	a.Source += other.Source
	a.Kept += other.Kept
	for _, p := range other.Parts {
		a.leaveOutPart(p)
	}
}

// keptShare is how much of the source is in the story, 1 for an empty one.
func (a *Account) keptShare() float64 {
	if a.Source == 0 {
		return 1
	}
	return float64(a.Kept) / float64(a.Source)
}

// String renders what was left out, a line for each part; nothing if all was kept.
func (a *Account) String() string {
	if len(a.Parts) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "kept %s of the text; left out:\n", percent(a.keptShare()))
	for _, p := range a.Parts {
		size := annotator.Quantity(p.Words, "word")
		if p.Words == 0 {
			size = annotator.Quantity(p.Characters, "character")
		}
		fmt.Fprintf(&b, "  %s, %s: %s\n", p.Name, size, p.Begins)
	}
	return b.String()
}

// Summary renders the account in one line; "" if nothing was left out.
func (a *Account) Summary() string {
	if len(a.Parts) == 0 {
		return ""
	}
	parts := make([]string, len(a.Parts))
	for i, p := range a.Parts {
		parts[i] = fmt.Sprintf("%s (%s)", p.Name, annotator.Quantity(p.Words, "word"))
	}
	return fmt.Sprintf("kept %s of the text; left out: %s", percent(a.keptShare()), strings.Join(parts, ", "))
}

// lowShare is what less than makes the report say so in its first line.
const lowShare = 0.9

// percent writes a share so that what is missing shows: 100 % is all.
func percent(share float64) string {
	text := fmt.Sprintf("%.1f", share*100)
	if text == "100.0" && share < 1 {
		text = "99.9"
	}
	return strings.TrimSuffix(text, ".0") + " %"
}

// countCharacters counts what is no white space.
func countCharacters(text string) int {
	n := 0
	for _, r := range text {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

const maxFirstWords = 60

// firstWords is the beginning of a text, in one line.
func firstWords(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if head := annotator.Clip(text, maxFirstWords, ""); head != text {
		return strings.TrimSpace(head) + "…"
	}
	return text
}
