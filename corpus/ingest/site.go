package ingest

import (
	"regexp"
	"slices"
	"strings"
)

// site is what is known of the program or place that a page comes from. It is told by the page's markup.
type site struct {
	containers bool // elements of a class hold the story, and what stands outside is the site's
	archive    bool // a download from an archive of the kind of Archive of Our Own
	forum      bool // a thread in which posts are marked as chapters
}

var (
	storyClass     = regexp.MustCompile(`(?i)class\s*=\s*["'][^"']*\b(?:chapter-inner|chapter-content|bbWrapper|entry-content|storytext|chapter_content|userstuff module)\b`)
	storyID        = regexp.MustCompile(`(?i)id\s*=\s*["'](?:storytext|chapter-content|chr-content)["']`)
	archivePreface = regexp.MustCompile(`(?i)id\s*=\s*["']preface["']`)
	archiveTags    = regexp.MustCompile(`(?i)<dl class\s*=\s*["']tags["']`)
	archiveMeta    = regexp.MustCompile(`(?i)class\s*=\s*["']meta(?: group)?["']`)
	archiveStory   = regexp.MustCompile(`(?i)id\s*=\s*["'](?:chapters|afterword)["']`)
)

// siteOf looks for the marks of sites in a page.
func siteOf(document string) site {
	return site{
		containers: storyClass.MatchString(document) || storyID.MatchString(document),
		archive: archivePreface.MatchString(document) && (archiveStory.MatchString(document) || archiveTags.MatchString(document)) ||
			archiveStory.MatchString(document) && archiveMeta.MatchString(document),
		forum: strings.Contains(document, "hasThreadmark"),
	}
}

// holdsStory reports whether an element holds the text of a site's story.
func (s site) holdsStory(classes []string, id string) bool {
	if !s.containers {
		return false
	}
	for _, class := range classes {
		switch class {
		case "chapter-inner", "chapter-content", "bbWrapper", "entry-content", "storytext", "chapter_content":
			return true
		case "userstuff":
			return slices.Contains(classes, "module")
		}
	}
	return id == "storytext" || id == "chapter-content" || id == "chr-content"
}

// keepsHeadings reports whether headings stay in an element that is otherwise left out.
func (s site) keepsHeadings(part string, level int) bool {
	return part == partNavigation && level <= maxSiteHeading || s.archive && part == partAuthorNotes
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
