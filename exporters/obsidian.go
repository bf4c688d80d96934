package exporters

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"annotator"
	"annotator/codex"
)

// vaultFolders are the folders of a vault by tags; an entry without any of these tags is in otherFolder.
var vaultFolders = map[string]string{
	"person": "People", "character": "People", "place": "Places", "location": "Places", "group": "Groups",
	"faction":      "Groups",
	"organization": "Groups", "object": "Objects", "item": "Objects", "ship": "Objects", "creature": "Creatures",
	"event":   "Events",
	"concept": "Concepts", "term": "Concepts",
}

const otherFolder = "Other"

// codexFolder contains the folders of the notes, so that a view can select them.
const codexFolder = "Codex"

// vault writes the notes of a vault. Notes have unique names, regardless of case.
type vault struct {
	*Codex
	files   Files
	used    map[string]bool
	notes   map[int64]string     // the paths of entries by id, without .md
	byName  map[string]int64     // entries by their normalised names and terms
	quoted  map[int64][]int      // the starts of quotations by post
	blocks  map[string]string    // links to the paragraphs of quotations, by blockKey
	threads []string             // the paths of threads, without .md
	scene   annotator.Order      // of the last post that was written
	named   map[int64]bool       // entries with a link in that scene
	ties    map[int64][]Relation // by the entries of both sides
}

// writeObsidian writes a codex as a vault of Obsidian: notes of the entries, notes of the threads with their posts, an
// index and a Base. It writes no settings (.obsidian), which belong to the user.
func writeObsidian(ctx context.Context, files Files, c *Codex) error {
	v := &vault{
		Codex: c, files: files, used: map[string]bool{}, notes: map[int64]string{}, byName: entriesByName(c.Entries),
		quoted: map[int64][]int{},
		blocks: map[string]string{}, ties: map[int64][]Relation{},
	}
	for _, r := range c.relations() {
		v.ties[r.Entry] = append(v.ties[r.Entry], r)
		if r.ObjectEntry != 0 {
			v.ties[r.ObjectEntry] = append(v.ties[r.ObjectEntry], r)
		}
	}
	for i := range c.Entries {
		v.addEntry(&c.Entries[i])
	}
	if err := v.writeThreads(ctx); err != nil {
		return err
	}
	for i := range c.Entries {
		text, err := v.entry(&c.Entries[i])
		if err != nil {
			return err
		}
		if err := v.writeNote(v.notes[c.Entries[i].ID], text); err != nil {
			return err
		}
	}
	if err := v.writeNote("Index", v.index()); err != nil {
		return err
	}
	return writeText(files, codexFolder+".base", vaultBase)
}

// addEntry chooses the path of an entry's note, before links to it are written.
func (v *vault) addEntry(e *Entry) {
	folder := byTag(vaultFolders, e.Tags, otherFolder)
	v.notes[e.ID] = v.uniquePath(path.Join(codexFolder, folder), nameOf(e), e.ID)
	for _, c := range e.shown() {
		for _, q := range c.Evidence {
			v.quoted[q.Post] = append(v.quoted[q.Post], q.Start)
		}
	}
}

// byTag returns the value of the first tag that has one.
func byTag(values map[string]string, tags []string, other string) string {
	for _, tag := range tags {
		if value, ok := values[tag]; ok {
			return value
		}
	}
	return other
}

// uniquePath returns the path of a note without .md. It appends the id to a name that another note of the vault has,
// regardless of case. So links by a name alone are unambiguous.
func (v *vault) uniquePath(folder, name string, id int64) string {
	base := noteName(name)
	if base == "" || v.used[sameFile(base)] {
		base = strings.TrimSpace(fmt.Sprintf("%s (%d)", base, id))
	}
	v.used[sameFile(base)] = true
	return path.Join(folder, base)
}

// sameFile returns a form that is equal for names that a file system may not distinguish. Windows and macOS ignore
// case, and macOS normalises Unicode.
func sameFile(name string) string { return norm.NFD.String(cases.Fold().String(norm.NFD.String(name))) }

