package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/exporters"
	"annotator/view"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// addTools adds the tools.
func (s *server) addTools() error {
	const entry = " The entry is named by any of its names, or by its id."
	errs := []error{
		addTool(s, "search", "Search the codex",
			"Find entries by words in their names and facts; without words, list them by name.", s.search),
		addTool(s, "show", "Show an entry",
			"Everything that the codex knows of an entry: what it is now, names, facts and quotations."+entry, s.show),
		addTool(s, "timeline", "Timeline of an entry, or of the story",
			"The facts of an entry in the order of the story, with the scenes at which they begin and end, and the "+
				"events in which it has a part; without an entry, all events of the story and where things stand: "+
				"promises, conflicts, who knows what and questions, with what settled them."+entry, s.timeline),
		addTool(s, "evidence", "Evidence for facts",
			"The quotations that the facts of an entry rest on, with their posts and scenes."+entry, s.evidence),
		addTool(s, "history", "History of an entry",
			"Every change of an entry: who made it, when, and where in the story."+entry, s.history),
	}
	if s.Posts != nil {
		errs = append(errs, addTool(s, "mentions", "Mentions of an entry",
			"Where the names of an entry stand in the story, with the text around."+entry, s.mentions))
	}
	if s.Ask != nil {
		errs = append(errs, addTool(s, "ask", "Ask about the story",
			"A question that the model answers from what it had read at the limit, with the posts that the "+
				"answer rests on.", s.ask))
	}
	if s.Propose != nil {
		no := false
		errs = append(errs, addToolWith(s, "propose", "Propose an edit",
			"Propose to correct an entry, and say why: another wording of a fact, a fact or a name that is missing "+
				"or wrong, a state that is over, another name or other tags, that the entry is none, or whether it "+
				"is another entry. A person accepts or rejects it."+entry,
			&mcp.ToolAnnotations{DestructiveHint: &no}, s.propose))
	}
	return errors.Join(errs...)
}

type searchArguments struct {
	limited
	Query string   `json:"query,omitempty" jsonschema:"words; none: all entries by name"`
	Tags  []string `json:"tags,omitempty" jsonschema:"an entry must have all of them, such as person, place or event"`
	Limit int      `json:"limit,omitempty" jsonschema:"at most so many entries; default 20, at most 100"`
	Skip  int      `json:"skip,omitempty" jsonschema:"leave out so many entries before the first"`
}

type searchResult struct {
	Total   int            `json:"total" jsonschema:"how many entries were found in all"`
	Entries []entrySummary `json:"entries"`
}

// entrySummary is an entry in a list.
type entrySummary struct {
	ID     int64            `json:"id"`
	Name   string           `json:"name"`
	Status annotator.Status `json:"status"`
	Tags   []string         `json:"tags"`
	Text   string           `json:"text" jsonschema:"what it is now, shortened"`
	Match  int64            `json:"match,omitempty"` // see describe
	Fact   string           `json:"fact,omitempty" jsonschema:"the text of that fact, shortened"`
}

func (s *server) search(ctx context.Context, a searchArguments) (searchResult, error) {
	shown, err := s.view(ctx, a.limited)
	if err != nil {
		return searchResult{}, err
	}
	limit := min(cmp.Or(max(a.Limit, 0), 20), 100)
	query := annotator.Query{Text: a.Query, Tags: a.Tags, Offset: max(a.Skip, 0), Limit: limit}
	page, err := shown.FindWhole(ctx, query)
	result := searchResult{Total: page.Total, Entries: []entrySummary{}}
	words := codex.NewWords(page.Words)
	for i := range page.Entries {
		e := &page.Entries[i]
		b := entrySummary{
			ID: e.ID, Name: e.Name(), Status: e.Status, Tags: append([]string{}, e.Tags...),
			Text: shortened(codex.Gist(e)),
		}
		if c := words.Best(e.Claims); c != nil {
			b.Match, b.Fact = c.ID, shortened(c.Text)
		}
		result.Entries = append(result.Entries, b)
	}
	return result, err
}

// shortened cuts a text of a list.
func shortened(text string) string { return annotator.Clip(text, 300, "…") }

type entryArguments struct {
	limited
	Entry string `json:"entry" jsonschema:"any name of the entry, or its id"`
}

