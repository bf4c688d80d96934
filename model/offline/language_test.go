package offline_test

import (
	"testing"

	"annotator/model/offline"
)

func TestCanRead(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"The lamp leaned.": true, "Лампа наклонилась.": true, "": true, "1 2 3": true,
		"话说天下大势，分久必合。": false, "親譲りの無鉄砲で": false, "비가 오는 날이었다": false, "كان يا ما كان": false, "Pell said 你好.": true,
	} {
		if got := offline.CanRead(text); got != want {
			t.Errorf("%q can be read: %v", text, got)
		}
	}
}
