package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/corpus"
	"annotator/storage"
)

// cited is a post that an answer names.
type cited struct {
	Post     int64               `json:"post"`
	Position *annotator.Position `json:"position,omitempty"` // of a post that tells the story
	Text     string              `json:"text,omitempty"`     // its first line
	Doubt    string              `json:"doubt,omitempty"`    // why the answer cannot rest on it
}

// citation is the form in which posts are named: [post 12], [posts 12, 13].
var citation = regexp.MustCompile(`(?i)\[posts?[ :#]+([0-9][0-9 ,;#]*)\]`)

// citations returns the posts that a text names, in order, each once.
func citations(text string) []int64 {
	var ids []int64
	for _, match := range citation.FindAllStringSubmatch(text, -1) {
		for _, number := range strings.FieldsFunc(match[1], func(r rune) bool { return r < '0' || r > '9' }) {
			if id, err := strconv.ParseInt(number, 10, 64); err == nil && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// cited looks up the posts that an answer names.
func (c *conversation) cited(ctx context.Context, text string) ([]cited, error) {
	list := []cited{}
	places := newPlaces(ctx, c.db)
	for _, id := range citations(text) {
		post, err := c.citedPost(ctx, places, id)
		if err != nil {
			return nil, err
		}
		list = append(list, post)
	}
	return list, places.err
}

func (c *conversation) citedPost(ctx context.Context, places *places, id int64) (cited, error) {
	p := cited{Post: id}
	place, err := c.db.Scenes.PlaceOf(ctx, id)
	switch {
	case annotator.KindOf(err) == annotator.NotFound:
		p.Doubt = "it is in no scene"
	case err != nil:
		return p, err
	default:
		position := places.at(place)
		p.Position = &position
		if place.Scene() > c.summoned.Snapshot.Scene {
			p.Doubt = "it comes later than the snapshot"
		}
	}
	if c.story == nil {
		return p, nil
	}
	post, err := c.story.Post(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		p.Doubt = "there is no such post"
		return p, nil
	}
	if err == nil {
		p.Text = firstLine(post.Body)
	}
	return p, err
}

func firstLine(body string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(body), "\n")
	return shortened(line, 160)
}

// openStory opens the corpus that is named, else the run's own; nil where that is gone.
func openStory(ctx context.Context, db *storage.DB, named string) (*corpus.DB, error) {
	if named != autoCorpus {
		return corpus.Open(ctx, named)
	}
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	path := corpusOfRun(&run, db.Path())
	if path == "" {
		return nil, nil
	}
	return corpus.Open(ctx, path)
}

func (a *answer) print(w io.Writer) error {
	lines := strings.Split(clean(a.Answer), "\n")
	for i := range lines {
		lines[i] = hanging(lines[i], 0, terminalWidth(w))
	}
	if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")); err != nil || len(a.Posts) == 0 {
		return err
	}
	rows := [][]string{}
	for _, p := range a.Posts {
		at := ""
		if p.Position != nil {
			at = fmt.Sprintf("scene %d, thread %d", p.Position.Scene, p.Position.Thread)
		}
		if p.Doubt != "" {
			at = strings.TrimPrefix(at+": "+p.Doubt, ": ")
		}
		rows = append(rows, []string{fmt.Sprintf("post %d", p.Post), at, shortened(p.Text, 90)})
	}
	fmt.Fprintln(w)
	return table(w, rows)
}
