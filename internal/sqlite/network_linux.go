package sqlite

import "syscall"

// networkOf returns the name of a folder's network file system, and "" for any other or an unknown one.
func networkOf(folder string) string { return networkName(fileSystem(folder)) }

// fileSystem returns the number of a folder's file system; 0 if unknown.
func fileSystem(folder string) uint32 {
	var s syscall.Statfs_t
	if syscall.Statfs(folder, &s) != nil {
		return 0
	}
	return uint32(s.Type)
}

// networkName returns the name of a network file system by its number, and "" for any other. FUSE and 9p may be either.
// Few of the programs that serve them share memory and locks between processes, as SQLite requires.
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
	case 0x65735546:
		return "FUSE"
	case 0x01021997:
		return "9p"
	}
	return ""
}
