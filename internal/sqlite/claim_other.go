//go:build !linux

package sqlite

import "os"

// lockByIdentity locks nothing. Only Linux mounts single files, so elsewhere a file with one name has one path, up to
// links and folders that its log and its lock file follow.
func lockByIdentity(*os.File) (held bool, err error) { return false, nil }
