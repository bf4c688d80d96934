package ingest

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// scalar is a JSON value that archives write as a number or as a string, as they please. composite is a list or an
// object.
type scalar string

const composite = scalar("\x00")

var (
	errNotJSON  = errors.New("no JSON object")
	errMistyped = errors.New("a field of the wrong type")
	errNoScalar = errors.New("a list or an object where a value belongs")
	errNoNumber = errors.New("an id that is no whole number")
	errNoTime   = errors.New("a time that is neither seconds nor a date")
)

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '{', '[':
		*s = composite
	case '"':
		return json.Unmarshal(data, (*string)(s))
	default:
		*s = scalar(data)
	}
	return nil
}

// id reads a post's or thread's id.
func (s scalar) id() (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSpace(string(s)), 10, 64)
	if err != nil {
		return 0, errNoNumber
	}
	return n, nil
}

// maxSeconds parts seconds from milliseconds: as seconds it is the year 5138.
const maxSeconds = 100_000_000_000

// unix reads a time, in seconds: a number of seconds or milliseconds since 1970, or a date as RFC 3339 writes it.
func (s scalar) unix() (int64, error) {
	if at, err := time.Parse(time.RFC3339, string(s)); err == nil {
		return at.Unix(), nil
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(string(s)), 64)
	if err != nil || seconds != seconds || seconds > 1e15 || seconds < -1e15 {
		return 0, errNoTime
	}
	if seconds > maxSeconds || seconds < -maxSeconds {
		seconds /= 1000
	}
	return int64(seconds), nil
}

// fields are those of a JSON object that says something of a post, by their names in lower case. nil is null. The first
// fault that reading them meets is kept.
type fields struct {
	object []byte
	values map[string]*scalar
	fault  error
}

// parseFields reads an object. Of names that differ in case alone the one in lower case counts.
func parseFields(object []byte) (*fields, error) {
	var values map[string]*scalar
	if err := json.Unmarshal(object, &values); err != nil || values == nil {
		return nil, errNotJSON
	}
	f := &fields{object: object, values: make(map[string]*scalar, len(values))}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		f.values[strings.ToLower(name)] = values[name]
	}
	return f, nil
}

// has reports whether one of some fields is there, if only as an empty text.
func (f *fields) has(names ...string) bool {
	return slices.ContainsFunc(names, func(name string) bool { return f.values[name] != nil })
}

// first is the first of some fields that has a value. One that is a list or an object is a fault.
func (f *fields) first(names ...string) scalar {
	for _, name := range names {
		switch value := f.values[name]; {
		case value == nil || *value == "":
		case *value == composite:
			f.fail(errNoScalar)
			return ""
		default:
			return *value
		}
	}
	return ""
}

func (f *fields) text(names ...string) string { return string(f.first(names...)) }

// id reads the first of some fields as a number.
func (f *fields) id(names ...string) int64 {
	id, err := f.first(names...).id()
	f.fail(err)
	return id
}

// time reads the first of some fields as a time; otherwise is what a post without any has.
func (f *fields) time(otherwise int64, names ...string) int64 {
	value := f.first(names...)
	if value == "" {
		return otherwise
	}
	at, err := value.unix()
	f.fail(err)
	return at
}

func (f *fields) fail(err error) { f.fault = cmp.Or(f.fault, err) }
