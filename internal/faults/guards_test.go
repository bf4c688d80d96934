package faults_test

// guard is a row of the catalogue that tests elsewhere answer for.
type guard struct {
	n        string // in the catalogue
	fault    string
	does     string
	tests    []string // folder.Test
	untested string   // why no test shows it, or not all of it
}

// systemGuards are for the faults of the database and of the operating system.
func systemGuards() []guard {
	const failing = "internal/faults.TestFailingSystem"
	return []guard{
		{n: "80", fault: "the disk is full", does: "halts and says so; the database stays whole, and the next run goes on", tests: []string{failing, "internal/sqlite.TestWrapAdvises"}},
		{n: "81", fault: "the quota is used up; the file system has become read-only", does: "the same", tests: []string{failing}},
		{n: "82", fault: "`fsync` fails, and the commit may be in the file nevertheless", does: "halts; the next run reads what is there", tests: []string{failing}},
		{n: "83", fault: "killed at any moment, also while the file is made", does: "the resumed run equals the undisturbed one", tests: []string{"runner.TestKilledAtEveryTransition", "runner.TestKilledAtRandomMoments", "storage.TestKilledWhileMaking"}},
		{n: "85", fault: "two runs on one database", does: "the second is refused and told who holds it", tests: []string{"storage.TestOneWriter", "storage.TestCloseGivesUpTheLock"}},
		{n: "86", fault: "the database is locked; a read that becomes a write", does: "waits ten seconds; transactions are immediate", tests: []string{"internal/sqlite.TestImmediate", "internal/sqlite.TestPragmas"}},
		{n: "88", fault: "a long reader, for which the write-ahead log grows", does: "the run never waits for it, gives a word past 64 MiB, and folds the log back after it", tests: []string{"storage.TestTidy"}},
		{n: "89", fault: "a place that can only be read", does: "refused, with a word on what to check, and not a byte changes", tests: []string{"internal/faults.TestReadOnlyMount", "storage.TestReadOnlyPlaces"}, untested: "as root, and as another user:"},
		{n: "90", fault: "a file of garbage, or one that is cut off", does: "refused, and not a byte of it changes; points to a backup", tests: []string{"storage.TestRefusesWhatIsNotOurs"}},
		{n: "91", fault: "a flipped bit that SQLite's own check does not see", does: "the journal is chained by hashes; `verify` finds it", tests: []string{"storage.TestVerifyFindsBitRot"}},
		{n: "92", fault: "the full-text index has drifted from its table", does: "`verify` finds it, and `--repair` mends it", tests: []string{"storage.TestVerifyFindsDamage", "storage.TestRebuildIndex"}},
		{n: "94", fault: "a process opens and closes a file of its own database, and loses its locks", does: "nothing but SQLite opens them; a backup is made by it", tests: []string{"internal/faults.TestLocksAreKept", "storage.TestBackupBesideAWriter"}},
		{n: "95", fault: "a path that means something in a URI", does: "one place builds the name; the database is in the file of that very name", tests: []string{"internal/sqlite.TestAnyPath", "internal/sqlite.TestAnyPathIsFound", "internal/sqlite.TestReadOnly"}},
		{n: "96", fault: "a mistyped path", does: "makes nothing", tests: []string{"internal/sqlite.TestNothingIsMade", "storage.TestOpenMakesNothing"}},
		{n: "97", fault: "a network file system", does: "refused for writing, and nothing is left there", tests: []string{"internal/faults.TestNetworkIsRefused", "internal/sqlite.TestNetworkIsTold"}, untested: "the kernel is made to say so, none is mounted:"},
		{n: "98", fault: "the power fails", does: "every commit is synced in full before it is believed; the next run goes on from it. An import, a copy, a branch or an export that is reported stays, and none is ever seen half done", tests: []string{"internal/faults.TestPowerFails", "internal/sqlite.TestPragmas"}},
		{n: "100", fault: "a migration is interrupted", does: "each step is one transaction, which reads the version again", tests: []string{"storage.TestMigrationCutOff", "storage.TestMigrationsFromEveryVersion"}},
		{n: "101", fault: "a database of a later version", does: "refused", tests: []string{"storage.TestRefusesWhatIsNotOurs"}},
		{n: "102", fault: "a transaction whose context is cancelled", does: "commits are made under a context that cannot be", tests: []string{"storage.TestCommitsWhenCancelled"}},
		{n: "103", fault: "no file descriptors are left", does: "halts, and names the limit", tests: []string{failing}},
		{n: "103", fault: "the clock is set, back or forward", does: "nothing is ordered by it; waits are measured by the monotonic clock", tests: []string{"internal/faults.TestClockIsSet"}},
		{n: "104", fault: "the corpus is edited under a run", does: "each scene has a hash; the run says which one has changed, and does nothing", tests: []string{"internal/faults.TestCorpusIsTakenAway", "runner.TestChangesAreNoticed", "storage.TestChangedScene"}},
		{n: "105", fault: "the database, its log, or the log's index is deleted, moved or replaced under a run", does: "halts before the next transaction; what was recorded is copied to a file of its own, which the next run goes on from; what is left of the log harms nothing that is put in its place", tests: []string{"internal/faults.TestDatabaseIsTakenAway"}},
		{n: "106", fault: "no place for temporary files: nothing but the folder can be written", does: "needs none", tests: []string{"internal/faults.TestNowhereElse"}, untested: "as root:"},
	}
}

