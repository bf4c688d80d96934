package exporters_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/exporters"

	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"
	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write the golden files anew")

var story = exporters.Story{Title: "The Lamp & the <Tide>", CorpusHash: "5c1d", Threads: 2, Scenes: 31}

// sample has a superseded claim, names and quotations that are difficult to encode, and empty lists.
func sample() exporters.Document {
	at := annotator.PlaceAt
	doc := exporters.Build(story, []annotator.Entry{
		{
			ID: 7, Term: "Dawn", Disambiguator: "ship", Status: annotator.Confirmed, Tags: []string{"ship", "yes"},
			Aliases: []annotator.Alias{{Name: "the <Dawn>", From: at(1, 2)}, {Name: "東雲丸 🚢", From: at(12, 0)}},
			Claims: []annotator.Claim{
				{
					ID: 1, Text: "Mik's ship has three masts.", Kind: annotator.Narrated, From: at(1, 2),
					Until: at(12, 1), State: true, ReplacedBy: 2,
					Evidence: []annotator.Evidence{{
						Claim: 1, Post: 1002, Start: 4, End: 32,
						Quote: "three masts & \"no\" oars:\n- # 1",
					}},
				},
				{
					ID: 2, Text: "She has two masts since the storm.", Kind: annotator.Claimed,
					Speaker: "Mik: \"I\" & co",
					State:   true, From: at(12, 1), Relation: "repaired by", Object: "ærith",
				},
				{ID: 3, Text: "null", Kind: annotator.Inferred, From: at(31, 0), Relation: "rank: <n>", Object: "a|b"},
			},
			Present: "She has two masts, and lies at anchor.", PresentAt: at(30, 1),
			First: at(1, 2), Last: at(31, 0), Revisions: 9, Locked: true,
		},
		{ID: 3, Term: "Ærith", Status: annotator.Tentative, First: at(2, 0), Last: at(2, 0), Revisions: 1},
	}, position)
	doc.AsOf = &annotator.Position{Thread: 103, Scene: 31, Post: 31000}
	return doc
}

func TestFormatsAreTheGoldenFiles(t *testing.T) {
	t.Parallel()
	full, empty := sample(), exporters.Build(exporters.Story{}, nil, position)
	for _, format := range documentFormats() {
		golden(t, format, &full, "glossary."+format.Name)
		golden(t, format, &empty, "empty."+format.Name)
	}
}

func golden(t *testing.T, format exporters.Format, doc *exporters.Document, name string) {
	t.Helper()
	got, path := export(t, format, doc), filepath.Join("testdata", name)
	if format.WriteFiles != nil {
		got = txtar.Format(&txtar.Archive{Files: unzip(t, got)})
	}
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s: %s", path, diff)
	}
}

func TestJSONIsThatOfTheWholeDocument(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		var whole bytes.Buffer
		encoder := json.NewEncoder(&whole)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", "  ")
		if err := encoder.Encode(doc); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(whole.String(), string(export(t, named(t, "json"), &doc))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryFormatGivesTheDocumentBack(t *testing.T) {
	t.Parallel()
	parsers := map[string]func([]byte, any) error{
		"encoding/json": json.Unmarshal, "yaml.v3": throughJSON(yaml.Unmarshal), "goccy": throughJSON(goccy.Unmarshal),
	}
	formats := map[string]exporters.Format{
		"encoding/json": named(t, "json"), "yaml.v3": named(t, "yaml"),
		"goccy": named(t, "yaml"),
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		for name, parse := range parsers {
			var got exporters.Document
			text := export(t, formats[name], &doc)
			if err := parse(text, &got); err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			if diff := cmp.Diff(doc, got); diff != "" {
				t.Fatalf("%s: %s\n%s", name, diff, text)
			}
		}
	})
}

// throughJSON returns a parser that converts the data of another to JSON: a document has no tags for YAML.
func throughJSON(parse func([]byte, any) error) func([]byte, any) error {
	return func(text []byte, value any) error {
		var data any
		if err := parse(text, &data); err != nil {
			return err
		}
		encoded, err := json.Marshal(data)
		return errors.Join(err, json.Unmarshal(encoded, value))
	}
}

// TestUntypedYAMLIsUntypedJSON: both formats have the same data for a parser without types.
func TestUntypedYAMLIsUntypedJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		var fromJSON, fromYAML, fromGoccy any
		decoder := json.NewDecoder(bytes.NewReader(export(t, named(t, "json"), &doc)))
		decoder.UseNumber()
		if err := decoder.Decode(&fromJSON); err != nil {
			t.Fatal(err)
		}
		text := export(t, named(t, "yaml"), &doc)
		if err := errors.Join(yaml.Unmarshal(text, &fromYAML), goccy.Unmarshal(text, &fromGoccy)); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if diff := cmp.Diff(plain(t, fromJSON), plain(t, fromYAML)); diff != "" {
			t.Fatalf("yaml.v3: %s", diff)
		}
		if diff := cmp.Diff(plain(t, fromJSON), plain(t, fromGoccy)); diff != "" {
			t.Fatalf("goccy: %s", diff)
		}
	})
}

