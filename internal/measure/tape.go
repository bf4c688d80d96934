package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// A tape keeps the bodies of requests in order, each as what stands between the bytes that it begins with and ends with like
// the one before: two lengths, and what is new, with its own length.

// tapeWriter records. Its methods are for one goroutine.
type tapeWriter struct {
	file   *os.File
	buffer *bufio.Writer
	last   []byte
	err    error // the first failure; told by Close
}

func createTape(path string) (*tapeWriter, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("make a tape: %w", err)
	}
	return &tapeWriter{file: file, buffer: bufio.NewWriter(file)}, nil
}

// add records a body. It keeps the slice.
func (w *tapeWriter) add(body []byte) {
	head := common(w.last, body, func(s []byte, i int) byte { return s[i] })
	tail := common(w.last[head:], body[head:], func(s []byte, i int) byte { return s[len(s)-1-i] })
	fresh := body[head : len(body)-tail]
	frame := binary.AppendUvarint(nil, uint64(head))
	frame = binary.AppendUvarint(frame, uint64(tail))
	frame = binary.AppendUvarint(frame, uint64(len(fresh)))
	for _, part := range [][]byte{frame, fresh} {
		if _, err := w.buffer.Write(part); err != nil && w.err == nil {
			w.err = err
		}
	}
	w.last = body
}

// common counts the places, as at reaches them, at which two texts are alike from the first on.
func common(a, b []byte, at func(text []byte, i int) byte) int {
	n := 0
	for n < min(len(a), len(b)) && at(a, n) == at(b, n) {
		n++
	}
	return n
}

// Close completes the file.
func (w *tapeWriter) Close() error {
	for _, end := range []func() error{w.buffer.Flush, w.file.Close} {
		if err := end(); err != nil && w.err == nil {
			w.err = err
		}
	}
	return w.err
}

// tapeReader plays back.
type tapeReader struct {
	file   *os.File
	buffer *bufio.Reader
	last   []byte
	spare  []byte
}

func openTape(path string) (*tapeReader, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the tape: %w", err)
	}
	return &tapeReader{file: file, buffer: bufio.NewReaderSize(file, 64<<10)}, nil
}

// next returns the next body, valid until the call after it.
func (r *tapeReader) next() ([]byte, error) {
	var head, tail, fresh uint64
	for _, n := range []*uint64{&head, &tail, &fresh} {
		var err error
		if *n, err = binary.ReadUvarint(r.buffer); err != nil {
			return nil, fmt.Errorf("read the tape: %w", err)
		}
	}
	body := append(r.spare[:0], r.last[:head]...)
	body = append(body, make([]byte, fresh)...)
	if _, err := io.ReadFull(r.buffer, body[head:]); err != nil {
		return nil, fmt.Errorf("read the tape: %w", err)
	}
	body = append(body, r.last[uint64(len(r.last))-tail:]...)
	r.last, r.spare = body, r.last
	return body, nil
}

// Close releases the file.
func (r *tapeReader) Close() error { return r.file.Close() }
