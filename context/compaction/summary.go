package compaction

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/context/prompt"
	"annotator/context/tokens"
)

// The lengths of summaries. For a short chunk, a long one and a thread they are in sentences. For the story so far, a
// chunk, and a summary by rule they are in words.
const (
	shortSentences  = 3
	longSentences   = 10
	threadSentences = 4
	storyWords      = 500
	chunkWords      = 250
	ruleWords       = 100
)

// Instruction fills the template of the message to the summariser: see prompt.Identity. It follows the window as it is,
// so that the server has all but this message in its cache.
func Instruction(template string, s Step) (string, error) { return s.request().Fill(template) }

// request is what the template is filled with.
func (s *Step) request() *prompt.SummaryRequest {
	r := &prompt.SummaryRequest{
		Threads: list(s.Threads), Wanted: list(s.Wanted()),
		ThreadSentences: threadSentences, ChunkSentences: s.chunkSentences(), ChunkWords: chunkWords,
		StoryWords: storyWords,
	}
	if n := len(s.Chunk); n > 0 {
		r.FirstScene, r.LastScene = s.Chunk[0].Scene, s.Chunk[n-1].Scene
	}
	return r
}

// chunkSentences returns the most sentences of a chunk's summary: one for each two scenes, within bounds.
func (s *Step) chunkSentences() int {
	return min(max(shortSentences, (len(s.Chunk)+1)/2), longSentences)
}

// Wanted returns the threads that need a summary of their own.
func (s *Step) Wanted() []int64 {
	return slices.DeleteFunc(slices.Clone(s.Threads), func(id int64) bool { return slices.Contains(s.Known, id) })
}

// EndInstruction asks for the summaries of threads that have ended: alone, or before another question in the same
// message.
func EndInstruction(template string, s Step, question string) (string, error) {
	r := s.request()
	r.Ended, r.More = true, question != ""
	text, err := r.Fill(template)
	return prompt.BeforeQuestion(text, question), err
}

func list(ids []int64) string {
	parts := make([]string, len(ids))
	for i, id := range ids {
		parts[i] = strconv.FormatInt(id, 10)
	}
	return strings.Join(parts, ", ")
}

// Summary is what the summariser wrote.
type Summary struct {
	Threads map[int64]string // of the threads that the story so far replaces
	Story   string           // so far
	Chunk   string
}

var (
	threadTag      = regexp.MustCompile(`(?s)<thread\s+id="?(\d+)"?\s*>(.*?)</thread>`)
	chunkTag       = regexp.MustCompile(`(?s)<chunk>(.*?)(?:</chunk>|$)`)
	storyTag       = regexp.MustCompile(`(?s)<cumulative(?:_summary)?>(.*?)(?:</cumulative(?:_summary)?>|$)`)
	closedStoryTag = regexp.MustCompile(`(?s)<cumulative(?:_summary)?>(.*?)</cumulative(?:_summary)?>`)
	anyTag         = regexp.MustCompile(`</?[a-z_]+[^<>]*>`)
	errNothing     = errors.New("the summary is empty")
)

// Read reads a summary from a reply. Text without the requested tags is used as a whole, except that a chunk requested
// with a story may be missing. A text that is too long loses its last sentences.
func Read(s Step, reply string) (Summary, error) {
	reply = annotator.Unescape(codex.Clean(reply)) // it was shown the story escaped
	summary := Summary{Threads: map[int64]string{}}
	if len(s.Threads) == 0 {
		summary.Chunk = sentences(inside(chunkTag, reply), s.chunkSentences())
		return summary, something(summary.Chunk)
	}
	reply = summary.readThreads(s, reply)
	if len(s.Chunk) > 0 && chunkTag.MatchString(reply) {
		summary.Chunk = sentences(inside(chunkTag, reply), s.chunkSentences())
		reply = chunkTag.ReplaceAllString(reply, "")
	}
	summary.Story = firstWords(inside(storyTag, reply), storyWords)
	return summary, something(summary.Story)
}

// readThreads reads the summaries of threads, and returns the reply without them.
func (summary *Summary) readThreads(s Step, reply string) string {
	for _, match := range threadTag.FindAllStringSubmatch(reply, -1) {
		id, err := strconv.ParseInt(match[1], 10, 64)
		if text := sentences(bare(match[2]), threadSentences); err == nil && slices.Contains(s.Wanted(), id) &&
			codex.HasWord(text) {
			summary.Threads[id] = text
		}
	}
	return threadTag.ReplaceAllString(reply, "")
}

