package ingest

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"annotator"
	"annotator/corpus"
)

// forum is what has to be remembered of the threads of an archive while its posts pass by.
type forum struct {
	titles  map[int64]*threadTitles
	authors bool // some post says who wrote it
}

// threadTitles are what a thread may be called: as it says itself, by the subject of its opening post, by that of
// another.
type threadTitles struct{ own, opening, other string }

func (t *threadTitles) best() string { return cmp.Or(t.own, t.opening, t.other) }

func newForum() forum { return forum{titles: map[int64]*threadTitles{}} }

// forumPost is a post of an archive, with what belongs to it.
type forumPost struct {
	annotator.Post
	file   corpus.File
	quotes []int64
	title  string // of its thread; may be empty
	origin corpus.Origin
}

// addPost writes a post. Where it came from is for the report.
func (j *job) addPost(ctx context.Context, p *forumPost, where string) error {
	for _, text := range []*string{&p.Name, &p.Trip, &p.Subject, &p.Body, &p.title, &p.file.URL, &p.file.Name} {
		*text = j.report.clean(*text, where)
	}
	added, err := j.writer.Post(ctx, &p.Post, p.file, p.quotes)
	if err != nil {
		return err
	}
	if !added {
		j.report.leaveOut("posts with the id of an earlier one", where)
		return nil
	}
	j.report.Account.Source += countCharacters(p.Body)
	j.report.Account.Kept += countCharacters(p.Body)
	j.forum.authors = j.forum.authors || p.Name != "" || p.Trip != ""
	j.forum.entitle(p)
	return j.writer.Origin(ctx, p.ID, p.origin)
}

func (f *forum) entitle(p *forumPost) {
	t := f.titles[p.Thread]
	if t == nil {
		t = &threadTitles{}
		f.titles[p.Thread] = t
	}
	switch {
	case p.title != "":
		t.own = cmp.Or(t.own, p.title)
	case p.ID == p.Thread:
		t.opening = cmp.Or(t.opening, p.Subject)
	default:
		t.other = cmp.Or(t.other, p.Subject)
	}
}

// closeForum writes the threads, and detects the author of the story if no post is tagged.
func (j *job) closeForum(ctx context.Context) error {
	for _, id := range slices.Sorted(maps.Keys(j.forum.titles)) {
		if err := j.writer.Thread(ctx, id, j.forum.titles[id].best()); err != nil {
			return err
		}
	}
	j.report.Title = cmp.Or(j.report.Title, j.forum.storyTitle())
	found, err := j.writer.TagStory(ctx, corpus.StoryAuthorOptions{
		Named: j.options.StoryAuthors,
		All:   !j.forum.authors && j.report.Format == JSONL,
	})
	if err != nil {
		return err
	}
	j.noteStoryAuthors(found)
	if len(found.CommonNames) > 0 {
		j.report.note("a name that nearly all posters share identifies nobody: %s",
			strings.Join(found.CommonNames, ", "))
	}
	if found.Anonymous > 0 {
		j.report.note("of threads with an anonymous author only the opening post was taken: %s",
			annotator.Quantity(int(found.Anonymous), "thread"))
		j.report.unsure(annotator.ReasonUnsureAuthor)
	}
	if found.Suspect > 0 {
		j.report.note("warning: in %s with many posters more than 90 %% of the posts are taken for the story: check "+
			"the author",
			annotator.Quantity(int(found.Suspect), "thread"))
		j.report.unsure(annotator.ReasonUnsureAuthor)
	}
	return nil
}

// storyTitle returns the title of the only thread, or the words with which the titles of most threads begin.
func (f *forum) storyTitle() (title string) {
	if len(f.titles) == 1 {
		for _, t := range f.titles {
			return t.best()
		}
	}
	const fewest = 2 // words
	count := map[string]int{}
	for _, t := range f.titles {
		words, last := strings.Fields(t.best()), ""
		for to := fewest; to <= len(words); to++ {
			begin := strings.TrimRightFunc(strings.Join(words[:to], " "), endsNoTitle)
			if begin == last {
				continue
			}
			last = begin
			if count[begin]++; 2*count[begin] > len(f.titles) && len(begin) > len(title) && !isHeading(begin) {
				title = begin
			}
		}
	}
	return title
}

// endsNoTitle reports whether a title cannot end with a character.
func endsNoTitle(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!?…)", r)
}

// isHeading reports whether a title names a part of a story by its kind: "Book One".
func isHeading(title string) bool {
	return slices.ContainsFunc(ReadTitle(title), func(p TitlePart) bool { return p.Kind != "" })
}

// noteStoryAuthors reports the authors of the story, the reasons, and their share of the posts.
func (j *job) noteStoryAuthors(found corpus.StoryAuthors) {
	if found.Posts == 0 {
		return
	}
	share := fmt.Sprintf("%s of %d (%d %%)", annotator.Quantity(int(found.Posts), "post"), found.All,
		found.Posts*100/max(found.All, 1))
	switch {
	case len(j.options.StoryAuthors) > 0:
		j.report.note("the story is what %s wrote, who is named as its author: %s",
			strings.Join(j.options.StoryAuthors, " or "), share)
	case !j.forum.authors && found.Posts == found.All:
		j.report.note("no post says who wrote it, so all are the story: %s", share)
	default:
		j.report.note("no post says that it tells the story, so what whoever opened the thread wrote was taken for "+
			"it%s: %s", reasonsOf(found), share)
	}
}

// reasonsOf says by what the opener's posts were known.
func reasonsOf(found corpus.StoryAuthors) string {
	var by []string
	for _, reason := range []struct {
		threads int64
		name    string
	}{{found.ByTrip, "trip code"}, {found.ByID, "id"}, {found.ByName, "name"}} {
		if reason.threads > 0 {
			by = append(by, fmt.Sprintf("by %s in %s", reason.name, annotator.Quantity(int(reason.threads), "thread")))
		}
	}
	if len(by) == 0 {
		return ""
	}
	return " (" + strings.Join(by, ", ") + ")"
}
