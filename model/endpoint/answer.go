package endpoint

import (
	"io"
	"time"

	"annotator/model"
)

// answer is the body of a response. It keeps its beginning, tells the watch of each piece, and ends where it is too long.
type answer struct {
	body  io.Reader
	watch *watch
	told  func(bytes int) // how many have come; may be nil
	kept  []byte          // the first model.RawLimit bytes
	left  int             // how many bytes may still come
}

// Read reads the next piece.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	if n > 0 {
		a.watch.heard()
	}
	a.kept = append(a.kept, p[:min(n, model.RawLimit-len(a.kept))]...)
	a.left -= n
	if a.left < 0 {
		return 0, tooLong("an answer", answerLimit)
	}
	if n > 0 && a.told != nil {
		a.told(answerLimit - a.left)
	}
	return n, err
}

// drain reads what little stands behind the end of a stream, so that the connection can be used again.
func (a *answer) drain() {
	const most, wait = 4 << 10, time.Second
	a.watch.within(wait)
	_, _ = io.CopyN(io.Discard, a.body, most) // a connection that breaks now is no loss
}
