package exporters

import (
	"archive/zip"
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"hash"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"annotator"
	"annotator/internal/atomicfile"
)

// manifestName is the file in an exported folder that lists the files of the export with their SHA-256. The next export
// to the folder replaces only these files. Of files in which users write, it also lists hashes of their lines.
const manifestName = ".annotator-export.json"

// writeZip writes the files of a format as a zip archive. The same codex gives the same bytes.
func (f *Format) writeZip(ctx context.Context, w io.Writer, c *Codex) error {
	archive := zip.NewWriter(w)
	if err := f.WriteFiles(ctx, zipFiles{archive}, c); err != nil {
		return err
	}
	return archive.Close()
}

type zipFiles struct{ archive *zip.Writer }

func (z zipFiles) Create(name string) (io.Writer, error) {
	return z.archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
}

// WriteFolder writes the files of a format to a folder, which is new, empty, or contains an earlier export. It replaces
// the files of that export. It keeps files that the user added, and text that the user wrote below the format's
// OwnPart. Lines that were added above are moved there. The error is of kind annotator.Misused if other changes of the
// user would be lost. All files are complete
// before the first is replaced. After a kill in between, the next export completes the folder.
func (f *Format) WriteFolder(ctx context.Context, path string, c *Codex) error {
	err := f.writeFolder(ctx, filepath.Clean(path), c)
	if err == nil || annotator.KindOf(err) != "" {
		return err
	}
	return annotator.Errorf(annotator.Halted, "write the folder %s: %w", path, atomicfile.Cause(err)).
		WithAdvice("check the disk, its space and its mount, then run again")
}

func (f *Format) writeFolder(ctx context.Context, path string, c *Codex) error {
	before, err := readManifest(path)
	if err != nil {
		return err
	}
	temporary, err := atomicfile.CreateFolder(path)
	if err != nil {
		return annotator.Errorf(annotator.Misused, "write the folder %s: %w", path, atomicfile.Cause(err)).
			WithAdvice("choose a folder that exists and can be written to")
	}
	defer temporary.Discard()
	files := &folderFiles{folder: temporary.Path, written: manifest{}, lines: f.OwnPart != ""}
	err = f.WriteFiles(ctx, files, c)
	if err = cmp.Or(err, files.close()); err != nil {
		return err
	}
	if err := before.check(path, files.written, f.OwnPart); err != nil {
		return err
	}
	if err := before.keepOwnParts(path, files, f.OwnPart); err != nil {
		return err
	}
	return before.replace(path, temporary.Path, files.written)
}

// manifest holds the SHA-256 of files by their names, without the parts of the user, and hashes of lines. While an
// export replaces files, it holds those before and after it, separated by spaces.
type manifest map[string]string

// linesPrefix begins the hashes of the lines of a file in a manifest. Each has the length of lineHash.
const linesPrefix = "lines:"

// lineHash returns a short hash of a line without surrounding space, as 8 characters.
func lineHash(line string) string {
	hashed := sha256.Sum256([]byte(strings.TrimSpace(line)))
	return hex.EncodeToString(hashed[:4])
}

// added returns the lines of a text that no export wrote, given the lists of both exports.
func (m manifest) added(name, text string, next manifest) string {
	known := map[string]bool{}
	for field := range strings.FieldsSeq(m[name] + " " + next[name]) {
		hashes, found := strings.CutPrefix(field, linesPrefix)
		for ; found && len(hashes) >= 8; hashes = hashes[8:] {
			known[hashes[:8]] = true
		}
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" && !known[lineHash(line)] {
			b.WriteString(line)
		}
	}
	return b.String()
}

// readManifest returns the manifest of a folder; an empty one if the folder is missing or empty.
func readManifest(path string) (manifest, error) {
	refuse := func(err error) error {
		return annotator.Errorf(annotator.Misused, "write the folder %s: %w", path, err).
			WithAdvice("name a new folder, or a file that ends in .zip")
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return nil, refuse(errors.New("it is a file"))
	}
	m := manifest{}
	text, err := os.ReadFile(filepath.Join(path, manifestName))
	if err == nil {
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, refuse(err)
		}
		for name := range m {
			if !filepath.IsLocal(filepath.FromSlash(name)) {
				return nil, refuse(errors.New("its list of files names one outside of it"))
			}
		}
		return m, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(err)
	}
	others, err := os.ReadDir(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, refuse(err)
	}
	// A process that was killed while it wrote the list leaves a temporary file, which WriteFile removes.
	isTemporary := func(e fs.DirEntry) bool { return strings.HasPrefix(e.Name(), "."+manifestName+".") }
	if len(slices.DeleteFunc(others, isTemporary)) > 0 {
		return nil, refuse(errors.New("it has files, and no export was written to it before"))
	}
	return m, nil
}

