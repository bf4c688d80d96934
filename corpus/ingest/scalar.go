package ingest

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// scalar is a JSON value that archives write as a number or as a string, as they please. null is as if it were not
// there.
type scalar string

var (
	errNoScalar = errors.New("a list or an object where a value belongs")
	errNoNumber = errors.New("an id that is no whole number")
	errNoTime   = errors.New("a time that is neither seconds nor a date")
)

// UnmarshalJSON implements json.Unmarshaler.
func (s *scalar) UnmarshalJSON(data []byte) error {
	switch data[0] {
	case '{', '[':
		return errNoScalar
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(data, (*string)(s))
	}
	*s = scalar(data)
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
