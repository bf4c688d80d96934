package sqlite

// These functions are for tests, which cannot mount a network file system.
var (
	NetworkName = networkName
	FileSystem  = fileSystem
)
