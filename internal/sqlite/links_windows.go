package sqlite

import (
	"os"

	"golang.org/x/sys/windows"
)

// linksOf returns how many names a file has; 0 where that is not known.
func linksOf(path string) int {
	file, err := os.Open(path)
	if err != nil {
		return 0
	}
	defer func() { _ = file.Close() }()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(file.Fd()), &info) != nil {
		return 0
	}
	return int(info.NumberOfLinks)
}
