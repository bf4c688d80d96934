package model_test

import (
	"testing"

	"annotator/model"
)

func TestSaid(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		" Plain. ":                              "Plain.",
		"<think>Hm.</think>\nIt was so.":        "It was so.",
		"It <analysis>so\nor so</analysis>was.": "It was.",
		"It was. <thinking>And yet":             "It was.",
		"<think>never closed":                   "",
	} {
		if got := (&model.Reply{Text: text}).Said(); got != want {
			t.Errorf("of %q it says %q, want %q", text, got, want)
		}
	}
}