// entry finds the entry that a call names. The error for a name of several entries lists them.
func (s *server) entry(ctx context.Context, a entryArguments) (*view.View, *annotator.Entry, error) {
	shown, err := s.view(ctx, a.limited)
	if err != nil {
		return nil, nil, err
	}
	if id, err := strconv.ParseInt(strings.TrimPrefix(strings.TrimSpace(a.Entry), "#"), 10, 64); err == nil {
		if e, err := shown.Entry(ctx, id); annotator.KindOf(err) != annotator.NotFound {
			return shown, e, err
		}
	}
	found, err := shown.Named(ctx, a.Entry)
	switch {
	case err != nil:
		return nil, nil, err
	case len(found) == 0:
		return nil, nil, annotator.Errorf(annotator.NotFound, "there is no entry %q", a.Entry).
			WithAdvice("find one with search")
	case len(found) > 1:
		var names []string
		for i := range found {
			names = append(names, strconv.FormatInt(found[i].ID, 10)+": "+found[i].Name())
		}
		return nil, nil, annotator.Errorf(annotator.Misused, "%q is a name of several entries", a.Entry).
			WithAdvice("name one by its id: %s", strings.Join(names, ", "))
	}
	e := &found[0]
	if !e.Status.Live() {
		now, err := shown.LedTo(ctx, a.Entry)
		return shown, cmp.Or(now, e), err
	}
	return shown, e, nil
}

// shownEntry is an entry with its relations.
type shownEntry struct {
	exporters.Entry
	Relations []exporters.Relation `json:"relations,omitempty"` // from either side
}

func (s *server) show(ctx context.Context, a entryArguments) (shownEntry, error) {
	shown, e, err := s.entry(ctx, a)
	if err != nil {
		return shownEntry{}, err
	}
	e.Claims = shownClaims(e)
	at := view.NewPositions(ctx, s.DB)
	ties, err := shown.TiesOf(ctx, e.ID)
	if err != nil {
		return shownEntry{}, err
	}
	var ids []int64
	for i := range ties {
		ids = append(ids, ties[i].Entry, ties[i].Object)
	}
	entries, err := shown.Headings(ctx, ids)
	result := shownEntry{Entry: exporters.NewEntry(e, at.Named)}
	for i := range ties {
		claim := exporters.NewClaim(ties[i].Claim, at.Named)
		result.Relations = append(result.Relations,
			exporters.NewRelation(ties[i].Entry, &claim, ties[i].Object, exporters.NamesOf(entries)))
	}
	return result, cmp.Or(err, at.Err)
}

// shownClaims returns the claims of an entry that are not only in its history.
func shownClaims(e *annotator.Entry) []annotator.Claim {
	return slices.DeleteFunc(slices.Clone(e.Claims), func(c annotator.Claim) bool { return !codex.Shown(&c) })
}

type timelineArguments struct {
	limited
	Entry string `json:"entry,omitempty" jsonschema:"any name of the entry, or its id; none: the whole story"`
}

type timelineResult struct {
	Name     string           `json:"name,omitempty" jsonschema:"of the entry"`
	Facts    []timelineFact   `json:"facts" jsonschema:"in the order of the story"`
	Events   []timelineEvent  `json:"events" jsonschema:"in the order of the story"`
	Standing []standingMatter `json:"standing,omitempty" jsonschema:"of the whole story only"`
}

// timelineEvent is an event with the entries that have a part in it.
type timelineEvent struct {
	Entry   int64              `json:"entry"`
	Name    string             `json:"name"`
	At      annotator.Position `json:"at"`
	Earlier bool               `json:"earlier,omitempty" jsonschema:"of an earlier time than its scene"`
	Text    string             `json:"text" jsonschema:"what came of it, shortened"`
	With    []string           `json:"with,omitempty" jsonschema:"entries that have a part in it"`
}

// standingMatter is what a fact leaves open, or has settled.
type standingMatter struct {
	Sort    codex.Matter       `json:"sort" jsonschema:"promise, conflict, knowledge or question"`
	Fact    exporters.Relation `json:"fact"`
	Text    string             `json:"text"`
	Settled string             `json:"settled,omitempty" jsonschema:"the fact that settled it"`
}