// check returns an error if the export would replace or remove a file that the user added or changed.
func (m manifest) check(path string, next manifest, ownPart string) error {
	names := maps.Clone(m)
	maps.Copy(names, next)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		sum, err := sumOf(local(path, name), ownPart)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		kept := ownPart != "" && sum != "" && strings.Contains(m[name], linesPrefix)
		if !kept && !slices.Contains(strings.Fields(m[name]+" "+next[name]), sum) {
			return annotator.Errorf(annotator.Misused,
				"write the folder %s: %s was changed or added by hand, and would be lost", path, name).
				WithAdvice("move that file away, or name a new folder")
		}
	}
	return nil
}

// keepOwnParts appends the parts of the user in the files of the folder to the new files. They begin with the lines
// that were added above them. A file that the export no longer has is kept with this part only.
func (m manifest) keepOwnParts(path string, files *folderFiles, ownPart string) error {
	if ownPart == "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		content, err := os.ReadFile(local(path, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		exported, own := cutOwnPart(string(content), ownPart)
		own = m.added(name, exported, files.written) + own
		if strings.TrimSpace(own) == "" {
			continue
		}
		if _, stays := files.written[name]; !stays {
			if err := cmp.Or(writeText(files, name, ownPart+"\n"), files.close()); err != nil {
				return err
			}
		}
		if err := appendTo(local(files.folder, name), own); err != nil {
			return err
		}
	}
	return nil
}

func appendTo(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = io.WriteString(file, text)
	return cmp.Or(err, file.Close())
}

// replace moves the new files to the folder, and removes those of the earlier export that have no successor. The list
// of files covers both exports until the end.
func (m manifest) replace(path, temporary string, next manifest) error {
	both := maps.Clone(m)
	for name, sum := range next {
		both[name] = strings.TrimSpace(m[name] + " " + sum)
	}
	if err := os.MkdirAll(path, 0o777); err != nil {
		return err
	}
	if err := both.write(path); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(both)) {
		if _, stays := next[name]; !stays {
			if err := os.Remove(local(path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		if err := os.MkdirAll(filepath.Dir(local(path, name)), 0o777); err != nil {
			return err
		}
		if err := os.Rename(local(temporary, name), local(path, name)); err != nil {
			return err
		}
	}
	return next.write(path)
}

// write writes the list of files of a folder.
func (m manifest) write(path string) error {
	return WriteFile(filepath.Join(path, manifestName), func(w io.Writer) error { return writeValue(w, m) })
}

// local returns the path of a file of an export.
func local(folder, name string) string { return filepath.Join(folder, filepath.FromSlash(name)) }

// sumOf returns the SHA-256 of a file without the user's part. It is "" for a link or a folder.
func sumOf(path, ownPart string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", err
	}
	content, err := os.ReadFile(path)
	exported, _ := cutOwnPart(string(content), ownPart)
	hashed := sha256.Sum256([]byte(exported))
	return hex.EncodeToString(hashed[:]), err
}

// cutOwnPart cuts the text of a file after the line below which the user writes.
func cutOwnPart(text, line string) (exported, own string) {
	at := strings.Index("\n"+text, "\n"+line) // the file may begin with it
	if line == "" || at < 0 {
		return text, ""
	}
	end := at + len(line)
	return text[:end] + "\n", strings.TrimPrefix(text[end:], "\n")
}

// folderFiles creates files in a folder. They are not synced: an export can be made again.
type folderFiles struct {
	folder  string
	written manifest
	name    string   // of the newest file
	file    *os.File // nil before the first
	buffer  *bufio.Writer
	hash    hash.Hash
	lines   bool          // the list has hashes of lines
	text    *bytes.Buffer // of the newest file, if they are listed
}

// Create also creates the folders of a file.
func (f *folderFiles) Create(name string) (io.Writer, error) {
	if err := f.close(); err != nil {
		return nil, err
	}
	path := local(f.folder, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	f.name, f.file, f.hash = name, file, sha256.New()
	f.text = &bytes.Buffer{}
	writers := []io.Writer{file, f.hash}
	if f.lines {
		writers = append(writers, f.text)
	}
	f.buffer = bufio.NewWriter(io.MultiWriter(writers...))
	return f.buffer, nil
}

// close ends the newest file and lists its hash.
func (f *folderFiles) close() error {
	if f.file == nil {
		return nil
	}
	err := cmp.Or(f.buffer.Flush(), f.file.Close())
	f.file = nil
	f.written[f.name] = hex.EncodeToString(f.hash.Sum(nil))
	if f.lines {
		hashes := []byte(" " + linesPrefix)
		for line := range strings.Lines(f.text.String()) {
			hashes = append(hashes, lineHash(line)...)
		}
		f.written[f.name] += string(hashes)
	}
	return err
}
