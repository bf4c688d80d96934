package exporters_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"unicode/utf8"

	"annotator"
	"annotator/exporters"

	goccy "github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
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
					ID: 1, Text: "Mik's ship has three masts.", Kind: annotator.Narrated, From: at(1, 2), Until: at(12, 1),
					Evidence: []annotator.Evidence{{Claim: 1, Post: 1002, Start: 4, End: 32, Quote: "three masts & \"no\" oars:\n- # 1"}},
				},
				{ID: 2, Text: "She has two masts since the storm.", Kind: annotator.Claimed, From: at(12, 1)},
				{ID: 3, Text: "null", Kind: annotator.Inferred, From: at(31, 0)},
			},
			First: at(1, 2), Last: at(31, 0), Revisions: 9, Locked: true,
		},
		{ID: 3, Term: "Ærith", Status: annotator.Tentative, First: at(2, 0), Last: at(2, 0), Revisions: 1},
	}, position)
	doc.AsOf = &annotator.Position{Thread: 103, Scene: 31, Post: 31000}
	return doc
}

func TestGolden(t *testing.T) {
	t.Parallel()
	full, empty := sample(), exporters.Build(exporters.Story{}, nil, position)
	for _, exporter := range exporters.All() {
		golden(t, exporter, &full, "glossary."+exporter.Name())
		golden(t, exporter, &empty, "empty."+exporter.Name())
	}
}

func golden(t *testing.T, exporter exporters.Exporter, doc *exporters.Document, name string) {
	t.Helper()
	got, path := export(t, exporter, doc), filepath.Join("testdata", name)
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
		if diff := cmp.Diff(whole.String(), string(export(t, exporters.JSON{}, &doc))); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestEveryFormatGivesTheDocumentBack(t *testing.T) {
	t.Parallel()
	parsers := map[string]func([]byte, any) error{"encoding/json": json.Unmarshal, "yaml.v3": yaml.Unmarshal, "goccy": goccy.Unmarshal}
	formats := map[string]exporters.Exporter{"encoding/json": exporters.JSON{}, "yaml.v3": exporters.YAML{}, "goccy": exporters.YAML{}}
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

// Both formats have the same data for a reader without types.
func TestUntypedYAMLIsUntypedJSON(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		doc := document(t)
		var fromJSON, fromYAML, fromGoccy any
		decoder := json.NewDecoder(bytes.NewReader(export(t, exporters.JSON{}, &doc)))
		decoder.UseNumber()
		if err := decoder.Decode(&fromJSON); err != nil {
			t.Fatal(err)
		}
		text := export(t, exporters.YAML{}, &doc)
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
	for _, exporter := range exporters.All() {
		size := len(export(t, exporter, &doc))
		for room := 0; room < size; room += 10_000 {
			if err := exporter.Write(&fullDisk{room: room}, &doc); !errors.Is(err, errFull) {
				t.Fatalf("%s with room for %d of %d bytes: %v", exporter.Name(), room, size, err)
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

func TestByName(t *testing.T) {
	t.Parallel()
	for _, want := range exporters.All() {
		if got, err := exporters.ByName(want.Name()); err != nil || got != want {
			t.Errorf("%s: %v, %v", want.Name(), got, err)
		}
	}
	if _, err := exporters.ByName("csv"); !errors.Is(err, annotator.Misused) {
		t.Errorf("a format that is not there: %v", err)
	}
}

func BenchmarkWrite(b *testing.B) {
	doc := sample()
	doc.Entries = slices.Repeat(doc.Entries, 5_000)
	for _, exporter := range exporters.All() {
		b.Run(exporter.Name(), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := exporter.Write(io.Discard, &doc); err != nil {
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

func export(t fataler, exporter exporters.Exporter, doc *exporters.Document) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := exporter.Write(&out, doc); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
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
	}
}

func alias(t *rapid.T) annotator.Alias {
	return annotator.Alias{Name: text().Draw(t, "alias"), From: place().Draw(t, "from")}
}

func claim(t *rapid.T) annotator.Claim {
	return annotator.Claim{
		Text: text().Draw(t, "claim"), Kind: annotator.Inferred, From: place().Draw(t, "from"), Until: place().Draw(t, "until"),
		Evidence: rapid.SliceOfN(rapid.Custom(evidence), 0, 2).Draw(t, "evidence"),
	}
}

func evidence(t *rapid.T) annotator.Evidence {
	return annotator.Evidence{Post: rapid.Int64().Draw(t, "post"), End: rapid.Int().Draw(t, "end"), Quote: text().Draw(t, "quote")}
}

func place() *rapid.Generator[annotator.Place] {
	return rapid.Map(rapid.IntRange(0, 40), func(scene int) annotator.Place { return annotator.PlaceAt(scene, scene%3) })
}

// text generates strings that parsers misread.
func text() *rapid.Generator[string] {
	odd := rapid.SampledFrom([]rune(" \n\r\t\v\f\a\b\x01\x1b\x1f\x7f\u0080\u0085\u009f\u00a0\u00ad\u2028\u2029\u200b\ufeff\ufffd\ufffe\uffff😀\U0010ffff:#-?!&*|>%@`'\"\\[]{},=~<01aé東"))
	return rapid.OneOf(
		rapid.SampledFrom([]string{
			"", "<<", "\n", "\n x", "\r\n", " lead", "trail ", "null", "~", "yes", "No", "on", "1", "0x1f", "0o7", "1e3", ".inf", "-.INF", ".nan",
			"2001-01-01", "1:30", "- a", "a: b", "a #b", "---", "...", "%YAML", "!!str x", "&a", "*a", "`", "@", "\t", "\\", `"`, "'", "= ", "?", "\\u0041", "x\n\n\n",
		}),
		rapid.StringOf(odd),
		rapid.String(),
	).Filter(func(s string) bool { return utf8.ValidString(s) && !bytes.ContainsRune([]byte(s), 0) })
}

// TestEveryExporterIsListed fails where a type writes documents and All does not list it.
func TestEveryExporterIsListed(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	declaration := regexp.MustCompile(`(?m)^func \((?:\w+ )?(\w+)\) Write\(\w+ io\.Writer, \w+ \*Document\) error`)
	var declared, listed []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, match := range declaration.FindAllStringSubmatch(string(text), -1) {
			declared = append(declared, match[1])
		}
	}
	for _, e := range exporters.All() {
		listed = append(listed, reflect.TypeOf(e).Name())
	}
	slices.Sort(listed)
	if diff := cmp.Diff(declared, listed); diff != "" {
		t.Errorf("All is not what the package declares (-declared +listed):\n%s", diff)
	}
}
