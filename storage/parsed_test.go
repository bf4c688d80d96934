package storage_test

import (
	"database/sql"
	"encoding/json"
	"testing"

	"annotator"
	"annotator/internal/sqlite"
	"annotator/storage"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestParsedArgumentsAreRead: whatever a model writes and however it is parsed, the row that is read is the row that
// was written. SQLite finds the same arguments where only what the parsing has changed is stored.
func TestParsedArgumentsAreRead(t *testing.T) {
	t.Parallel()
	s := newStory(t, t.TempDir(), nil)
	db, err := sqlite.Open(s.ctx, s.path, sqlite.ReadOnly, 1)
	s.ok(err)
	t.Cleanup(func() { s.ok(db.Close()) })
	text := rapid.SampledFrom([]string{"", "a", "é <&> \u2028", "1"})
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		kinds := []*rapid.Generator[any]{
			rapid.Just[any](nil), rapid.Bool().AsAny(), text.AsAny(), rapid.Int64().AsAny(), rapid.Float64().AsAny(),
		}
		if depth > 0 {
			kinds = append(kinds, rapid.SliceOfN(value(depth-1), 0, 2).AsAny(),
				rapid.MapOfN(text, value(depth-1), 0, 2).AsAny())
		}
		return rapid.OneOf(kinds...)
	}
	object := rapid.MapOfN(text, value(2), 0, 3)
	check := func(t require, row *annotator.Trace) (patched bool) {
		want := row.Parsed
		if err := s.db.Journal.Append(s.ctx, row); err != nil {
			t.Fatalf("append: %v", err)
		}
		var read annotator.Trace
		err := sqlite.Each(s.ctx, db, func(rows *sql.Rows) error { return storage.ScanTrace(rows, &read) },
			`SELECT `+storage.TraceColumns+` FROM trace WHERE id = ?`, row.ID)
		if diff := cmp.Diff(want, read.Parsed); diff != "" || err != nil {
			t.Fatalf("%s: (-written +read) %s %v", row.Arguments, diff, err)
		}
		var seen string
		if err := db.QueryRowContext(s.ctx, `SELECT json_patch(arguments, parsed ->> 'patch') FROM trace
			WHERE id = ? AND parsed ->> 'patch' IS NOT NULL`, row.ID).Scan(&seen); err != nil {
			return false
		}
		var got any
		err = json.Unmarshal([]byte(seen), &got)
		if err != nil || annotator.EncodeJSON(got) != string(want.Arguments) {
			t.Fatalf("SQLite reads %s, not %s", seen, want.Arguments)
		}
		return true
	}
	if !check(t, &annotator.Trace{
		Kind: annotator.TraceNote, Tool: "note", Arguments: `{"term": "Dawn", "old": 1}`,
		Parsed: annotator.Parsed{ParsedCall: annotator.ParsedCall{
			Tool: "note", Arguments: []byte(`{"status":"tentative","term":"Dawn"}`),
		}},
	}) {
		t.Error("the row holds its arguments twice")
	}
	rapid.Check(t, func(t *rapid.T) {
		written := object.Draw(t, "written")
		parsed := map[string]any{}
		if rapid.Bool().Draw(t, "similar") {
			for key, value := range written {
				parsed[key] = value
			}
		}
		for key, value := range object.Draw(t, "changed") {
			parsed[key] = value
		}
		row := annotator.Trace{Kind: annotator.TraceNote, Tool: "note", Arguments: annotator.EncodeJSON(written)}
		if rapid.IntRange(0, 9).Draw(t, "broken") == 0 {
			row.Arguments += "}"
		}
		row.Parsed.Tool = rapid.SampledFrom([]string{"note", "other"}).Draw(t, "tool")
		if row.Parsed.Arguments = nil; rapid.IntRange(0, 9).Draw(t, "none") > 0 {
			row.Parsed.Arguments = json.RawMessage(annotator.EncodeJSON(parsed))
		}
		check(t, &row)
	})
}

// require is a test that can fail.
type require interface {
	Fatalf(format string, args ...any)
}
