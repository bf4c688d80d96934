package ingest

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"annotator"
)

// The programs that make a book of a source which can be read, if the user asks for one by name and has installed it.
const (
	pandoc       = "pandoc"        // makes a page
	ebookConvert = "ebook-convert" // of calibre, makes an EPUB
)

// Converters lists them.
func Converters() []string { return []string{pandoc, ebookConvert} }

// convertedFormat is what a converter makes.
func convertedFormat(converter string) Format {
	if converter == pandoc {
		return HTML
	}
	return EPUB
}

// pandocPage is the page that pandoc fills in. Its own templates are files, which it does not read in its sandbox.
const pandocPage = `<!DOCTYPE html>
<html><head><title>$title$</title>$for(author)$<meta name="author" content="$author$">$endfor$</head><body>
$body$
</body></html>
`

// What a conversion may take. The size is that of what is made.
const (
	convertTime = 10 * time.Minute
	convertSize = maxArchive
	lookEvery   = 200 * time.Millisecond
	shownSpeech = 400 // characters of what the program said, in an error
)

// childVariables are what a converter gets of the environment: keys of model servers are not among them.
var childVariables = [...]string{
	"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "SystemRoot", "USERPROFILE", "APPDATA", "LOCALAPPDATA",
	"TEMP", "TMP", "PATHEXT",
}

// Why a conversion is ended before the program ends.
var (
	errConvertSlow  = errors.New("it takes too long")
	errConvertLarge = errors.New("the book that it makes is too large")
)

// converted has the source's program make a book of it, and returns that as the source. Without a program it is the
// source itself. What digests compare is the file that was there, as two conversions differ in dates and identifiers.
func (s source) converted(ctx context.Context, report *Report) (source, error) {
	if s.converter == "" {
		return s, nil
	}
	program, err := exec.LookPath(s.converter)
	if err != nil {
		return s, annotator.Errorf(annotator.Misused, "convert %s: %s is not installed, or in no folder of PATH",
			s.path, s.converter).WithAdvice("install it, or make an EPUB or a plain text of the file otherwise")
	}
	from, err := filepath.Abs(s.path) // a name that begins with a hyphen would be an option
	if err != nil {
		return s, annotator.Errorf(annotator.Storage, "convert %s: %w", s.path, err)
	}
	folder, err := os.MkdirTemp("", "annotator-convert-")
	if err != nil {
		return s, annotator.Errorf(annotator.Storage, "make a folder for a conversion: %w", err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	to := filepath.Join(folder, "book."+string(s.format))
	arguments := []string{from, to}
	if s.converter == pandoc { // which includes files and fetches what a text names, unless it is in its sandbox
		page := filepath.Join(folder, "page.html")
		if err := os.WriteFile(page, []byte(pandocPage), 0o600); err != nil {
			return s, annotator.Errorf(annotator.Storage, "write the page for pandoc: %w", err)
		}
		arguments = []string{
			"--sandbox", "--to=html", "--standalone", "--wrap=none", "--template=" + page, "-o", to, from,
		}
	}
	if said, err := runConverter(ctx, program, arguments, to); err != nil {
		if ctx.Err() != nil {
			return s, ctx.Err()
		}
		return s, annotator.Errorf(annotator.Misused, "%s could not convert %s: %w%s", s.converter, s.path, err, said).
			WithAdvice("see whether it reads such files; else make an EPUB or a plain text of it otherwise")
	}
	if s.data, err = os.ReadFile(to); err != nil {
		return s, annotator.Errorf(annotator.Storage, "read what %s has made of %s: %w", s.converter, s.path, err)
	}
	report.note("%s converted %s to %s, which was read; the offsets of posts are those in it", s.converter, s.path,
		s.format)
	s.size = int64(len(s.data))
	return s, nil
}

// runConverter runs a program without a shell, in the folder of its result. It ends with the context, after the time
// and at the size that a conversion may take. said is the end of what it printed.
func runConverter(ctx context.Context, program string, arguments []string, to string) (said string, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, convertTime, errConvertSlow)
	defer cancel()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	command := exec.CommandContext(ctx, program, arguments...)
	command.Dir, command.WaitDelay = filepath.Dir(to), time.Second
	command.Env = []string{}
	for _, name := range childVariables {
		if value, ok := os.LookupEnv(name); ok {
			command.Env = append(command.Env, name+"="+value)
		}
	}
	var speech speechEnd
	command.Stdout, command.Stderr = &speech, &speech
	go func() {
		for tooLarge(to) == nil {
			select {
			case <-ctx.Done():
				return
			case <-time.After(lookEvery):
			}
		}
		end(errConvertLarge)
	}()
	err = command.Run()
	if cause := context.Cause(ctx); cause != nil {
		err = cause
	}
	if err == nil {
		err = tooLarge(to)
	}
	if _, missing := os.Stat(to); err == nil && missing != nil {
		err = errors.New("it has made no book")
	}
	return speech.String(), err
}

// tooLarge is the error that a file is larger than a conversion may be; nil if it is not, or not there.
func tooLarge(path string) error {
	if info, err := os.Stat(path); err == nil && info.Size() > convertSize {
		return errConvertLarge
	}
	return nil
}

// speechEnd keeps the end of what a program prints.
type speechEnd struct{ last []byte }

func (s *speechEnd) Write(p []byte) (int, error) {
	s.last = append(s.last, p...)
	s.last = s.last[max(0, len(s.last)-4*shownSpeech):]
	return len(p), nil
}

// String is what was printed last, in one line behind a colon; "" for nothing.
func (s *speechEnd) String() string {
	line := []rune(strings.Join(strings.Fields(string(s.last)), " "))
	if len(line) == 0 {
		return ""
	}
	return ": " + string(line[max(0, len(line)-shownSpeech):])
}
