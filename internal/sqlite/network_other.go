//go:build !linux && !windows

package sqlite

// networkOf supports only Linux and Windows.
func networkOf(string) string { return "" }
