package exporters

import (
	"context"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"annotator"
)

// Codex is the input of the formats: the entries, their history, and the story. All end at the same place.
type Codex struct {
	*Document
	Selection Selection // of the document's entries
	History   History
	Name      string // of the story's file, without extension
	Text      Text
	Scenes    []annotator.SceneOrder // all of the story, in its order
	Former    map[int64]bool         // posts whose text the source no longer has
	Updated   time.Time              // when the run last wrote to the codex
	Book      string                 // the path of the EPUB that the story was imported from; "" if there is none
}

// Text reads the story up to the limit of the codex.
type Text interface {
	// Threads returns the threads in story order.
	Threads(ctx context.Context) ([]Thread, error)
	// Posts returns the story posts of a thread in order. A post is valid until the next one is read.
	Posts(ctx context.Context, thread int64) iter.Seq2[*Post, error]
	// Mentions returns the names in the posts of a thread, by the places of the posts. They are sorted by their start
	// and may overlap.
	Mentions(ctx context.Context, thread int64) (map[annotator.Place][]Mention, error)
	// MentionsThen returns the names that are known at the end of each scene.
	MentionsThen(ctx context.Context, thread int64) (map[annotator.Place][]Mention, error)
}

// Thread is a thread of a forum, or a chapter of a book.
type Thread struct {
	ID    int64
	Title string
}

// Post is a story post.
type Post struct {
	annotator.Post
	Place    annotator.Place
	Scene    int    // its number
	Document string // the file of the source that contains it; "" if the source is a single document
	Offset   int64  // of its text in that file, as in corpus.Origin
}

// Mention is an occurrence of a name of an entry.
type Mention struct {
	Entry int64
	Start int // offset in the post's body, in Unicode code points
	End   int // exclusive
}

// Format is one format of exports. It has either Write or WriteFiles.
type Format struct {
	Name  string // on the command line
	About string // a description of at most 43 characters for the help
	Story bool   // it needs the text of the story, not only the entries
	Book  bool   // it needs the EPUB that the story was imported from
	// OwnPart is the line below which users may write in a file; "" if there is none. WriteFolder keeps their text.
	OwnPart string
	// Write writes a format of one file. It returns the errors of w.
	Write func(ctx context.Context, w io.Writer, c *Codex) error
	// WriteFiles writes a format of several files. It returns the errors of files.
	WriteFiles func(ctx context.Context, files Files, c *Codex) error
}

// Files are the files of an export.
type Files interface {
	// Create begins a file. The name is relative, with slashes, and unique regardless of case. The writer is valid
	// until the next call.
	Create(name string) (io.Writer, error)
}

// writeText writes a file of an export.
func writeText(files Files, name, text string) error {
	w, err := files.Create(name)
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	return err
}

// All returns the formats.
func All() []Format {
	return []Format{
		{Name: "json", About: "the whole codex as JSON", Write: ofDocument(writeJSON)},
		{Name: "yaml", About: "the whole codex as YAML", Write: ofDocument(writeYAML)},
		{Name: "html", About: "one page with search, quotations and a limit", Write: writeHTML},
		{Name: "epub", About: "the book with names as notes in place", Story: true, Book: true, Write: writeEPUB},
		{Name: "annotations", About: "quotations as Web Annotations (Readium)", Story: true, Write: writeAnnotations},
		{Name: "brat", About: "names and quotations as brat standoff", Story: true, WriteFiles: writeBrat},
		{Name: "koreader", About: "X-Ray sidecars for plugins of KOReader", Story: true, WriteFiles: writeKOReader},
		{Name: "mri", About: "lists for the plugin MRI of KOReader", Story: true, WriteFiles: writeMRI},
		{Name: "dynamic-xray", About: "items for the plugin Dynamic Xray of KOReader", Write: writeDynamicXray},
		{Name: "names", About: "a table of names, to be edited", Write: writeNames},
		{Name: "csv", About: "tables: entries, names, claims, relations", WriteFiles: writeCSV},
		{Name: "graphml", About: "a graph of relations, for Gephi and yEd", Write: ofDocument(writeGraphML)},
		{Name: "jsonld", About: "linked data: schema.org and PROV", Write: ofDocument(writeJSONLD)},
		{Name: "world-info", About: "a World Info book of SillyTavern", Write: ofDocument(writeWorldInfo)},
		{Name: "card-v2", About: "a character card V2 with a lorebook", Write: ofDocument(writeCardV2)},
		{Name: "card-v3", About: "a character card V3 with a lorebook", Write: ofDocument(writeCardV3)},
		{
			Name: "obsidian", About: "a vault of notes with links and quotations", Story: true,
			WriteFiles: writeObsidian,
			OwnPart:    ownPart,
		},
		{Name: "novelai", About: "a lorebook of NovelAI", Write: ofDocument(writeNovelAI)},
	}
}

// WriteOne writes a codex as one file: that of the format, or a zip archive of its files.
func (f *Format) WriteOne(ctx context.Context, w io.Writer, c *Codex) error {
	if f.WriteFiles != nil {
		return f.writeZip(ctx, w, c)
	}
	return f.Write(ctx, w, c)
}

// ofDocument converts a function that needs only the entries.
func ofDocument(write func(io.Writer, *Document) error) func(context.Context, io.Writer, *Codex) error {
	return func(_ context.Context, w io.Writer, c *Codex) error { return write(w, c.Document) }
}

// ByName returns a format. Its error is of kind annotator.Misused.
func ByName(name string) (Format, error) {
	var names []string
	for _, f := range All() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	err := annotator.Errorf(annotator.Misused, "there is no format %q to export to", name)
	if name == "" {
		err = annotator.Errorf(annotator.Misused, "no format is named to export to")
	}
	return Format{}, err.WithReason(annotator.ReasonNoExportFormat, strings.Join(names, ", "))
}

// Selection selects the entries that are exported.
type Selection struct {
	Statuses []annotator.Status // any of them; none selects the live ones
	Tags     []string           // all of them
}

// Has reports whether the selection has an entry.
func (s *Selection) Has(e *annotator.Entry) bool {
	lacks := func(tag string) bool { return !slices.Contains(e.Tags, tag) }
	selected := slices.Contains(s.Statuses, e.Status) || len(s.Statuses) == 0 && e.Status.Live()
	return selected && !slices.ContainsFunc(s.Tags, lacks)
}

// Select returns the entries with any of the statuses and all of the tags, in their order. No status selects the live
// ones.
func Select(entries []annotator.Entry, statuses []annotator.Status, tags []string) []annotator.Entry {
	s := Selection{statuses, tags}
	return slices.DeleteFunc(slices.Clone(entries), func(e annotator.Entry) bool { return !s.Has(&e) })
}