// noteName removes characters that file systems or links do not allow, and those that begin a template of a plugin.
func noteName(name string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case strings.ContainsRune("#|^[]{}\\/*\"<>?`", r), unicode.IsControl(r), r == unicode.ReplacementChar:
			return -1
		case r == ':':
			return '-'
		}
		return r
	}, strings.ToValidUTF8(name, ""))
	clean = percents.ReplaceAllString(clean, "%")
	const maxBytes = 120 // of the 255 that file systems allow
	for len(clean) > maxBytes {
		runes := []rune(clean)
		clean = string(runes[:len(runes)-1])
	}
	clean = strings.Trim(strings.Join(strings.Fields(clean), " "), ". ")
	if reservedName.MatchString(clean) {
		clean += " -"
	}
	return clean
}

// percents matches the beginning of a comment.
var percents = regexp.MustCompile(`%%+`)

// reservedName matches the names of devices, which are not names of files in Windows with any extension.
var reservedName = regexp.MustCompile(`(?i)^(CON|PRN|AUX|NUL|CONIN\$|CONOUT\$|(COM|LPT)[0-9¹²³]) *(\.|$)`)

// ownPart is the last line of a note. Later exports keep the text below it. Texts of the story and the codex do not
// contain this line, because their % are escaped.
const ownPart = "%% What you write below this line is kept. %%"

func (v *vault) writeNote(name, text string) error {
	return writeText(v.files, name+".md", text+"\n"+ownPart+"\n")
}

// properties are the front matter of an entry's note.
type properties struct {
	Entry      int64            `json:"entry"`
	Aliases    []string         `json:"aliases,omitempty"`
	Tags       []string         `json:"tags,omitempty"`
	Status     annotator.Status `json:"status"`
	FirstScene int              `json:"first_scene"`
	LastScene  int              `json:"last_scene"`
}

// entry returns the note of an entry: its properties, its present statement, and its facts with their quotations.
func (v *vault) entry(e *Entry) (string, error) {
	front, err := encodeYAML(properties{
		Entry: e.ID, Status: e.Status, FirstScene: e.First.Scene, LastScene: e.Last.Scene,
		Aliases: aliasNames(e),
		Tags:    slices.DeleteFunc(each(e.Tags, vaultTag), func(tag string) bool { return tag == "" }),
	})
	var b strings.Builder
	fmt.Fprintf(&b, "---\n%s---\n", templates.Replace(string(front)))
	reading := e.Reading(v.titles())
	v.claims(&b, e, reading.Opening)
	if e.Present != nil {
		fmt.Fprintf(&b, "\n%s\n", v.linked(e.Present.told()))
	}
	for i := range reading.Passages {
		heading := reading.Passages[i].Heading()
		if i == 0 || heading != "" {
			fmt.Fprintf(&b, "\n## %s\n", escapeMarkdown(cmp.Or(heading, "Facts")))
		}
		v.claims(&b, e, reading.Passages[i].Claims)
	}
	v.relations(&b, e)
	return b.String(), err
}

// relations writes the relations of an entry, those that it has before those that others have to it.
func (v *vault) relations(b *strings.Builder, e *Entry) {
	heading := "\n## Relations\n\n"
	for _, isOwn := range []bool{true, false} {
		for _, r := range v.ties[e.ID] {
			if (r.Entry == e.ID) != isOwn {
				continue
			}
			of, object := v.noteOf(r.Entry, r.Term), escapeMarkdown(r.Object)
			if isOwn {
				of, object = "", v.noteOf(r.ObjectEntry, r.Object)
			}
			fmt.Fprintf(b, "%s- %s", heading, codex.Told(of, escapeMarkdown(r.Relation), object))
			if heading = ""; r.Until != nil {
				fmt.Fprintf(b, " *(%s scene %d)*", codex.EndWords(r.Ended), r.Until.Scene)
			}
			b.WriteString("\n")
		}
	}
}

// noteOf returns a name as a link to the note of its entry, if there is one.
func (v *vault) noteOf(entry int64, name string) string {
	if note := v.notes[entry]; note != "" {
		return linkTo(note, name)
	}
	return escapeMarkdown(name)
}

