package ingest

import (
	"regexp"
	"slices"
	"strings"
)

// site is what is known of the program or place that a page comes from. It is recognised by the page's markup.
type site struct {
	containers bool // elements of a class contain the story, and text outside is the site's
	archive    bool // a download from an archive of the kind of Archive of Our Own
	forum      bool // a thread in which posts are marked as chapters
}

// storyContainers are the classes and ids of elements that hold the text of a site's story.
var storyContainers = setOf("chapter-inner chapter-content bbWrapper entry-content storytext chapter_content " +
	"#storytext #chapter-content #chr-content mw-parser-output panel-reading")

// holdsStory reports whether an element holds the text of a site's story.
func holdsStory(classes []string, id string) bool {
	return storyContainers["#"+id] || slices.ContainsFunc(classes, func(class string) bool {
		return storyContainers[class]
	}) ||
		slices.Contains(classes, "userstuff") && slices.Contains(classes, "module")
}

var classOrID = regexp.MustCompile(`(?i)class\s*=\s*["']([^"']*)["']|id\s*=\s*["']([^"']*)["']`)

// siteOf looks for the marks of sites in a page.
func siteOf(document string) site {
	s, has := site{forum: strings.Contains(document, "hasThreadmark")}, map[string]bool{}
	for _, match := range classOrID.FindAllStringSubmatch(document, -1) {
		has["."+match[1]], has["#"+match[2]] = true, true
		s.containers = s.containers || holdsStory(strings.Fields(match[1]), match[2])
	}
	story, meta := has["#chapters"] || has["#afterword"], has[".meta"] || has[".meta group"]
	s.archive = story && meta || has["#preface"] && (story || has[".tags"])
	return s
}

// keepsHeadings reports whether headings stay in an element that is otherwise left out.
func (s site) keepsHeadings(part string, level int) bool {
	return isOfPage(part) && level <= maxSiteHeading || s.archive && part == partAuthorNotes
}

// maxSiteHeading is the lowest level of a heading outside of the story that may be a chapter's: below are names of
// users.
const maxSiteHeading = 3

// partOf names the part that an element of a site is; "" for what is the story's.
func (s site) partOf(name string, classes []string, id string) string {
	has := func(class string) bool { return slices.Contains(classes, class) }
	switch {
	case s.forum && name == "article" && has("message") && !has("hasThreadmark"):
		return partOtherPosts
	case has("notes") && (has("module") || has("end")):
		return partAuthorNotes
	case has("summary") && has("module"), has("work") && has("meta"), has("tags") && name == "dl":
		return partTags
	case has("landmark") && has("heading"):
		return partNavigation
	case !s.archive:
	case id == "preface":
		return partTags
	case id == "afterword", strings.HasPrefix(id, "endnotes"), has("notes"), has("meta"), has("endnote-link"):
		return partAuthorNotes
	}
	return ""
}
