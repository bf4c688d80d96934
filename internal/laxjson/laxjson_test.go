package laxjson_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"annotator/internal/laxjson"
)

func TestSlipsAreRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{'a': 'b', "c": “d”, e: ‘f’}`:            `{"a":"b","c":"d","e":"f"}`,
		`{"a": True, "b": None, "c": FALSE}`:      `{"a":true,"b":null,"c":false}`,
		"{\"a\": \"b\nc\td\"}":                    `{"a":"b\nc\td"}`,
		`{"a\_b": "it\'s \x41 \d"}`:               `{"a_b":"it's A d"}`,
		`{"a": ("b", 'c'), "d": (1,),}`:           `{"a":["b","c"],"d":[1]}`,
		"{\"a\": 5 // at most\n, /* b */ 'c': 1}": `{"a":5,"c":1}`,
		`{"a": \n5\n}`:                            `{"a":5}`,
		`{a:<|"|>b<|"|>,c:<escape>d<escape>}`:     `{"a":"b","c":"d"}`,
		`{"a": """b "c" d"""}`:                    `{"a":"b \"c\" d"}`,
		`{"a": [{b: 1} {"c": [{}{}]}, {}]}`:       `{"a":[{"b":1},{"c":[{},{}]},{}]}`,
		`{"a" : 1.50e3}`:                          `{"a" : 1.50e3}`,
		"\ufeff```json\n{\"a\": 1}\n```\n</x>":    `{"a": 1}`,
		`"{\"a\": 'b'}"`:                          `{"a":"b"}`,
	} {
		if got, err := laxjson.Object(text); got != want || err != nil {
			t.Errorf("%s: %s, %v; want %s", text, got, err, want)
		}
	}
}

func TestAmbiguousTextIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		``, `{`, `{"a"`, `{"a":`, `{"a": "b`, `{"a": "b"`, `{"a": ["b"}`, `{"a": 1 "b": 2}`, `{"a": 1,, "b": 2}`, `{,}`,
		`{"a": b}`, `{"a": f(1)}`,
		`{"a": "b" + "c"}`, `{"a": "b"*2}`, `{"a": 1+2}`, `{"a": (1)}`, `{"a": "b" "c"}`, `{"a": "say "b" now"}`,
		`{"a": 'it's'}`, `{"a": 1, 'a': 2}`,
		`{"a": 1, ...}`, `{"a": [1, ...]}`, `{"a": 1} and`, `{"a": 1}{"b": 2}`, `{"a": 007}`, `{"a": 1.}`,
		`{"a": Trueish}`, `{'a': '\ud800'}`, `[1]`, `{1: 2}`,
		`{"a": [{"b": 1} "c"]}`, `{"a": ["c" {"b": 1}]}`, `{"a": [[1] [2]]}`, `{{"b": 1} {"c": 2}}`,
		`{"a": {"b": 1} {"c": 2}}`,
		`{"a": [{"b": "the sign "} {" hung"}]}`, `{"a": "b\`, `{"a": f"b"}`, `{"a": NaN}`,
		strings.Repeat(`{"a":`, 30) + "1" + strings.Repeat("}", 30),
	} {
		if got, err := laxjson.Object(text); err == nil {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

// TestReadingsHaveAllOfTheText: an extra bracket and missing commas give the readings that contain all of the text.
func TestReadingsHaveAllOfTheText(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		`{"a": 1}`:                        {`{"a": 1}`},
		`{"a": 1}}`:                       {`{"a": 1}`, `{"a":1}`},
		`{"a": {"b": 1}}}`:                {`{"a": {"b": 1}}`, `{"a":{"b":1}}`},
		`{"a": {"b": 1}, "c": 2}}`:        {`{"a": {"b": 1}, "c": 2}`, `{"a":{"b":1,"c":2}}`, `{"a":{"b":1},"c":2}`},
		`{"a": ["b"}]}`:                   {`{"a":["b"]}`},
		`{"a": [{"b": 1}}, {"b": 2}]}`:    {`{"a":[{"b":1},{"b":2}]}`},
		`{"a": 1 "b": 'c' 'd': {"e": 2}}`: {`{"a":1,"b":"c","d":{"e":2}}`},
		`{"a": [1, 2]]} and`:              {`{"a":[1,2]}`},
		// These have no reading without a guess.
		`{"a": 1}}}`: nil, `{"a": 1}]}`: nil, `{"a": "b" "c"}`: nil, `{"a": ["b" "c"]}`: nil, `{"a": 1 b: 2}`: nil,
		`{"a": "say "b" now"}`: nil,
		`{"a": {"b": 1}`:       nil, `{"a": [1}`: nil, `{"a": [{"b": 1}}`: nil, `{"a": 1 "a": 2}`: nil,
		``: nil, `}`: nil,
	} {
		seen := map[string]bool{}
		for _, r := range laxjson.Readings(text) {
			seen[r.Strict] = true
		}
		if got := slices.Sorted(maps.Keys(seen)); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestReadingsAddNoEnd: truncated strict JSON has no reading. The first reading of complete JSON is the value itself.
// With an extra bracket, or without a comma before a key, the value is among the readings.
func TestReadingsAddNoEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		encoded, _ := json.Marshal(map[string]any{"a": draw(t, 0), "b": draw(t, 0)})
		text := string(encoded)
		cut := text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")]
		if got := laxjson.Readings(cut); got != nil {
			t.Fatalf("%s is read as %+v", cut, got)
		}
		comma := strings.LastIndex(text, `,"b":`)
		for _, slip := range []string{text, text + "}", text[:comma] + " " + text[comma+1:]} {
			if !slices.ContainsFunc(laxjson.Readings(slip),
				func(r laxjson.Reading) bool { return equal(r.Strict, text) && r.Size == len(slip) }) {
				t.Fatalf("%s is read as %+v", slip, laxjson.Readings(slip))
			}
		}
	})
}

// equal reports whether two texts are the same JSON.
func equal(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && reflect.DeepEqual(x, y)
}

// draw draws a JSON value.
func draw(t *rapid.T, depth int) any {
	text := rapid.StringOf(rapid.SampledFrom([]rune("ab'\"\\{}[](),:/#\n\t“”‘’ é漢"))).Draw(t, "text")
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && depth < 4:
		list := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			list = append(list, draw(t, depth+1))
		}
		return list
	case kind == 1 && depth < 4:
		object := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "size") {
			object[rapid.StringMatching(`[a-z_]{1,4}`).Draw(t, "key")] = draw(t, depth+1)
		}
		return object
	case kind == 2:
		return rapid.SampledFrom([]any{true, false, nil}).Draw(t, "literal")
	case kind == 3:
		return rapid.IntRange(-1000, 1000).Draw(t, "number")
	}
	return text
}

// TestStrictReadsTheSame: strict JSON is returned unchanged, and a truncated part of it is never an object.
func TestStrictReadsTheSame(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		encoded, _ := json.Marshal(map[string]any{"a": draw(t, 0), "b": draw(t, 0)})
		text := string(encoded)
		if got, err := laxjson.Object(text); got != text || err != nil {
			t.Fatalf("%s: %s, %v", text, got, err)
		}
		if cut := text[:rapid.IntRange(0, len(text)-1).Draw(t, "cut")]; true {
			if got, err := laxjson.Object(cut); err == nil {
				t.Fatalf("%s is read as %s", cut, got)
			}
		}
	})
}

// FuzzObject: the result is a strict object that is read unchanged, and no prefix of it is an object.
func FuzzObject(f *testing.F) {
	for _, text := range []string{
		`{'a': 'b', c: True, "d": (1, 2), /* e */ "f": "g\_h",}`,
		`{"a": "b\u00e9\ud83d\ude00"}`, `"{\"a\": 1}"`, "{“a”: ‘b’}", `{a:<|"|>b<|"|>}`,
	} {
		f.Add(text)
	}
	f.Add(`{"a": {"b": 1}, "c": 2}}`)
	f.Add(`{"a": 1 "b": [{}}, 2]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range laxjson.Readings(text) {
			if again, n, err := laxjson.Prefix(r.Strict); !json.Valid([]byte(r.Strict)) || n != len(r.Strict) ||
				again != r.Strict || err != nil || r.Size > len(text) {
				t.Fatalf("%q may be %q, of %d bytes; then %q, %v", text, r.Strict, r.Size, again, err)
			}
		}
		strict, n, err := laxjson.Prefix(text)
		if err != nil {
			return
		}
		again, m, err := laxjson.Prefix(strict)
		if !json.Valid([]byte(strict)) || again != strict || m != len(strict) || err != nil {
			t.Fatalf("%q: %q, then %q, %v", text, strict, again, err)
		}
		if strict[0] != '{' {
			return
		}
		for i := 0; i < n && n < 300; i++ {
			if cut, _, err := laxjson.Prefix(text[:i]); err == nil {
				t.Fatalf("%q, cut to %q, is %s", text, text[:i], cut)
			}
		}
	})
}
