package sqlite

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// networkOf returns the drive or the share of a folder, if it is on another machine; else "".
func networkOf(folder string) string {
	full, err := filepath.Abs(folder)
	if err != nil {
		return ""
	}
	volume := filepath.VolumeName(full)
	root, err := windows.UTF16PtrFromString(volume + `\`)
	if err != nil || windows.GetDriveType(root) != windows.DRIVE_REMOTE {
		return ""
	}
	return volume
}
