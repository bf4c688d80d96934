package annotator

// Reason says why something failed, or what a user is told of, where what to do next depends on the commands and flags of
// a program. The program turns it into advice; the packages below it name no command and no flag.
type Reason string

// The reasons for which a database is not opened, or a run on it halts. A comment names the values of Error.Args.
const (
	ReasonOtherPath     Reason = "the database is open by another path"
	ReasonLinked        Reason = "the database has several names" // its path
	ReasonNoLocks       Reason = "file locks do not work"
	ReasonTakenOver     Reason = "another process has written to the database"
	ReasonTornCopy      Reason = "the database and its log are not of one moment"
	ReasonLogMissing    Reason = "the log of the database is missing" // the path of the database
	ReasonEmptyDatabase Reason = "the database is empty"              // its path
)
