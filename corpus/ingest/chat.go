package ingest

import (
	"errors"

	"annotator"
)

// errChatHead is a line that says whose chat follows, and is no message.
var errChatHead = errors.New("the names of a chat")

// chat is what is known of a chat of SillyTavern while its messages pass by.
type chat struct {
	names  map[string]bool // who takes part
	tokens int             // of the open scene
}

// isChatHead reports whether a line names those who take part, and takes the names.
func (c *chat) isChatHead(f *fields) bool {
	if f.has("mes") || !f.has("user_name", "character_name") || !f.has("chat_metadata", "create_date") {
		return false
	}
	*c = chat{names: map[string]bool{f.text("user_name"): true, f.text("character_name"): true}}
	return true
}

// take makes a post of the story out of a message, whoever wrote it. Messages that are hidden from the model
// are marked like those of the program, so only an author who has no others is the program.
func (c *chat) take(p *forumPost, f *fields, last int64, sceneTokens int) {
	p.Time = last + 1
	if at, err := f.first("send_date").unix(); err == nil {
		p.Time = max(at, p.Time)
	}
	if c.names == nil {
		c.names = map[string]bool{}
	}
	if f.text("is_system") == "true" && !c.names[p.Name] {
		c.tokens = 0
		return
	}
	c.names[p.Name] = true
	p.Tags = append(p.Tags, annotator.TagStory)
	if c.tokens >= sceneTokens {
		p.Tags = append(p.Tags, annotator.TagSceneStart)
		c.tokens = 0
	}
	c.tokens += estimate(p.Body)
}
