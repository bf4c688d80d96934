package tools

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/codex"
)

// factArguments is a fact as a call gives it. Its quotation bears out this fact and no other.
type factArguments struct {
	Text     string              `json:"text" jsonschema:"one full sentence"`
	Quote    string              `json:"quote,omitempty" jsonschema:"four to six words that find its sentence, copied from a post; of two places, those of each with … between"`
	PostID   int64               `json:"post_id,omitempty" jsonschema:"of the quote, if it is not in this scene"`
	Kind     annotator.ClaimKind `json:"kind,omitempty" enum:"narrated,claimed,inferred" jsonschema:"default: narrated; with a speaker, claimed"`
	Speaker  string              `json:"speaker,omitempty" jsonschema:"who claims or wrote it"`
	Document string              `json:"document,omitempty" jsonschema:"letter, page or notice that says it"`
	State    bool                `json:"state,omitempty" jsonschema:"it may be otherwise tomorrow"`
	Identity bool                `json:"identity,omitempty" jsonschema:"it says who or what the entry is"`
	Earlier  bool                `json:"earlier,omitempty" jsonschema:"it is of an earlier time"`
	Relation string              `json:"relation,omitempty" jsonschema:"what ties the entry to object, in facts of such a tie only: sister of, captain of, has rank, lives at, owns, part of, taught, rescued"`
	Object   objectName          `json:"object,omitempty" also:"integer" shown:"string" jsonschema:"name of the other entry, or words; default: the first that text links"`
}

// closeArguments closes a fact of an entry.
type closeArguments struct {
	Fact    int64            `json:"fact" jsonschema:"its number"`
	By      int64            `json:"by,omitempty" jsonschema:"the fact of this call that took its place, from 1"`
	ByKnown int64            `json:"by_known,omitempty" jsonschema:"or the one of the entry, by its number"`
	ByEntry entryRef         `json:"by_entry,omitempty" also:"integer" shown:"string" jsonschema:"or another entry, by its id or term, a fact of which confirms a guess or ends a state"`
	Ended   annotator.Ending `json:"ended,omitempty" enum:"confirmed,refuted,over,wrong" jsonschema:"how it ended; confirmed needs one of these that says so and is no guess"`
}

// rewordArguments puts another wording in the place of a fact.
type rewordArguments struct {
	Fact     int64      `json:"fact"`
	Text     string     `json:"text,omitempty" jsonschema:"its new sentence, if that is another"`
	Relation string     `json:"relation,omitempty" jsonschema:"one that it lacks, or in place of its own"`
	Object   objectName `json:"object,omitempty" also:"integer" shown:"string"`
}

// moveArguments moves a fact to another entry.
type moveArguments struct {
	Fact int64    `json:"fact"`
	To   entryRef `json:"to" also:"integer" shown:"string" jsonschema:"the entry's id or term"`
}

// grounded is what came of a quotation.
type grounded struct {
	quotes  []annotator.Evidence // nil if none was given, or it was not found
	posts   []annotator.Post     // among which they were found
	at      annotator.Place      // of what it bears out
	problem string               // why it was not found; empty if none was given
}

// groundedFact is a fact of a call with what came of its quotation.
type groundedFact struct {
	codex.Fact
	grounded
}

// groundFacts finds the quotations of facts. A fact without a quotation is as late as its post, or the scene's end.
func (env *Env) groundFacts(ctx context.Context, facts []factArguments) ([]groundedFact, error) {
	var list []groundedFact
	for i := range facts {
		f := &facts[i]
		g, err := env.ground(ctx, f.Quote, f.PostID)
		if err != nil {
			return nil, err
		}
		fact := codex.Fact{
			Text: f.Text, Kind: f.Kind, Speaker: f.Speaker, Document: f.Document, State: f.State, Identity: f.Identity,
			Earlier: f.Earlier, Relation: f.Relation, Quotes: g.quotes,
		}
		if codex.FieldOf(env.Fields, &fact) != nil { // a number is a value
			fact.Object = strings.TrimPrefix(string(f.Object), "#")
		} else if fact.Object, err = env.object(ctx, f.Object, f.Text); err != nil {
			return nil, err
		}
		list = append(list, groundedFact{fact, g})
	}
	return list, nil
}

// objectName is the object of a relation. A number is the id of an entry, in place of its name.
type objectName string

// UnmarshalJSON reads a number or a string.
func (n *objectName) UnmarshalJSON(encoded []byte) error {
	if encoded[0] != '"' {
		*n = objectName("#" + string(encoded))
		return nil
	}
	return json.Unmarshal(encoded, (*string)(n))
}

// object returns the object of a relation as it is stored: "#7" is the name of entry 7, if there is one. A number that
// the text of the fact has is a value: "She has 7 ships".
func (env *Env) object(ctx context.Context, n objectName, text string) (string, error) {
	id, isID := strings.CutPrefix(string(n), "#")
	isWord := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	if slices.Contains(strings.FieldsFunc(text, isWord), id) {
		return id, nil
	}
	if number, err := strconv.ParseInt(id, 10, 64); isID && err == nil {
		e, err := env.entry(ctx, number)
		if err == nil {
			return e.Name(), nil
		}
		if failureOf(err) == nil {
			return "", err
		}
	}
	return string(n), nil
}

// ground finds a quotation in the post that a call names, or in the scene. An error is none of the model's.
func (env *Env) ground(ctx context.Context, quote string, postID int64) (grounded, error) {
	g := grounded{at: env.place(postID)}
	places := [][]annotator.Post{env.Scene.Posts}
	if postID != 0 {
		post, err := env.quotable(ctx, postID)
		if failure := failureOf(err); failure != nil {
			g.problem = failure.Message
		} else if err != nil {
			return g, err
		} else {
			places = [][]annotator.Post{{*post}, env.Scene.Posts}
		}
	}
	if codex.Clean(quote) == "" {
		return g, nil
	}
	if n := utf8.RuneCountInString(quote); n > codex.MaxQuote {
		g.problem = fmt.Sprintf("the quote has %d characters; give its first and last words with … between them", n)
		return g, nil
	}
	problem := ""
	for _, posts := range places {
		found, why := codex.FindQuotes(posts, quote)
		if found != nil {
			return grounded{quotes: found, posts: posts, at: env.latest(found)}, nil
		}
		problem = cmp.Or(problem, why)
	}
	g.problem = cmp.Or(problem, g.problem, "no post of this scene holds the quote")
	return g, nil
}

// latest returns the latest place of some quotations.
func (env *Env) latest(quotes []annotator.Evidence) (at annotator.Place) {
	for i := range quotes {
		at = max(at, env.place(quotes[i].Post))
	}
	return at
}

// quotable returns a post that the model may read and that is part of the story. A reader's post supports no fact.
func (env *Env) quotable(ctx context.Context, id int64) (*annotator.Post, error) {
	post, err := env.post(ctx, id)
	if err == nil && env.rank(id) < 0 && !slices.Contains(post.Tags, annotator.TagStory) {
		err = failf(QuoteNotFound, "post %d is a reader's, which bears nothing out; quote the story", id)
	}
	return post, err
}
