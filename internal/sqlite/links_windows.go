package sqlite

import (
	"os"

	"golang.org/x/sys/windows"
)

// linksOf returns the number of names of a file; 0 if unknown.
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
