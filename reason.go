package annotator

// Reason says why something failed, or is the subject of a notice. It is used where the next step of the user depends
// on the commands and flags of a program. The program turns it into advice; the packages below it name no command and
// no flag.
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

// The reasons for which a run stops at a bound.
const (
	ReasonTokenBound Reason = "as many tokens are used as the run may"
	ReasonCostBound  Reason = "the tokens cost as much as they may"
	ReasonTimeBound  Reason = "the time of the run is up"
)

// The reasons of the importers. A comment names the values of Error.Args.
const (
	ReasonNotACorpus        Reason = "not a corpus" // the tables that a corpus has
	ReasonNoCorpusNamed     Reason = "no corpus is named"
	ReasonCorpusTaken       Reason = "another file is in the corpus' place"
	ReasonOtherStory        Reason = "the source is another story"
	ReasonOtherImport       Reason = "the corpus holds another import"
	ReasonUnknownEncoding   Reason = "unknown encoding"
	ReasonAmbiguousEncoding Reason = "ambiguous encoding" // path, the encodings with the first line in each
	ReasonWrongFormat       Reason = "the source is not in the format"
	ReasonMarkup            Reason = "the source is in a markup that is not read" // what to do
	ReasonConvertible       Reason = "a program can convert the source"           // its name, what else to do
	ReasonMixedFormats      Reason = "books and forums together"
	ReasonLeftOut           Reason = "all was left out" // the largest part, its first words
	ReasonEmptySource       Reason = "the source is empty"
	ReasonNothingFound      Reason = "nothing was found to import" // what was left out
	ReasonUnsureAuthor      Reason = "the author of the story is uncertain"
)

// The reasons of endpoints and models.
const (
	ReasonUnreachable     Reason = "no server at the address"
	ReasonNeverReached    Reason = "nothing has answered at the address"
	ReasonWrongAddress    Reason = "the address is not that of the API"
	ReasonNotAnAPI        Reason = "something else answers at the address"
	ReasonForbidden       Reason = "something before the server forbids requests"
	ReasonKeyRefused      Reason = "the key is refused"
	ReasonKeyInvalid      Reason = "the key cannot be sent"
	ReasonSecretInAddress Reason = "a secret in the address"
	ReasonRedirected      Reason = "the address redirects"
	ReasonNoModel         Reason = "no model is named"
	ReasonUnknownModel    Reason = "unknown model" // the models that are served in parentheses, or nothing
	ReasonUnknownPath     Reason = "neither address nor model is known to be wrong"
	ReasonNoModelList     Reason = "no list of models"
	ReasonWrongModelList  Reason = "the list of models cannot be read"
	ReasonOtherModel      Reason = "another model answered"
	ReasonNoCredit        Reason = "no credit"
	ReasonAccount         Reason = "the account is not served"
	ReasonUnknownSetting  Reason = "the model does not take a setting"
	ReasonNoTools         Reason = "the model calls no tools"
	ReasonCallsInText     Reason = "calls are left in the text"
	ReasonPromptCut       Reason = "the server drops the beginning of a prompt"
	ReasonReplyCut        Reason = "replies are cut at their limit"
	ReasonNoToken         Reason = "no token for too long"
	ReasonSlow            Reason = "a check took too long"
	ReasonOverloaded      Reason = "the server is overloaded"
	ReasonNoStream        Reason = "streaming does not work"
	ReasonContextUnknown  Reason = "the context is not known"
	ReasonContextTooSmall Reason = "the context is too small for a scene"
	ReasonSceneTooLong    Reason = "the scene is too long for the context"
	ReasonServerUnfit     Reason = "the server must be started otherwise" // what would help
	ReasonCallsRefused    Reason = "every tool call was refused"
	ReasonNoEntries       Reason = "no entry was made"
	ReasonNoRecording     Reason = "no recording can be written there"
	ReasonNotRecorded     Reason = "the recording does not have the request"
	ReasonReplayDiffers   Reason = "a request differs from the recorded one"
	ReasonScenesFail      Reason = "scenes in a row could not be annotated"
	ReasonCuratorFails    Reason = "the curator gets no answers"
	ReasonModelChanged    Reason = "another model than before" // the model before
	ReasonRunIsOffline    Reason = "the run was made with the offline model"
	ReasonPromptChanged   Reason = "another prompt than before"
	ReasonUnfinishedBook  Reason = "the book before is not read to its end"
	ReasonOtherSeed       Reason = "another seed than before"
	ReasonStoryChanged    Reason = "another story than before"
	ReasonNoPrompts       Reason = "no folder of prompts" // its path
	ReasonInvalidPrompt   Reason = "a prompt cannot be filled in"
	ReasonEmptyPolicy     Reason = "the policy is empty"
	ReasonNoPublishedBook Reason = "not the book that was imported"
	ReasonNoExportFormat  Reason = "no format to export to" // the formats
	ReasonDatabaseDamaged Reason = "the database contradicts itself"
	ReasonNetworkDisk     Reason = "the database is on a network share"
	ReasonForeignDatabase Reason = "a database of another program"
	ReasonForeignSchema   Reason = "the database has what another program made"
	ReasonUnreleased      Reason = "a database of a version before the first release" // its path
	ReasonFormerSchema    Reason = "a database of an earlier version"                 // its path
	ReasonFormerReadOnly  Reason = "a database of an earlier version that cannot be written"
	ReasonNoRun           Reason = "the database holds no run" // its path
	ReasonCannotCreate    Reason = "the database cannot be made"
	ReasonCannotLock      Reason = "the database cannot be locked"
	ReasonRescued         Reason = "the database was copied after its file was lost" // the path of the copy
	ReasonUnknownThread   Reason = "unknown thread"
	ReasonUnknownChapter  Reason = "unknown chapter"
	ReasonUnknownScene    Reason = "unknown scene"
	ReasonUnreadScene     Reason = "the scene is not read yet"
	ReasonUnknownTurn     Reason = "unknown turn"
	ReasonNoBranch        Reason = "no run continues from such a snapshot" // the types that it continues from
	ReasonUnknownSnapshot Reason = "unknown snapshot"
	ReasonNotQuarantined  Reason = "the scene is not quarantined"
	ReasonCheckpointIsDue Reason = "the scene has no checkpoint yet"
)