// templates escapes the beginnings of templates in a string of YAML.
var templates = strings.NewReplacer("<%", `\u003c%`, "{{", `\u007b{`)

// claims writes claims as blocks with their quotations folded below them.
func (v *vault) claims(b *strings.Builder, e *Entry, claims []Claim) {
	for i := range claims {
		v.claim(b, e, &claims[i])
	}
}

func (v *vault) claim(b *strings.Builder, e *Entry, c *Claim) {
	fmt.Fprintf(b, "\n%s%s", c.Thought(), v.linked(c.Text))
	for _, about := range []string{c.Origin(), c.End()} {
		if about != "" {
			fmt.Fprintf(b, " *(%s)*", escapeMarkdown(about))
		}
	}
	if slices.ContainsFunc(e.shown(), func(other Claim) bool { return other.ID == c.ReplacedBy }) {
		fmt.Fprintf(b, " *(now: [[#^claim-%d|fact %d]])*", c.ReplacedBy, c.ReplacedBy)
	}
	fmt.Fprintf(b, " ^claim-%d\n", c.ID)
	for _, q := range c.Evidence {
		link := v.blocks[blockKey(q.Post, q.Start)]
		if link == "" {
			link = fmt.Sprintf("post %d", q.Post)
		}
		fmt.Fprintf(b, "\n> [!quote]- %s%s\n> %s\n", link, q.note(),
			strings.ReplaceAll(escapeMarkdown(q.Quote), "\n", "\n> "))
	}
}

// linked returns a text of the codex with links to notes. Links to unknown entries become plain text.
func (v *vault) linked(text string) string {
	var b bytes.Buffer
	plain := func(part string) { b.WriteString(escapeInline(part)) }
	codex.ReplaceLinks(oneParagraph(text), plain, func(name, shown string) {
		id := v.byName[codex.Normalize(name)]
		if id == 0 || strings.TrimSpace(shown) == "" {
			plain(shown)
			return
		}
		before, after, _ := strings.Cut(shown, strings.TrimSpace(shown))
		b.WriteString(before)
		writeLink(&b, linkTo(v.notes[id], shown))
		b.WriteString(after)
	})
	return b.String()
}

// vaultTag returns a tag as Obsidian allows it: letters, digits, _, - and /, with at least one non-digit. It may be "".
func vaultTag(tag string) string {
	tag = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsMark(r), unicode.IsDigit(r), strings.ContainsRune("_-/", r):
			return r
		case unicode.IsSpace(r):
			return '-'
		}
		return -1
	}, tag)
	if tag != "" && strings.Trim(tag, "0123456789") == "" {
		return "_" + tag
	}
	return tag
}

// index returns the first note of the vault.
func (v *vault) index() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%d entries", escapeMarkdown(v.Story.Title), len(v.Entries))
	if v.AsOf != nil {
		fmt.Fprintf(&b, ", as of scene %d", v.AsOf.Scene)
	}
	fmt.Fprintf(&b, ". [[%s.base|All entries in a table]].\n", codexFolder)
	if v.Summaries != nil && v.Summaries.Story != nil {
		story := v.Summaries.Story
		fmt.Fprintf(&b, "\n## The story until scene %d\n\n%s\n", story.ToScene, v.linked(story.Text))
	}
	if len(v.threads) > 0 {
		b.WriteString("\n## Threads\n\n")
	}
	for _, name := range v.threads {
		fmt.Fprintf(&b, "- %s\n", linkTo(name, path.Base(name)))
	}
	return b.String()
}

// vaultBase is a Base with all entries in a table, and by status.
const vaultBase = `filters:
  and:
    - file.inFolder("` + codexFolder + `")
properties:
  file.name:
    displayName: Entry
  note.first_scene:
    displayName: First scene
  note.last_scene:
    displayName: Last scene
views:
  - type: table
    name: Entries
    order:
      - file.name
      - tags
      - status
      - first_scene
      - last_scene
  - type: list
    name: Names
    order:
      - file.name
`
