package edits_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"annotator"
	"annotator/codex"
	"annotator/edits"
	"annotator/exporters"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// described returns the entries of a seed, one a line: "name = names [tags] facts".
func described(s *edits.Seed) (lines []string) {
	for i := range s.Operation.Parts {
		op := &s.Operation.Parts[i]
		line := op.Name
		for _, part := range op.Parts {
			if part.Name != "" {
				line += " = " + part.Name
			}
		}
		if op.Tags != nil {
			line += fmt.Sprint(" ", op.Tags)
		}
		for _, part := range op.Parts {
			if part.Text != "" {
				line += " / " + part.Text
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// TestSeedsOfAllForms reads entries as people and programs write them.
func TestSeedsOfAllForms(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, text, want, left string }{
		{
			"names.txt", "Ysolde Marrow | the Warden | Marrow\n\nGallows Quay\nGallows  quay | the Quay\n",
			"Ysolde Marrow = the Warden = Marrow\nGallows Quay = the Quay", "",
		},
		{
			"names.csv", "term;names;tags;definition\nDawn (ship);\"the Dawn\nOld Dawn\";ship;She sails. She leaks.\n",
			"Dawn (ship) = the Dawn = Old Dawn [ship] / She sails. / She leaks.", "",
		},
		{
			"mine.yaml", "entries:\n- term: Dawn\n  aliases: [{name: Old Dawn}]\n  tags: [ship]\n  claims:\n" +
				"  - {text: She sails., kind: claimed, speaker: Mik}\n  - {text: She is lost., until: {scene: 9}}\n" +
				"- {term: Gone, status: retired}\n",
			"Dawn = Old Dawn [ship] / She sails. (according to Mik)", `"Gone": an entry that is retired`,
		},
		{"list.json", `["Dawn", "Mik"]`, "Dawn\nMik", ""},
		{
			"info.json", `{"entries": {"0": {"uid": 0, "key": ["dawn", "/d.wn/i"], "comment": "The Dawn", ` +
				`"content": "@@depth 4\n{{char}} is a ship. She leaks."}, "1": {"uid": 1, "key": ["Mik"], "comment": "", ` +
				`"content": "A boy."}, "2": {"comment": "Off", "disable": true}, "3": {"content": "Rules."}}}`,
			"The Dawn = dawn / The Dawn is a ship. / She leaks.\nMik / A boy.",
			"The Dawn: the key \"/d.wn/i\" is a pattern\n" +
				"\"Off\": it is switched off\nan entry without a name: \"Rules.\"",
		},
		{"book.json", `{"spec": "lorebook_v3", "data": {"entries": [{"keys": ["Dawn"], "name": "Dawn", ` +
			`"content": "A ship.", "enabled": true}]}}`, "Dawn / A ship.", ""},
		{
			"card.json", `{"spec": "chara_card_v2", "data": {"name": "Mik", "description": "{{char}} is a boy.", ` +
				`"personality": "", "character_book": {"entries": [{"keys": ["Dawn"], "content": "A ship."}]}}}`,
			"Mik / Mik is a boy.\nDawn / A ship.", "",
		},
		{
			"novel.lorebook", `{"lorebookVersion": 6, "categories": [{"id": "c", "name": "ships"}], "entries": [` +
				`{"text": "Dawn: A ship.", "displayName": "Dawn", "keys": ["the Dawn"], "enabled": true, "category": "c"}]}`,
			"Dawn = the Dawn [ships] / A ship.", "",
		},
		{"agnai.json", `{"kind": "memory", "name": "n", "entries": [{"name": "Dawn", "entry": "A ship.", ` +
			`"keywords": ["Old Dawn"], "enabled": true}]}`, "Dawn = Old Dawn / A ship.", ""},
		{
			"risu.json", `{"type": "risu", "data": [{"key": "Dawn, Old Dawn", "comment": "", "content": "A ship."}]}`,
			"Dawn = Old Dawn / A ship.", "",
		},
	} {
		seed, err := edits.ReadSeed(test.file, []byte(test.text), false)
		if err != nil {
			t.Errorf("%s: %v", test.file, err)
			continue
		}
		if diff := cmp.Diff(test.want, strings.Join(described(seed), "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.file, diff)
		}
		var left []string
		for _, note := range seed.Left {
			left = append(left, note.Text)
		}
		if diff := cmp.Diff(test.left, strings.Join(left, "\n")); diff != "" {
			t.Errorf("%s leaves out (-want +got):\n%s", test.file, diff)
		}
	}
}

func TestWrongSeedsAreRefused(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ file, text, want string }{
		{"a.txt", " \n", "the file has no entry"},
		{"a.txt", "Dawn\n---\n", `line 2: "---": EMPTY`},
		{"a.txt", strings.Repeat("x", 201), "TOO_LONG"},
		{"a.txt", "\xff", "no text in UTF-8"},
		{"a.json", `{"entries": {`, "the file ends too early"},
		{"a.json", `{"a": 1}`, "it has no entries"},
		{"a.yaml", "Dawn", "neither an export of a codex nor a lorebook"},
		{"a.csv", "id\n1\n", `there is no column "term"`},
		{"a.txt", strings.Repeat(" ", edits.MaxSeed+1), "too large"},
	} {
		_, err := edits.ReadSeed(test.file, []byte(test.text), false)
		if annotator.KindOf(err) != annotator.Misused || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%.40q: %v, and not %q", test.text, err, test.want)
		}
	}
}

// TestSeedsOfExports: what an export tells of its entries is a seed without places, quotations or voices of the story.
// So is what a lorebook tells whose texts are as they were written, and it is the same.
func TestSeedsOfExports(t *testing.T) {
	t.Parallel()
	position := func(p annotator.Place) annotator.Position {
		return annotator.Position{Scene: int(p.Order()), Thread: 1}
	}
	rapid.Check(t, func(t *rapid.T) {
		entries := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) annotator.Entry {
			e := annotator.Entry{
				Term: rapid.StringMatching(`[A-Z][a-z]{1,6}`).Draw(t, "term"), Status: annotator.Confirmed,
				Tags: rapid.SliceOfN(rapid.SampledFrom([]string{"person"}), 0, 1).Draw(t, "tags"),
			}
			for i := range rapid.IntRange(0, 3).Draw(t, "facts") {
				c := annotator.Claim{
					ID: int64(i + 1), Ord: i, Text: rapid.StringMatching(`[A-Z][a-z /@:]{3,20}\.`).Draw(t, "text"),
					Kind: rapid.SampledFrom([]annotator.ClaimKind{
						annotator.Narrated, annotator.Claimed,
						annotator.Inferred, annotator.Noted,
					}).Draw(t, "kind"),
					From: annotator.PlaceAt(annotator.Order(rapid.IntRange(1, 9).Draw(t, "from")), 0),
				}
				if rapid.Bool().Draw(t, "over") {
					c.Until, c.Ended = annotator.PlaceAt(9, 0), annotator.EndOver
				} else {
					c.Evidence = []annotator.Evidence{{Claim: c.ID, Post: 7, End: 3, Quote: "sea"}}
				}
				e.Claims = append(e.Claims, c)
			}
			return e
		}), 1, 4, func(e annotator.Entry) string { return codex.Normalize(e.Term) }).Draw(t, "entries")
		for i := range entries {
			entries[i].ID = int64(i + 1)
		}
		doc := exporters.Build(exporters.Story{Title: "T"}, entries, position)
		var first string
		for _, format := range []string{"json", "yaml", "world-info", "card-v2", "card-v3"} {
			text := exported(t, format, &doc)
			seed, err := edits.ReadSeed("f."+strings.Split(format, "-")[0], text, false)
			if format != "yaml" {
				seed, err = edits.ReadSeed("f.json", text, false)
			}
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			for i := range seed.Operation.Parts {
				for _, part := range seed.Operation.Parts[i].Parts {
					if part.Text != "" && (part.Kind != annotator.Noted || part.Evidence != nil || part.From != 0 ||
						part.Speaker != "") {
						t.Fatalf("%s: a fact is not the reader's: %+v", format, part)
					}
				}
			}
			now := strings.Join(slices.Sorted(slices.Values(described(seed))), "\n")
			if first == "" {
				first = now
			}
			if now != first {
				t.Fatalf("%s:\n%s\nand json:\n%s", format, now, first)
			}
		}
	})
}

