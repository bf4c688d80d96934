//go:build !linux

package atomicfile

// renameNew renames a file to a name that must not exist.
func renameNew(from, to string) error { return renameUnlessExists(from, to) }
