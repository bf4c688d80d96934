package model

import (
	"regexp"
	"strings"
)

// thinking is what a model writes before it answers. One that is never closed swallows the answer.
var thinking = regexp.MustCompile(`(?s)<(?:think|thinking|analysis)>.*?(?:</(?:think|thinking|analysis)>|$)`)

// Said returns what the model says in words, without what it thinks aloud.
func (r *Reply) Said() string { return strings.TrimSpace(thinking.ReplaceAllString(r.Text, "")) }