// ReadEnd reads a summary from a reply that answers another question as well, and returns the reply without it. Only
// text in closed elements counts; what is missing stays empty.
func ReadEnd(s Step, reply string) (summary Summary, rest string) {
	summary.Threads = map[int64]string{}
	rest = summary.readThreads(s, reply)
	if match := closedStoryTag.FindStringSubmatch(rest); match != nil {
		if text := bare(annotator.Unescape(match[1])); codex.HasWord(text) {
			summary.Story = firstWords(text, storyWords)
		}
	}
	for id, text := range summary.Threads {
		summary.Threads[id] = annotator.Unescape(text)
	}
	return summary, closedStoryTag.ReplaceAllString(rest, "")
}

// inside returns the text inside a tag, or the whole text if it has no such tag.
func inside(tag *regexp.Regexp, text string) string {
	if match := tag.FindStringSubmatch(text); match != nil {
		text = match[1]
	}
	return bare(text)
}

func something(text string) error {
	if !codex.HasWord(text) {
		return errNothing
	}
	return nil
}

func bare(text string) string { return strings.TrimSpace(anyTag.ReplaceAllString(text, "")) }

func sentences(text string, limit int) string {
	all := codex.Sentences(text)
	return firstWords(strings.Join(all[:min(limit, len(all))], " "), chunkWords)
}

// firstWords returns the first whole lines and sentences within a limit of words; of a single longer one, its
// beginning.
func firstWords(text string, limit int) string {
	if words(text) <= limit {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		for i, sentence := range codex.Sentences(line) {
			n := words(sentence)
			if n > limit && b.Len() > 0 {
				return strings.TrimSpace(b.String())
			}
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(beginning(sentence, limit))
			limit -= min(n, limit)
		}
		b.WriteByte('\n')
	}
	return strings.TrimSpace(b.String())
}

// words counts the words of a text. In scripts without spaces two characters count as one.
func words(text string) int {
	return max(annotator.CountWords(text), (tokens.Measure(text)[tokens.Wide]+1)/2)
}

// beginning returns the first words of a text.
func beginning(text string, limit int) string {
	characters := []rune(text)
	end := sort.Search(len(characters), func(n int) bool { return words(string(characters[:n+1])) > limit })
	return strings.TrimSpace(string(characters[:end]))
}

// Rule writes a chunk summary without a model: the scenes' numbers, the names of the entries, and how each scene
// begins.
func Rule(turns []Turn, entries []string, openings []string) string {
	if len(turns) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Scenes %d-%d of thread %d.", turns[0].Scene, turns[len(turns)-1].Scene, turns[0].Thread)
	if len(entries) > 0 {
		fmt.Fprintf(&b, " With %s.", strings.Join(entries, ", "))
	}
	for _, opening := range openings {
		b.WriteString(" " + beginning(opening, ruleWords/len(openings)))
	}
	return beginning(b.String(), ruleWords)
}

// RuleStory writes the story so far without a model: the one before, and how each chunk summary begins. It adds nothing
// to that of a model that tells none.
func RuleStory(story string, chunks []string) string {
	if story == annotator.NoStory {
		return story
	}
	var b strings.Builder
	b.WriteString(firstWords(story, storyWords/2))
	for _, chunk := range chunks {
		b.WriteString("\n" + beginning(chunk, max(1, storyWords/2/len(chunks))))
	}
	return firstWords(strings.TrimSpace(b.String()), storyWords)
}

// Render writes the beginning of the window, before the turns: the story so far, and the chunk summaries. Each chunk
// has its index within the thread and the numbers of its scenes in the story. Summaries are escaped, so that none can
// end its element.
func Render(story *annotator.Episode, chunks []annotator.Episode) string {
	var b strings.Builder
	if story != nil {
		fmt.Fprintf(&b, "<cumulative_summary>\n%s\n</cumulative_summary>\n", prompt.Escape(story.Summary))
	}
	if len(chunks) > 0 {
		b.WriteString("<chunk_summaries>\n")
		for i := range chunks {
			c := &chunks[i]
			fmt.Fprintf(&b, "  <chunk thread=\"%d\" index=\"%d\" scenes=\"%s\" entries=\"%s\">\n    %s\n  </chunk>\n",
				c.Thread, c.Index, c.Scenes(), strings.ReplaceAll(list(c.Entries), " ", ""), prompt.Escape(c.Summary))
		}
		b.WriteString("</chunk_summaries>\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
