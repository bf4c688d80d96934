package web

import (
	"strings"
	"unicode"

	"annotator"
	"annotator/view"
)

// mentionsPage lists the mentions of an entry in their sentences.
type mentionsPage struct {
	Entry *annotator.Entry
	part
	Scenes []mentionedIn
}

// mentionedIn is a scene that mentions an entry.
type mentionedIn struct {
	*annotator.SceneRow
	Sentences []sentence
}

// sentence is a sentence with its mention marked, and the address of its place in the text.
type sentence struct {
	Text       []span
	Post       int64
	Start, End int
}

func showMentions(r *request, id int64) (*page, error) {
	ctx := r.Context()
	e, err := r.view.heading(ctx, id)
	if err != nil {
		return nil, err
	}
	shown := &mentionsPage{Entry: e}
	found, total, err := r.view.Mentions(ctx, id, (r.pageNumber()-1)*pageSize, pageSize)
	if err != nil {
		return nil, err
	}
	shown.part = r.part(total, pageSize)
	for i := range found {
		if err := shown.add(r, &found[i]); err != nil {
			return nil, err
		}
	}
	return &page{template: "mentions", Title: "Mentions of " + e.Name(), Section: "entries", Data: shown}, r.view.at.Err
}

// add adds a mention with its sentence.
func (shown *mentionsPage) add(r *request, m *view.SharedMention) error {
	at := r.view.place(m.Place)
	last := len(shown.Scenes) - 1
	if last < 0 || shown.Scenes[last].N != at.Scene {
		scene, err := r.view.Scene(r.Context(), at.Scene)
		if err != nil {
			return err
		}
		shown.Scenes = append(shown.Scenes, mentionedIn{SceneRow: scene})
		last++
	}
	s := sentence{Post: at.Post, Start: m.Start, End: m.End}
	if r.db.Story != nil {
		post, err := r.db.Story.Post(r.Context(), at.Post)
		if err != nil {
			return err
		}
		s.Text = sentenceAround([]rune(post.Body), m.Start, m.End)
	}
	shown.Scenes[last].Sentences = append(shown.Scenes[last].Sentences, s)
	return nil
}

// sentenceAround returns the sentence around a name, with the name marked. A long one is cut.
func sentenceAround(body []rune, start, end int) []span {
	const most = 220 // characters on each side
	if end > len(body) {
		return nil // the corpus was changed
	}
	from, to := start, end
	for from > 0 && start-from < most && body[from-1] != '\n' && !endsSentence(body, from) {
		from--
	}
	for to < len(body) && to-end < most && body[to] != '\n' && !endsSentence(body, to) {
		to++
	}
	before, after := "", ""
	if start-from == most {
		before = "…"
	}
	if to-end == most {
		after = "…"
	}
	return []span{
		{Text: before + strings.TrimLeftFunc(string(body[from:start]), unicode.IsSpace)},
		{Text: string(body[start:end]), Quoted: true},
		{Text: string(body[end:to]) + after},
	}
}

// endsSentence reports whether a sentence ends before an offset: after its full stop, its quotation mark and a space.
func endsSentence(body []rune, at int) bool {
	if !unicode.IsSpace(body[at-1]) {
		return false
	}
	at--
	for at > 0 && strings.ContainsRune("”’\"'»)", body[at-1]) {
		at--
	}
	return at > 1 && strings.ContainsRune(".!?…", body[at-1]) && !unicode.IsUpper(body[at-2])
}
