package faults_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// fileOp is an operation on the files of one folder.
type fileOp struct {
	kind opKind
	name string // of the file
	to   string // that it is renamed to
	at   int64  // of the written bytes; for truncate, the new size
	data []byte // the written bytes; or the acknowledged state
}

// opKind is a kind of fileOp.
type opKind int

const (
	_            opKind = iota
	opens               // a file, which is created if it does not exist
	writes              // bytes at a place
	resizes             // a file
	syncs               // a file: its content is durable
	renames             // a file; an existing file with the new name is replaced
	unlinks             // a file
	syncsFolder         // the names of the files are durable
	acknowledges        // what is durable so far
)

// disk is a folder as a program sees it, and its durable part.
type disk struct {
	files map[string]*inode
	safe  map[string]*inode // by their names at the last sync of the folder
	moves []move            // of names, since then
}

// inode is a file under any name.
type inode struct {
	safe  []byte   // as of its newest sync
	since []fileOp // writes and changes of the size since the last sync
}

// move is an atomic change of names. A name without a file is removed.
type move map[string]*inode

func newDisk() *disk { return &disk{files: map[string]*inode{}, safe: map[string]*inode{}} }

// do applies an operation.
func (d *disk) do(a fileOp) error {
	file := d.files[a.name]
	if file == nil && a.kind != opens && a.kind != syncsFolder && a.kind != acknowledges {
		return fmt.Errorf("operation %d is on %q, which is not there", a.kind, a.name)
	}
	switch a.kind {
	case opens:
		if file == nil {
			d.move(move{a.name: {}})
		}
	case writes, resizes:
		file.since = append(file.since, a)
	case syncs:
		for i := range file.since {
			file.safe = file.since[i].onto(file.safe)
		}
		file.since = nil
	case renames:
		d.move(move{a.name: nil, a.to: file})
	case unlinks:
		d.move(move{a.name: nil})
	case syncsFolder:
		for _, m := range d.moves {
			m.onto(d.safe)
		}
		d.moves = nil
	}
	return nil
}

func (d *disk) move(m move) {
	m.onto(d.files)
	d.moves = append(d.moves, m)
}

func (m move) onto(names map[string]*inode) {
	for name, file := range m {
		if file == nil {
			delete(names, name)
		} else {
			names[name] = file
		}
	}
}

// onto applies a write or a change of the size to a file.
func (a *fileOp) onto(file []byte) []byte {
	end := a.at + int64(len(a.data))
	if a.kind == resizes && int64(len(file)) > end {
		return file[:end:end]
	}
	if grow := end - int64(len(file)); grow > 0 {
		file = append(file, make([]byte, grow)...)
	}
	copy(file[a.at:], a.data)
	return file
}

// lossMode is the loss of writes that were not synced when the power fails.
type lossMode int

const (
	forgets      lossMode = iota // nothing of it is there
	keeps                        // all of it is there
	mixes                        // each write, and each change of names, exists or not
	tears                        // each sector of a write is lost separately
	scribbles                    // a sector that was being written may have any content
	allLossModes                 // how many there are
)

// cut returns the files after a power failure at this moment.
func (d *disk) cut(t lossMode, random *rand.Rand) map[string][]byte {
	names := map[string]*inode{}
	move(d.safe).onto(names)
	for _, m := range d.moves {
		if t.lets(random) {
			m.onto(names)
		}
	}
	found := map[string][]byte{}
	for name, file := range names {
		content := slices.Clone(file.safe)
		for i := range file.since {
			content = t.write(content, &file.since[i], random)
		}
		found[name] = content
	}
	return found
}

// lets reports whether an operation that was not synced is durable nevertheless.
func (t lossMode) lets(random *rand.Rand) bool {
	return t == keeps || t != forgets && random.IntN(2) == 0
}

// sector is the unit of writes of a disk, in bytes.
const sector = 512

// write applies the durable part of a write to a file that was not synced after it.
func (t lossMode) write(file []byte, a *fileOp, random *rand.Rand) []byte {
	if a.kind == resizes || t < tears {
		if t.lets(random) {
			file = a.onto(file)
		}
		return file
	}
	for from, end := a.at, a.at+int64(len(a.data)); from < end; {
		to := min(end, (from/sector+1)*sector)
		part := fileOp{kind: writes, at: from, data: a.data[from-a.at : to-a.at]}
		if t == scribbles && random.IntN(4) == 0 {
			part.data = noise(len(part.data), random)
		}
		if t.lets(random) {
			file = part.onto(file)
		}
		from = to
	}
	return file
}

func noise(n int, random *rand.Rand) []byte {
	all := make([]byte, n)
	for i := range all {
		all[i] = byte(random.Uint32())
	}
	return all
}

// TestSyncedBytesOutliveThePowerCut tests the simulated disk: synced data exist in every mode, and other data may
// exist.
func TestSyncedBytesOutliveThePowerCut(t *testing.T) {
	t.Parallel()
	d := newDisk()
	text := func(s string) []byte { return []byte(s) }
	for _, a := range []fileOp{
		{kind: opens, name: "a"},
		{kind: writes, name: "a", data: text("safe")},
		{kind: syncs, name: "a"},
		{kind: syncsFolder},
		{kind: writes, name: "a", at: 4, data: text(" and sound")},
		{kind: opens, name: "b"},
		{kind: writes, name: "b", data: text("new")},
		{kind: syncs, name: "b"},
		{kind: writes, name: "b", at: 3, data: text("er")},
		{kind: resizes, name: "b", at: 1},
		{kind: renames, name: "b", to: "a"},
	} {
		if err := d.do(a); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{}
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 1000 {
		loss := lossMode(n) % allLossModes
		found := d.cut(loss, random)
		what := fmt.Sprintf("%q", found)
		if seen[what] = true; loss == forgets && what != `map["a":"safe"]` || loss == keeps && what != `map["a":"n"]` {
			t.Fatalf("in mode %d there is %s", loss, what)
		}
		if a := string(found["a"]); a[0] != 's' && a[0] != 'n' {
			t.Fatalf("what was synced has become %q", a)
		}
	}
	for _, want := range []string{`map["a":"safe"]`, `map["a":"safe and sound"]`, `map["a":"newer"]`, `map["a":"n"]`} {
		if !seen[want] {
			t.Errorf("there never is %s, but %v", want, seen)
		}
	}
}
