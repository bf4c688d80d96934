//go:build !linux

package atomicfile

// renameNew renames a file to a name that must be free.
func renameNew(from, to string) error { return renameUnlessExists(from, to) }
