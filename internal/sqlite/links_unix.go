//go:build unix

package sqlite

import (
	"os"
	"syscall"
)

// linksOf returns the number of names of a file; 0 if unknown.
func linksOf(path string) int {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return int(stat.Nlink)
}
