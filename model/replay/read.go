package replay

import (
	"bufio"
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"annotator"
)

// The limits of a recording. They end the reading of a file that is something else.
const (
	maxLine = 64 << 20 // bytes of a line
	maxFile = 2 << 30  // bytes of all lines, which may come compressed
)

// Recording is what a file has of a run's requests and replies.
type Recording struct {
	Path     string
	Endpoint string    // of the recorded run, as the user named it
	Made     time.Time // when the recording began

	first     *settings // of the first request
	settings  settings  // of the newest request
	exchanges map[request]*exchange
	counts    map[string]int // of the tokens of texts, by digest
	known     map[digest]*sequence
	size      int64 // bytes of the lines that are whole

	digestsOnly bool // neither parts nor replies are kept
}

// request names a request.
type request struct {
	scene   int
	purpose annotator.CallPurpose
	number  int
}

func (r request) String() string {
	return fmt.Sprintf("request %d of scene %d to %s", r.number, r.scene, r.purpose)
}

// exchange is a request with its reply or its fault.
type exchange struct {
	at    time.Time
	parts *sequence
	reply *reply
	fault *fault
}

// sequence is a sequence of parts: another one with a part after it. The empty sequence is nil.
type sequence struct {
	before *sequence
	digest digest
	length int
	part   json.RawMessage
}

func (s *sequence) sum() digest {
	if s == nil {
		return digest{}
	}
	return s.digest
}

func (s *sequence) len() int {
	if s == nil {
		return 0
	}
	return s.length
}

// parts returns the parts of a sequence.
func (s *sequence) parts() []json.RawMessage {
	list := make([]json.RawMessage, s.len())
	for ; s != nil; s = s.before {
		list[s.length-1] = s.part
	}
	return list
}

// Load reads a recording, which may be compressed with gzip. An incomplete last line is ignored: the program was killed
// when it wrote that. The error is of kind annotator.Misused if the file is no recording.
func Load(path string) (*Recording, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the recording: %w", err)
	}
	defer func() { _ = file.Close() }()
	buffered := bufio.NewReader(file)
	source := io.Reader(buffered)
	if magic, err := buffered.Peek(2); err == nil && string(magic) == "\x1f\x8b" {
		if source, err = gzip.NewReader(buffered); err != nil {
			return nil, annotator.Errorf(annotator.Misused, "read the recording %s: %w", path, err)
		}
	}
	r, err := Read(source)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the recording %s: %w", path, err)
	}
	r.Path = path
	return r, nil
}

// Read reads the lines of a recording.
func Read(source io.Reader) (*Recording, error) {
	r := newRecording()
	return r, r.read(source)
}

func newRecording() *Recording {
	return &Recording{exchanges: map[request]*exchange{}, counts: map[string]int{}, known: map[digest]*sequence{}}
}

func (r *Recording) read(source io.Reader) error {
	lines := bufio.NewReaderSize(io.LimitReader(source, maxFile), 1<<16)
	for n := 1; ; n++ {
		text, err := readLine(lines)
		if errors.Is(err, io.EOF) {
			if r.Made.IsZero() {
				return errors.New("it is empty, or its first line is not whole")
			}
			return nil
		}
		if err == nil {
			err = r.add(text, n == 1)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		r.size += int64(len(text))
	}
}

// readLine returns the next line with its end. It returns io.EOF for a last line without one.
func readLine(lines *bufio.Reader) ([]byte, error) {
	var whole []byte
	for {
		piece, err := lines.ReadSlice('\n')
		whole = append(whole, piece...)
		switch {
		case len(whole) > maxLine:
			return nil, fmt.Errorf("it has more than %d bytes", maxLine)
		case errors.Is(err, io.ErrUnexpectedEOF): // a compressed file was cut
			return nil, io.EOF
		case !errors.Is(err, bufio.ErrBufferFull):
			return whole, err
		}
	}
}

// add takes in a line.
func (r *Recording) add(text []byte, isFirst bool) error {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		if isFirst {
			return errors.New("it is no recording")
		}
		return err
	}
	switch {
	case isFirst && l.Format != formatName:
		return errors.New("it is no recording")
	case isFirst && l.Version != formatVersion:
		return fmt.Errorf("its format has the version %d, and this program reads %d", l.Version, formatVersion)
	case isFirst && l.At.IsZero():
		return errors.New("it has no time")
	case isFirst:
		r.Endpoint, r.Made = l.Endpoint, l.At
		return nil
	case l.Count != nil:
		r.counts[l.Count.Text] = l.Count.Tokens
		return nil
	}
	return r.addExchange(&l)
}

func (r *Recording) addExchange(l *line) error {
	if l.Number < 1 || (l.Reply == nil) == (l.Fault == nil) {
		return errors.New("it has no number, or not one of reply and fault")
	}
	if l.Settings != nil {
		r.settings = *l.Settings
	}
	if r.first == nil {
		if l.Settings == nil {
			return errors.New("the first request has no settings")
		}
		r.first = l.Settings
	}
	parts, err := r.find(l)
	if err != nil {
		return err
	}
	parts = r.extend(parts, l.Parts)
	if !r.digestsOnly {
		r.exchanges[request{l.Scene, l.Purpose, l.Number}] = &exchange{l.At, parts, l.Reply, l.Fault}
	}
	return nil
}

// find returns the sequence that the parts of a line follow.
func (r *Recording) find(l *line) (*sequence, error) {
	var d digest
	if l.Follows == 0 {
		return nil, nil
	}
	if n, err := hex.Decode(d[:], []byte(l.Digest)); err == nil && n == len(d) {
		if s := r.known[d]; s != nil && s.length == l.Follows {
			return s, nil
		}
	}
	return nil, fmt.Errorf("it follows %d parts that no line before it has", l.Follows)
}

// longest returns the longest beginning of a request's parts that the recording has.
func (r *Recording) longest(parts []json.RawMessage) (s *sequence) {
	var d digest
	for _, part := range parts {
		d = d.after(part)
		known := r.known[d]
		if known == nil {
			return s
		}
		s = known
	}
	return s
}

// extend returns a sequence with more parts after it.
func (r *Recording) extend(s *sequence, parts []json.RawMessage) *sequence {
	for _, part := range parts {
		d := s.sum().after(part)
		longer := r.known[d]
		if longer == nil {
			longer = &sequence{before: s, digest: d, length: s.len() + 1}
			r.known[d] = longer
			if !r.digestsOnly {
				longer.part = part
			}
		}
		s = longer
	}
	return s
}
