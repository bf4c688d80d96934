package sqlite

// For the tests: no network is there to be mounted.
var (
	NetworkName = networkName
	FileSystem  = fileSystem
)