// plain converts the number types of parsers to one.
func plain(t fataler, value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestWriteReportsAFullDisk(t *testing.T) {
	t.Parallel()
	doc := sample()
	doc.Entries = slices.Repeat(doc.Entries, 120)
	for _, format := range documentFormats() {
		size := len(export(t, format, &doc))
		for room := 0; room < size; room += 1 + size/20 {
			if err := format.WriteOne(t.Context(), &fullDisk{room: room}, withoutStory(&doc)); !errors.Is(
				err, errFull) {
				t.Fatalf("%s with room for %d of %d bytes: %v", format.Name, room, size, err)
			}
		}
	}
}

var errFull = errors.New("disk full")

type fullDisk struct{ room int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if len(p) > d.room {
		return d.room, errFull
	}
	d.room -= len(p)
	return len(p), nil
}

func TestFormatsAreFoundByName(t *testing.T) {
	t.Parallel()
	for _, want := range exporters.All() {
		if got, err := exporters.ByName(want.Name); err != nil || got.About != want.About {
			t.Errorf("%s: %v, %v", want.Name, got, err)
		}
	}
	if _, err := exporters.ByName("docx"); !errors.Is(err, annotator.Misused) {
		t.Errorf("a format that is not there: %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	doc := sample()
	doc.Entries = slices.Repeat(doc.Entries, 5_000)
	for _, format := range documentFormats() {
		b.Run(format.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := format.WriteOne(b.Context(), io.Discard, withoutStory(&doc)); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type fataler interface {
	Helper()
	Fatal(args ...any)
}

func named(t fataler, name string) exporters.Format {
	t.Helper()
	format, err := exporters.ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return format
}

// documentFormats returns the formats without Book.
func documentFormats() []exporters.Format {
	return slices.DeleteFunc(exporters.All(), func(f exporters.Format) bool { return f.Book })
}

// withoutStory returns a codex of a story that has no text.
func withoutStory(doc *exporters.Document) *exporters.Codex {
	return &exporters.Codex{Document: doc, History: historyOf(doc), Text: &storyOf{}, Scenes: someScenes()}
}

// export returns a document as one file.
func export(t fataler, format exporters.Format, doc *exporters.Document) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := format.WriteOne(context.Background(), &out, withoutStory(doc)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// unzip returns the files of a zip archive in its order.
func unzip(t fataler, text []byte) []txtar.File {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	var files []txtar.File
	for _, f := range archive.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, txtar.File{Name: f.Name, Data: content})
	}
	return files
}

func document(t *rapid.T) exporters.Document {
	doc := exporters.Build(exporters.Story{Title: text().Draw(t, "title")}, entries().Draw(t, "entries"), position)
	if rapid.Bool().Draw(t, "as of") {
		doc.AsOf = &annotator.Position{Scene: 1}
	}
	return doc
}

func entries() *rapid.Generator[[]annotator.Entry] {
	return rapid.SliceOfN(rapid.Custom(entry), 0, 4)
}

func entry(t *rapid.T) annotator.Entry {
	return annotator.Entry{
		ID:            rapid.Int64Range(1, 9).Draw(t, "id"),
		Term:          text().Draw(t, "term"),
		Disambiguator: text().Draw(t, "disambiguator"),
		Status:        annotator.Confirmed,
		Tags:          rapid.SliceOfN(text(), 0, 3).Draw(t, "tags"),
		Aliases:       rapid.SliceOfN(rapid.Custom(alias), 0, 2).Draw(t, "aliases"),
		Claims:        rapid.SliceOfN(rapid.Custom(claim), 0, 2).Draw(t, "claims"),
		First:         place().Draw(t, "first"),
		Last:          place().Draw(t, "last"),
		Locked:        rapid.Bool().Draw(t, "locked"),
		Present:       text().Draw(t, "present"),
		PresentAt:     place().Draw(t, "present at"),
	}
}

func alias(t *rapid.T) annotator.Alias {
	return annotator.Alias{Name: text().Draw(t, "alias"), From: place().Draw(t, "from")}
}

func claim(t *rapid.T) annotator.Claim {
	return annotator.Claim{
		Text: text().Draw(t, "claim"), Kind: annotator.Inferred, From: place().Draw(t, "from"),
		Until:    place().Draw(t, "until"),
		Evidence: rapid.SliceOfN(rapid.Custom(evidence), 0, 2).Draw(t, "evidence"), ID: rapid.Int64().Draw(t, "id"),
		Speaker: text().Draw(t, "speaker"), State: rapid.Bool().Draw(t, "state"), ReplacedBy: rapid.Int64Range(0, 2).
				Draw(t, "replaced by"),
		Relation: text().Draw(t, "relation"), Object: text().Draw(t, "object"),
	}
}

func evidence(t *rapid.T) annotator.Evidence {
	return annotator.Evidence{
		Post: rapid.Int64().Draw(t, "post"), End: rapid.Int().Draw(t, "end"),
		Quote: text().Draw(t, "quote"),
	}
}

func place() *rapid.Generator[annotator.Place] {
	return rapid.Map(rapid.IntRange(0, 40),
		func(scene int) annotator.Place { return annotator.PlaceAt(annotator.Order(scene), scene%3) })
}

// text generates strings that parsers may misread.
func text() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]rune(
		" \n\r\t\v\f\a\b\x01\x1b\x1f\x7f\u0080\u0085\u009f\u00a0\u00ad" +
			"\u2028\u2029\u200b\ufeff\ufffd\ufffe\uffff😀\U0010ffff:#-?!&*|>%@`'\"\\[]{},=~<01aé東"))
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "<<", "\n", "\n x", "\r\n", " lead", "trail ", "null", "~", "yes", "No", "on", "1", "0x1f", "0o7",
			"1e3", ".inf", "-.INF", ".nan",
			"2001-01-01", "1:30", "- a", "a: b", "a #b", "---", "...", "%YAML", "!!str x", "&a", "*a", "`", "@", "\t",
			"\\", `"`, "'", "= ", "?", "\\u0041", "x\n\n\n",
		}),
		rapid.StringOf(odd),
		rapid.String(),
	).Filter(func(s string) bool { return utf8.ValidString(s) && !bytes.ContainsRune([]byte(s), 0) })
}

// TestEveryExporterIsListed fails if All lacks a function that writes a format.
func TestEveryExporterIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(
		`(?m)^func (write\w+)\((?:\w+ io\.Writer, \w+ \*Document|_?\w* ?context\.Context, \w+ (?:io\.Writer|` +
			`Files), \w+ ` +
			`\*Codex)\) error`)
	listed, err := os.ReadFile("format.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declaration.FindAllSubmatch(text, -1) {
			found++
			if !regexp.MustCompile(`Write(Files)?: (ofDocument\()?` + string(match[1]) + `\b`).Match(listed) {
				t.Errorf("All does not list %s", match[1])
			}
		}
	}
	if found != len(exporters.All()) {
		t.Errorf("%d functions write formats; All has %d", found, len(exporters.All()))
	}
}
