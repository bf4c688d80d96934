package sqlite

import "syscall"

// fileSystem returns the number of the file system that a folder is on; 0 where that is not known.
func fileSystem(folder string) uint32 {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0
	}
	return uint32(s.Type)
}
