package exporters

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"time"
)

// annotationSet is a set of annotations of Readium (readium/annotations), a profile of the Web Annotation Data Model.
type annotationSet struct {
	Context   string           `json:"@context"`
	ID        string           `json:"id"`
	Type      string           `json:"type"`
	Generator annotationAgent  `json:"generator"`
	Generated string           `json:"generated"`
	Title     string           `json:"title"`
	About     annotationsAbout `json:"about"`
	Items     []annotation     `json:"items"`
}

type annotationsAbout struct {
	Identifier []string `json:"dc:identifier"`
	Title      string   `json:"dc:title"`
}

type annotationAgent struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Name string `json:"name"`
}

type annotation struct {
	Context string           `json:"@context"`
	ID      string           `json:"id"`
	Type    string           `json:"type"`
	Created string           `json:"created"`
	Target  annotationTarget `json:"target"`
	Body    annotationBody   `json:"body"`
}

type annotationTarget struct {
	Source   string         `json:"source"` // the file in the book, or the post
	Selector []selector     `json:"selector"`
	Meta     annotationMeta `json:"meta"`
}

type annotationMeta struct {
	Headings []annotationHeading `json:"headings"`
}

type annotationHeading struct {
	Level int    `json:"level"`
	Text  string `json:"txt"`
}

// selector is a TextQuoteSelector or a TextPositionSelector.
type selector struct {
	Type   string `json:"type"`
	Exact  string `json:"exact,omitempty"`
	Prefix string `json:"prefix,omitempty"`
	Suffix string `json:"suffix,omitempty"`
	Start  *int   `json:"start,omitempty"` // in Unicode code points
	End    *int   `json:"end,omitempty"`
}

type annotationBody struct {
	Type      string   `json:"type"`
	Value     string   `json:"value"`
	Format    string   `json:"format"`
	Highlight string   `json:"highlight"`
	Tags      []string `json:"tags"`
}

const annotationContext = "http://www.w3.org/ns/anno.jsonld"

// quotation is a quotation with the claim that it supports.
type quotation struct {
	entry    *Entry
	claim    *Claim
	evidence *Evidence
}

// quotationsByPost returns the quotations of each post by their beginnings. They support claims that people are shown.
func quotationsByPost(entries []Entry) map[int64][]quotation {
	byPost := map[int64][]quotation{}
	for i := range entries {
		e := &entries[i]
		for c := range e.Claims {
			if !e.Claims[c].Shown() {
				continue
			}
			for q := range e.Claims[c].Evidence {
				evidence := &e.Claims[c].Evidence[q]
				byPost[evidence.Post] = append(byPost[evidence.Post], quotation{e, &e.Claims[c], evidence})
			}
		}
	}
	for _, list := range byPost {
		slices.SortStableFunc(list, func(a, b quotation) int {
			return cmp.Or(cmp.Compare(a.evidence.Start, b.evidence.Start), cmp.Compare(a.evidence.End, b.evidence.End))
		})
	}
	return byPost
}

// writeAnnotations writes the quotations as annotations of the story, each with the fact that it supports. In a book,
// an annotation is located by the quotation and the text around it. In a forum, it also has offsets in its post.
func writeAnnotations(ctx context.Context, w io.Writer, c *Codex) error {
	created := c.Updated.UTC().Format(time.RFC3339)
	set := annotationSet{
		Context: annotationContext, ID: "urn:uuid:" + uuidOf(c.Document, "annotations"), Type: "AnnotationSet",
		Generator: annotationAgent{ID: "urn:annotator", Type: "Software", Name: "annotator"}, Generated: created,
		Title: c.Story.Title + ": codex",
		About: annotationsAbout{Identifier: []string{"urn:annotator:" + c.Story.CorpusHash}, Title: c.Story.Title},
		Items: []annotation{},
	}
	byPost := quotationsByPost(c.Entries)
	threads, err := c.Text.Threads(ctx)
	if err != nil {
		return err
	}
	for _, thread := range threads {
		for post, err := range c.Text.Posts(ctx, thread.ID) {
			if err != nil {
				return err
			}
			body := []rune(post.Body)
			for _, q := range byPost[post.ID] {
				set.Items = append(set.Items, annotation{
					Context: annotationContext, Type: "Annotation", Created: created,
					ID: "urn:uuid:" + uuidOf(c.Document, fmt.Sprintf("quotation %d %d %d %d %d", q.entry.ID, q.claim.ID,
						post.ID, q.evidence.Start, q.evidence.End)),
					Target: annotationTarget{
						annotationSource(c.Document, post), selectors(post, body, q.evidence),
						annotationMeta{[]annotationHeading{{1, thread.Title}}},
					},
					Body: annotationBody{
						Type: "TextualBody", Value: nameOf(q.entry) + ": " + q.claim.told(),
						Format: "text/plain", Highlight: "underline", Tags: []string{nameOf(q.entry)},
					},
				})
			}
		}
	}
	return writeValue(w, set)
}

// annotationSource returns the file of the book that contains a post, or a URN of the post.
func annotationSource(doc *Document, p *Post) string {
	if p.Document != "" {
		return p.Document
	}
	return fmt.Sprintf("urn:annotator:%s:post:%d", doc.Story.CorpusHash, p.ID)
}

func selectors(p *Post, body []rune, q *Evidence) []selector {
	const context = 32 // code points before and after the quotation
	start, end := min(q.Start, len(body)), min(q.End, len(body))
	found := []selector{{
		Type: "TextQuoteSelector", Exact: q.Quote, Prefix: string(body[max(0, start-context):start]),
		Suffix: string(body[end:min(len(body), end+context)]),
	}}
	if p.Document == "" {
		found = append(found, selector{Type: "TextPositionSelector", Start: &q.Start, End: &q.End})
	}
	return found
}
