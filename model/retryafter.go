package model

import (
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// endOfTime is after every date that a header can hold.
var endOfTime = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)

// ParseRetryAfter parses the value of a Retry-After header in the forms that servers send: whole or fractional seconds,
// seconds with a unit ("5s"), an HTTP date. It returns 0 where the value is empty, in the past or something else, and
// never a negative duration.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if f, err := strconv.ParseFloat(value, 64); err == nil || math.IsInf(f, 0) {
		return seconds(f)
	}
	if d, err := time.ParseDuration(value); err == nil {
		return max(d, 0)
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

func seconds(f float64) time.Duration {
	switch d := f * float64(time.Second); {
	case math.IsNaN(d), d <= 0:
		return 0
	case d >= math.MaxInt64:
		return math.MaxInt64
	default:
		return time.Duration(d)
	}
}