// timelineFact is a fact with the positions at which it begins and ends.
type timelineFact struct {
	From  annotator.Position  `json:"from"`
	Until *annotator.Position `json:"until,omitempty" jsonschema:"where it ended"`
	Fact  exporters.Claim     `json:"fact"`
}

// maxEvents is the maximum number of events of a timeline, and of matters: the newest.
const maxEvents = 200

func (s *server) timeline(ctx context.Context, a timelineArguments) (timelineResult, error) {
	result := timelineResult{Facts: []timelineFact{}, Events: []timelineEvent{}}
	shown, err := s.view(ctx, a.limited)
	if err != nil {
		return result, err
	}
	at, entry := view.NewPositions(ctx, s.DB), int64(0)
	if strings.TrimSpace(a.Entry) != "" {
		_, e, err := s.entry(ctx, entryArguments(a))
		if err != nil {
			return result, err
		}
		result.Name, entry = e.Term, e.ID
		claims := shownClaims(e)
		slices.SortStableFunc(claims, codex.CompareTold)
		for i := range claims {
			c := exporters.NewClaim(claims[i], at.Named)
			result.Facts = append(result.Facts, timelineFact{c.From, c.Until, c})
		}
	}
	events, _, err := shown.Events(ctx, 0)
	if err != nil {
		return result, err
	}
	if entry != 0 {
		events = slices.DeleteFunc(events, func(e view.Event) bool {
			return e.ID != entry && !slices.Contains(e.With, entry)
		})
	}
	events = events[max(0, len(events)-maxEvents):]
	var ids []int64
	for i := range events {
		ids = append(ids, events[i].With...)
	}
	with, err := shown.Headings(ctx, ids)
	if err != nil {
		return result, err
	}
	for i := range events {
		e := &events[i]
		told := timelineEvent{
			Entry: e.ID, Name: e.Name(), At: at.Named(e.At), Earlier: e.Earlier, Text: shortened(codex.Gist(e.Entry)),
		}
		for _, id := range e.With {
			if with[id] != nil {
				told.With = append(told.With, with[id].Name())
			}
		}
		result.Events = append(result.Events, told)
	}
	if entry == 0 {
		result.Standing, err = standing(ctx, shown, at)
	}
	return result, cmp.Or(err, at.Err)
}

// standing returns promises, conflicts, knowledge and questions; an agent reads other states with their entries.
func standing(ctx context.Context, shown *view.View, at *view.Positions) (list []standingMatter, err error) {
	matters, _, err := shown.Standing(ctx, maxEvents)
	if err != nil {
		return nil, err
	}
	matters = slices.DeleteFunc(matters, func(m view.Matter) bool { return m.Sort == codex.OpenState })
	var ids []int64
	for i := range matters {
		ids = append(ids, matters[i].Object, matters[i].Entry.ID)
	}
	entries, err := shown.Headings(ctx, ids)
	for _, m := range matters[max(0, len(matters)-maxEvents):] {
		claim := exporters.NewClaim(m.Claim, at.Named)
		matter := standingMatter{
			Sort: m.Sort, Text: claim.Text,
			Fact: exporters.NewRelation(m.Entry.ID, &claim, m.Object, exporters.NamesOf(entries)),
		}
		if m.Settled != nil {
			matter.Settled = m.Settled.Text
		}
		list = append(list, matter)
	}
	return list, err
}

type evidenceArguments struct {
	entryArguments
	Fact int64 `json:"fact,omitempty" jsonschema:"only of this fact; default: of all"`
}

type evidenceResult struct {
	Name  string         `json:"name"`
	Facts []factEvidence `json:"facts"`
}

// factEvidence is a fact with its quotations.
type factEvidence struct {
	Fact   int64               `json:"fact" jsonschema:"its number within the entry"`
	Text   string              `json:"text"`
	Kind   annotator.ClaimKind `json:"kind" jsonschema:"narrated, claimed by somebody, inferred, or noted by a person"`
	Quotes []quote             `json:"quotes" jsonschema:"none: nothing in the story was quoted for it"`
}

// quote is a passage of a post.
type quote struct {
	Post    int64  `json:"post"`
	Scene   int    `json:"scene,omitempty" jsonschema:"absent for a post that is in no scene"`
	Chapter string `json:"chapter,omitempty"`
	Text    string `json:"text"`
}