func exported(t *rapid.T, format string, doc *exporters.Document) []byte {
	all := exporters.All()
	at := slices.IndexFunc(all, func(f exporters.Format) bool { return f.Name == format })
	if at < 0 {
		t.Fatalf("there is no format %s", format)
	}
	var out bytes.Buffer
	if err := all[at].Write(context.Background(), &out, &exporters.Codex{Document: doc}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzSeed: a file of any content is a seed that the rules of the codex take, or an error of its kind.
func FuzzSeed(f *testing.F) {
	for _, text := range []string{
		`{"entries": {"0": {"key": ["a"], "content": "b"}}}`, `{"data": {"name": "a", "description": "b"}}`,
		"entries:\n- term: a\n  claims:\n  - text: b", "term,names\na,b", "a | b", `[{"name": "a", "keys": "b, c"}]`,
	} {
		for kind := range byte(3) {
			f.Add(kind, []byte(text))
		}
	}
	f.Fuzz(func(t *testing.T, kind byte, text []byte) {
		seed, err := edits.ReadSeed([]string{"f.txt", "f.yaml", "f.csv"}[kind%3], text, kind%2 == 0)
		if err != nil {
			if annotator.KindOf(err) != annotator.Misused {
				t.Fatal(err)
			}
			return
		}
		names := map[string]bool{}
		for i := range seed.Operation.Parts {
			op := &seed.Operation.Parts[i]
			revisions, err := codex.Perform(op, &codex.Subject{})
			if err != nil {
				t.Fatal(err)
			}
			var e annotator.Entry
			for k := range revisions {
				if err := codex.Apply(&e, &revisions[k]); err != nil {
					t.Fatal(err)
				}
			}
			if key := codex.Normalize(e.Name()); names[key] {
				t.Fatalf("two entries are %q", key)
			} else {
				names[key] = true
			}
		}
	})
}
