package sqlite

import (
	"path/filepath"

	"annotator"
)

// RefuseNetwork refuses a file on a network file system, for writing; the error is of kind Misused. The write-ahead
// log of SQLite uses memory that all processes share, which a network file system does not have: one machine could
// undo what another has committed.
func RefuseNetwork(path string) error {
	file := path
	if target, err := filepath.EvalSymlinks(path); err == nil {
		file = target
	}
	folder := filepath.Dir(file)
	name := networkName(fileSystem(folder))
	if name == "" {
		return nil
	}
	return annotator.Errorf(annotator.Misused, "open %s to write: %s is on a network file system (%s), where a database can be lost", path, folder, name).
		WithAdvice("put the database on a disk of this machine, and copy it with `annotator backup`")
}

// networkName returns the name of a network file system by its number in Linux, and "" for any other. FUSE may be
// either, and is taken for local.
func networkName(magic uint32) string {
	switch magic {
	case 0x6969:
		return "NFS"
	case 0x517b, 0xfe534d42, 0xff534d42:
		return "SMB"
	case 0x5346414f, 0x6b414653:
		return "AFS"
	case 0x00c36400:
		return "Ceph"
	case 0x73757245:
		return "Coda"
	case 0x564c:
		return "NCP"
	}
	return ""
}
