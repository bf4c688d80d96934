package sqlite

// For the tests: no network is there to be mounted.
var (
	NetworkName = networkName
	FileSystem  = fileSystem
)

// OpenCopy opens a copy, as Open does on read-only media.
var OpenCopy = openCopy