// securityGuards are for what is done on purpose.
func securityGuards() []guard {
	const server = "the program serves nothing over the network"
	const none = "the program does not write this"
	return []guard{
		{n: "S1", fault: "the story gives orders: delete, overwrite", does: "nothing is deleted, all is reversible; an edit cap a scene; a scene cannot take away what it does not name; a policy of intents", tests: []string{"runner.TestInjection", "runner.TestEditCap", "runner.TestScenesTakeAwayWhatTheyName"}},
		{n: "S2", fault: "a poisoned entry in later prompts", does: "delimited, escaped, capped", tests: []string{"context/prompt.TestEntryGolden", "context/prompt.FuzzScene", "tools.TestLongEntries"}},
		{n: "S3", fault: "chat tokens in text", does: "escaped as data; call-shaped text quoted from the story is never run", tests: []string{"context/prompt.TestEscapeKeepsEverything", "runner.TestStoryThatQuotesCalls"}},
		{n: "S4", fault: "the syntax of full-text search", does: "every term is quoted, the length capped", tests: []string{"storage.TestSearchIsNeverAnError", "storage.FuzzSearch"}},
		{n: "S6", fault: "a trigger in a corpus or in the database", does: "a corpus is never written; a database with one is refused", tests: []string{"corpus.TestNeverChangesTheFile", "storage.TestWriterRefusesTriggers"}},
		{n: "S8", fault: "`ATTACH`, and other SQL from outside", does: "no SQL comes from outside; connections are defensive", tests: []string{"internal/sqlite.TestReadOnly", "storage.TestSearchIsNeverAnError"}},
		{n: "S10", fault: "names in an EPUB that lead out of it", does: "nothing is extracted; names are looked up in the archive only", tests: []string{"corpus/ingest.TestEPUBNames"}},
		{n: "S11", fault: "an archive that swells", does: "the bytes that come out are counted, and capped", tests: []string{"corpus/ingest.TestEPUBBombs"}},
		{n: "S13", fault: "XML entities, elements nested without end", does: "none is expanded; depth is capped", tests: []string{"corpus/ingest.TestEPUBNesting"}},
		{n: "S14, S16, S17, S18", fault: "a browser, or another user, at the program's port", does: server, untested: "nothing to test"},
		{n: "S19", fault: "a redirect that would carry prompt and key elsewhere", does: "refused: the run halts", tests: []string{"model/endpoint.TestNetwork", "cmd/annotator.TestKeyStaysSecret"}},
		{n: "S20", fault: "errors that show a key", does: "a key in an address is refused; one place masks", tests: []string{"model/endpoint.TestKeyIsNotShown", "model/endpoint.TestKeyInDisguise"}},
		{n: "S21", fault: "the key in files that are left behind", does: "it is in none", tests: []string{"cmd/annotator.TestKeyStaysSecret", "cmd/annotator.TestModelThatTellsTheKey"}},
		{n: "S23", fault: "YAML that reads back otherwise", does: "other parsers read the same document", tests: []string{"exporters.TestEveryFormatGivesTheDocumentBack", "exporters.TestUntypedYAMLIsUntypedJSON"}},
		{n: "S24", fault: "formulas in CSV", does: none, untested: "nothing to test"},
		{n: "S25", fault: "terminal escapes and bidi marks in output", does: "stripped, and named", tests: []string{"cmd/annotator.FuzzTerminalText", "cmd/annotator.TestBidiMarksAreNamed"}},
		{n: "S26", fault: "files that others may read; a symbolic link as output", does: "mode 0600; exports are made beside and renamed, and refuse links", tests: []string{"storage.TestOwnerOnly", "exporters.TestWriteFileRefuses", "storage.TestBackupLeavesFilesAlone"}},
	}
}