func (s *server) evidence(ctx context.Context, a evidenceArguments) (evidenceResult, error) {
	shown, e, err := s.entry(ctx, a.entryArguments)
	if err != nil {
		return evidenceResult{}, err
	}
	at := view.NewPositions(ctx, s.DB)
	result := evidenceResult{Name: e.Name(), Facts: []factEvidence{}}
	for _, c := range e.Claims {
		if a.Fact != 0 && a.Fact != c.ID {
			continue
		}
		fact := factEvidence{Fact: c.ID, Text: c.Text, Kind: c.Kind, Quotes: []quote{}}
		for _, v := range c.Evidence {
			place, err := shown.PlaceOf(ctx, v.Post)
			if err != nil && annotator.KindOf(err) != annotator.NotFound {
				return evidenceResult{}, err
			}
			position := at.Named(place)
			fact.Quotes = append(fact.Quotes, quote{v.Post, position.Scene, position.Chapter, v.Quote})
		}
		result.Facts = append(result.Facts, fact)
	}
	return result, at.Err
}

type historyResult struct {
	Name    string             `json:"name"`
	Changes []exporters.Change `json:"changes" jsonschema:"oldest first"`
}

func (s *server) history(ctx context.Context, a entryArguments) (historyResult, error) {
	shown, e, err := s.entry(ctx, a)
	if err != nil {
		return historyResult{}, err
	}
	revisions, err := shown.Revisions(ctx, e.ID)
	if err != nil {
		return historyResult{}, err
	}
	at := view.NewPositions(ctx, s.DB)
	return historyResult{Name: e.Name(), Changes: exporters.NewChanges(revisions, at.Named)}, at.Err
}

type mentionsArguments struct {
	entryArguments
	Limit int `json:"limit,omitempty" jsonschema:"at most so many mentions; default 20, at most 100"`
	Skip  int `json:"skip,omitempty" jsonschema:"leave out so many mentions before the first"`
}

type mentionsResult struct {
	Name     string        `json:"name"`
	Total    int           `json:"total" jsonschema:"how many mentions there are in all"`
	Mentions []mentionText `json:"mentions" jsonschema:"in the order of the story"`
}

// mentionText is a mention with the text around it.
type mentionText struct {
	At   annotator.Position `json:"at"`
	Text string             `json:"text"`
	Also []int64            `json:"also,omitempty" jsonschema:"other entries that the name may stand for there"`
}

func (s *server) mentions(ctx context.Context, a mentionsArguments) (mentionsResult, error) {
	shown, e, err := s.entry(ctx, a.entryArguments)
	if err != nil {
		return mentionsResult{}, err
	}
	found, total, err := shown.Mentions(ctx, e.ID, max(a.Skip, 0), min(cmp.Or(max(a.Limit, 0), 20), 100))
	if err != nil {
		return mentionsResult{}, err
	}
	at := view.NewPositions(ctx, s.DB)
	result := mentionsResult{Name: e.Name(), Total: total, Mentions: []mentionText{}}
	for _, m := range found {
		position := at.Named(m.Place)
		posts, err := s.Posts.Scene(ctx, position.Thread, []int64{position.Post})
		if err != nil {
			return mentionsResult{}, err
		}
		text := mentionText{At: position, Text: around([]rune(posts[0].Body), m.Start, m.End)}
		if m.Ambiguous {
			text.Also = m.Others
		}
		result.Mentions = append(result.Mentions, text)
	}
	return result, at.Err
}

// around returns a range of a text with some context on both sides.
func around(text []rune, start, end int) string {
	const most = 80 // code points on a side
	return string(text[max(0, start-most):min(len(text), end+most)])
}

type askArguments struct {
	limited
	Question string `json:"question"`
}

func (s *server) ask(ctx context.Context, a askArguments) (Answer, error) {
	shown, err := s.view(ctx, a.limited)
	if err != nil {
		return Answer{}, err
	}
	if strings.TrimSpace(a.Question) == "" {
		return Answer{}, annotator.Errorf(annotator.Misused, "there is no question")
	}
	answer, err := s.Ask(ctx, shown, a.Question)
	if err != nil {
		return Answer{}, err
	}
	return *answer, nil
}
