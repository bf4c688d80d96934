package mention_test

import (
	"testing"

	"annotator/context/mention"
)

func TestAddresses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"You are Wren Tallow, nineteen years old.":            true,
		"The lantern waits for you.":                          true,
		"She nods. \"You are late,\" she says.":               false,
		"“Are you there?” he asked, and went.":                false,
		"“Are you there?” he asked, and you went.":            true,
		"«Вы опоздали», — сказал он.":                         false,
		"— Вы опоздали, — сказал он.\nОн ушёл.":               false,
		"Ты идёшь домой.":                                     true,
		"Le bord du fleuve, disait-il.":                       false,
		"你走进城里。":                                              true,
		"他说：「你来了。」":                                           false,
		"\"You go on,\n\nshe said, \"and that is all.\"":      false,
		"The youth of yore.":                                  false,
		"":                                                    false,
		"Er ging, und «dich» war da. Sie gab dir das Messer.": true,
	} {
		if got := mention.Addresses(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
