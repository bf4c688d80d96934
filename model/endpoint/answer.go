package endpoint

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"time"

	"annotator"
	"annotator/model"
)

// answer is the body of a response. It keeps the first bytes, reports how many have arrived, and fails if it is too
// long.
type answer struct {
	body       io.Reader
	watch      *watch
	onProgress func(bytes int) // with how many have arrived; may be nil
	kept       []byte          // the first model.RawLimit bytes
	left       int             // how many bytes may still arrive
}

// Read reads the next piece.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	a.kept = append(a.kept, p[:min(n, model.RawLimit-len(a.kept))]...)
	a.left -= n
	if a.left < 0 {
		return 0, tooLong("an answer", answerLimit)
	}
	if n > 0 && a.onProgress != nil && a.watch.size > 0 { // bytes before the first token are no progress
		a.onProgress(answerLimit - a.left)
	}
	return n, err
}

// drain reads the few bytes after the end of a stream, so that the connection can be used again.
func (a *answer) drain() {
	const most, wait = 4 << 10, time.Second
	a.watch.limitRest(wait)
	_, _ = io.CopyN(io.Discard, a.body, most) // the reply is complete, so an error does not matter
}

// decompressed returns the decompressed body of a response: some proxies compress unasked. With an error, it returns
// the body unchanged.
func decompressed(r *http.Response) (io.Reader, error) {
	switch coding := strings.ToLower(strings.TrimSpace(r.Header.Get("Content-Encoding"))); coding {
	case "", "identity", "none", "utf-8": // the last two are no codings, but some servers send them
		return r.Body, nil
	case "gzip", "x-gzip":
		return &gzipReader{packed: r.Body}, nil
	default:
		f := Unusable("the answer is compressed by a method that is not known (%.20q)", coding)
		f.Kind, f.Advice = annotator.Misconfigured,
			"have the server, and what stands before it, leave answers uncompressed"
		return r.Body, f
	}
}

// gzipReader reads the gzip header at the first Read, and not before.
type gzipReader struct {
	packed io.Reader
	body   *gzip.Reader
}

// Read reads the next piece.
func (u *gzipReader) Read(p []byte) (n int, err error) {
	if u.body == nil {
		if u.body, err = gzip.NewReader(u.packed); err != nil {
			return 0, err
		}
	}
	return u.body.Read(p)
}
