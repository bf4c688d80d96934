package view

import (
	"strconv"
	"strings"

	"annotator"
)

// PointKind says what names a point of the story or of the run.
type PointKind string

// The kinds of points.
const (
	PointScene    PointKind = "scene"   // its end
	PointChapter  PointKind = "chapter" // its end
	PointBook     PointKind = "book"    // its end
	PointPost     PointKind = "post"
	PointThread   PointKind = "thread" // its end
	PointSnapshot PointKind = "snapshot"
	PointStart    PointKind = "start" // before the story; it has no id
)

// Point is a point of the story or of the run, as users name it.
type Point struct {
	Kind PointKind
	ID   int64  // of a scene or a book: its number; of a chapter: 0
	Name string // of a chapter: its number, "#" with its rank in the story, or its title; of others: empty
}

// String returns the point in the form that ParsePoint reads.
func (p Point) String() string {
	switch p.Kind {
	case PointStart:
		return string(p.Kind)
	case PointChapter:
		return string(p.Kind) + ":" + p.Name
	}
	return string(p.Kind) + ":" + strconv.FormatInt(p.ID, 10)
}

// ParsePoint reads start, book:N, chapter:NAME, scene:N, post:ID, thread:ID or snapshot:N. A bare number is a scene's.
// Anything else is Misused. Whether the story has such a chapter, only MomentAt and LimitAt tell.
func ParsePoint(text string) (Point, error) {
	kind, name, named := strings.Cut(strings.TrimSpace(text), ":")
	if kind == string(PointStart) && !named {
		return Point{Kind: PointStart}, nil
	}
	if !named {
		kind, name = string(PointScene), kind
	}
	p := Point{Kind: PointKind(kind)}
	switch p.Kind {
	case PointChapter:
		p.Name = strings.Join(strings.Fields(strings.ToValidUTF8(name, "")), " ")
		if title, _ := unquote(p.Name); title != "" {
			return p, nil
		}
	case PointScene, PointBook, PointPost, PointThread, PointSnapshot:
		id, err := strconv.ParseInt(name, 10, 64)
		if p.ID = id; err == nil && id > 0 {
			return p, nil
		}
	}
	return Point{}, annotator.Errorf(annotator.Misused, "%q names no point of the story", text).
		WithAdvice(`name one as chapter:20, chapter:"A title", scene:12 or snapshot:9`)
}

// quotes are the pairs of quotation marks that a title may be in.
var quotes = [...][2]string{{`"`, `"`}, {"“", "”"}, {"'", "'"}, {"«", "»"}, {"„", "“"}}

// unquote takes the quotation marks off a title, and reports whether it had any.
func unquote(name string) (title string, quoted bool) {
	for _, pair := range quotes {
		inner, opens := strings.CutPrefix(name, pair[0])
		inner, closes := strings.CutSuffix(inner, pair[1])
		if opens && closes {
			return strings.TrimSpace(inner), true
		}
	}
	return name, false
}
