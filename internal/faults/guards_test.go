package faults_test

// guard is a row of the catalogue whose tests are in other packages.
type guard struct {
	n        string // in the catalogue
	fault    string
	does     string
	tests    []string // folder.Test
	untested string   // why it, or a part of it, has no test
}

// systemGuards are the faults of the database and the operating system.
func systemGuards() []guard {
	const failing = "internal/faults.TestFailingSystemHaltsTheRun"
	return []guard{
		{n: "80", fault: "the disk is full", does: "halts with the reason; the database stays intact and " +
			"the next run continues. Commands that read still do", tests: []string{
			failing,
			"internal/sqlite.TestWrapAdvises", "cmd/annotator.TestFullDisk",
		}},
		{
			n: "81", fault: "the quota is exhausted; the file system has become read-only", does: "the same",
			tests: []string{failing},
		},
		{
			n: "82", fault: "`fsync` fails, although the commit may be in the file",
			does: "halts; the next run reads the actual state", tests: []string{failing},
		},
		{
			n: "83", fault: "killed at any moment, including the creation of the file",
			does: "the resumed run equals the uninterrupted one", tests: []string{
				"runner.TestKilledAtEveryTransition",
				"runner.TestKilledAtRandomMoments", "storage.TestKilledWhileMaking", "storage.TestKilledWhileSwitching",
				"storage.TestKilledWhileWritingBack",
			},
		},
		{
			n: "85", fault: "two runs on one database", does: "the second is refused with the name of the first",
			tests: []string{"storage.TestOneWriter", "storage.TestCloseReleasesTheLock"},
		},
		{n: "85", fault: "two runs on one file by two paths: a hard link, a mount of the file alone, a lock " +
			"file that was removed", does: "the file itself is locked; the second run is refused. A file " +
			"with several names is refused on every system", tests: []string{
			"storage.TestOneWriterByEveryPath",
			"internal/faults.TestMountedFileIsLocked",
		}, untested: "on Linux, which alone mounts single files:"},
		{
			n: "85", fault: "locks without effect: another process writes to the database",
			does:  "the run halts before its next commit, and names the other",
			tests: []string{"storage.TestAnotherWriterIsNoticed"},
		},
		{
			n: "86", fault: "the database is locked; a read transaction becomes a write",
			does: "waits ten seconds; transactions are immediate",
			tests: []string{
				"internal/sqlite.TestTransactionsAreImmediate", "internal/sqlite.TestSettingsHoldForEachConnection",
			},
		},
		{
			n: "88", fault: "readers that overlap, or a long one, make the write-ahead log grow",
			does: "from 40 MiB on the run waits for them, which disturbs none, and the log begins anew: with fifty " +
				"readers it stays below 64 MiB. After five seconds it says so; after ten minutes it goes on, as a " +
				"reader that was stopped may never end, and the log is short again once that has ended",
			tests: []string{
				"storage.TestLogBesideReaders", "storage.TestReaderThatNeverEnds",
				"storage.TestCheckpointWAL",
			},
		},
		{
			n: "89", fault: "a read-only location", does: "refused with advice; no byte changes",
			tests:    []string{"internal/faults.TestReadOnlyMount", "storage.TestReadOnlyPlaces"},
			untested: "as root, and as another user:",
		},
		{
			n: "90", fault: "a corrupt or truncated file", does: "refused with a pointer to backups; no byte changes",
			tests: []string{"storage.TestRefusesWhatIsNotOurs"},
		},
		{
			n: "91", fault: "a flipped bit that SQLite's own check does not detect",
			does:  "the journal is chained by hashes; `verify` finds it",
			tests: []string{"storage.TestVerifyFindsBitRot"},
		},
		{
			n: "92", fault: "the full-text index differs from its table",
			does: "`verify` finds it, `--repair` rebuilds it", tests: []string{
				"storage.TestVerifyFindsDamage",
				"storage.TestRebuildIndex",
			},
		},
		{
			n: "94", fault: "a process opens and closes its own database file, which drops its locks",
			does:  "only SQLite opens the files; it also makes backups",
			tests: []string{"internal/faults.TestLocksAreKept", "storage.TestBackupBesideAWriter"},
		},
		{
			n: "95", fault: "a path with characters that are special in a URI",
			does: "one function builds the name; the database is in the file of exactly that name",
			tests: []string{
				"internal/sqlite.TestSpecialCharactersInAPathAreTheFilesName", "internal/sqlite.TestAnyPathIsFound",
				"internal/sqlite.TestReadOnlyConnectionCannotWrite",
			},
		},
		{
			n: "96", fault: "a mistyped path", does: "creates nothing",
			tests: []string{"internal/sqlite.TestNothingIsMade", "storage.TestOpenMakesNothing"},
		},
		{
			n: "97", fault: "a network file system, or one that a program serves (FUSE, 9p)",
			does: "refused for writing; leaves no file", tests: []string{
				"internal/faults.TestNetworkIsRefused",
				"internal/sqlite.TestNetworkName",
			}, untested: "with a simulated answer of the kernel, " +
				"without a mount:",
		},
		{
			n: "97", fault: "a file system without locks", does: "refused with advice",
			tests: []string{
				"internal/faults.TestSystemWithoutLocks", "internal/sqlite.TestWithoutLocksTheFileIsNotOpened",
			},
		},
		{n: "98", fault: "the power fails", does: "every commit is fully synced before the run relies on " +
			"it; the next run continues from it. A reported import, copy, branch or export survives, and " +
			"none is ever visible half done", tests: []string{
			"internal/faults.TestPowerFails",
			"internal/sqlite.TestSettingsHoldForEachConnection",
		}},
		{n: "100", fault: "a migration is interrupted", does: "each step is one transaction that checks the " +
			"version again", tests: []string{"storage.TestMigrationCutOff", "storage.TestMigrationKeepsTheRun"}},
		{
			n: "101", fault: "a database of a newer version", does: "refused",
			tests: []string{"storage.TestRefusesWhatIsNotOurs"},
		},
		{
			n: "102", fault: "a transaction whose context is cancelled",
			does:  "commits use a context that cannot be cancelled",
			tests: []string{"storage.TestCommitsWhenCancelled"},
		},
		{n: "103", fault: "no file descriptors are left", does: "halts and names the limit", tests: []string{failing}},
		{n: "103", fault: "the system clock is set back or forward", does: "nothing is ordered by it; waits use the " +
			"monotonic clock", tests: []string{"internal/faults.TestClockIsSet"}},
		{
			n: "104", fault: "the corpus is edited during a run",
			does: "each scene has a hash; the run names the changed " +
				"scene and does nothing", tests: []string{
				"internal/faults.TestCorpusIsTakenAway",
				"runner.TestChangesAreNoticed", "storage.TestCompareStory",
			},
		},
		{
			n: "105", fault: "the database, its log, or the log's index is deleted, moved or replaced during a run",
			does: "halts before the next transaction and copies all recorded data to a separate file, from which the " +
				"next run continues; where the folder is gone, to the nearest one above it, and the error names the " +
				"file; the remaining log does not damage a replacement",
			tests: []string{"internal/faults.TestDatabaseIsTakenAway", "storage.TestRescuedFromAFolderThatIsGone"},
		},
		{
			n: "105", fault: "a database that is shown in a browser or to agents is deleted, moved or replaced",
			does:  "every page, the live page and every request of an agent say so, and show nothing else",
			tests: []string{"web.TestReplacedDatabaseIsNotShown", "cmd/annotator.TestServe"},
		},
		{
			n: "105", fault: "the file and its log are copied one after the other during a run",
			does:  "refused for reading and for writing, or whole: file and log carry a number that must be the same",
			tests: []string{"storage.TestTornCopies"},
		},
		{
			n: "105", fault: "the file is moved or copied without its log",
			does: "`verify` says so, and a run is refused; `backup` saves what the file has. The log is written back " +
				"when a run has begun, and then every ten seconds at the end of a scene",
			tests: []string{"storage.TestFileWithoutItsLog", "storage.TestClosedFileIsAlone"},
		},
		{
			n: "105", fault: "an empty file in the place of the database",
			does: "refused: no run begins there unless it is removed", tests: []string{"storage.TestEmptyDatabases"},
		},
		{
			n: "105", fault: "a backup is killed", does: "leaves no file at its target",
			tests: []string{
				"internal/atomicfile.TestNewTargetsAreWhole",
				"internal/atomicfile.TestNewTargetsAreNew",
			},
			untested: "on Linux; elsewhere the name is looked for first:",
		},
		{
			n: "105", fault: "the log or the events are to be written to a database, its log or its lock, there " +
				"or not yet", does: "refused before anything begins",
			tests: []string{"cmd/annotator.TestLogsAreNotWrittenToDatabases"},
		},
		{
			n: "105", fault: "memory ends, the program fails where it cannot report it, SIGQUIT, SIGABRT",
			does:  "ends with 134 and not with 2, which is wrong use; leaves no file with its memory",
			tests: []string{"cmd/annotator.TestFatalErrorsAbort"}, untested: "on Windows, and before the program has " +
				"begun, where it ends with 2:",
		},
		{
			n: "105", fault: "the source is imported again, and the run cannot go on with it",
			does:  "compared before the corpus is replaced; the old one stays",
			tests: []string{"cmd/annotator.TestScripts"},
		},
		{
			n: "106", fault: "no temporary directory: only the folder is writable", does: "needs none",
			tests: []string{"internal/faults.TestOnlyTheFolderIsWritten"}, untested: "as root:",
		},
	}
}

// securityGuards are the deliberate attacks.
func securityGuards() []guard {
	const server = "the program serves nothing over the network"
	return []guard{
		{
			n: "S1", fault: "the story contains orders: delete, overwrite",
			does: "nothing is deleted and every edit is reversible; an edit cap per scene; no destructive edits of " +
				"entries that the scene does not name; a policy of intents", tests: []string{
				"runner.TestInjection",
				"runner.TestEditCap", "runner.TestScenesTakeAwayWhatTheyName",
			},
		},
		{
			n: "S2", fault: "a poisoned entry in later prompts", does: "delimited, escaped, capped",
			tests: []string{"context/prompt.TestEntryGolden", "context/prompt.FuzzScene", "tools.TestLongEntries"},
		},
		{
			n: "S3", fault: "chat tokens in text", does: "escaped as data; calls quoted from the story never run",
			tests: []string{"context/prompt.TestEscapeKeepsEverything", "runner.TestStoryThatQuotesCalls"},
		},
		{
			n: "S4", fault: "full-text search syntax in a query", does: "every term is quoted, the length capped",
			tests: []string{"storage.TestSearchIsNeverAnError", "storage.FuzzSearch"},
		},
		{
			n: "S6", fault: "a trigger in a corpus or in the database",
			does: "a corpus is never written; a database with " +
				"one is refused", tests: []string{
				"corpus.TestNeverChangesTheFile",
				"storage.TestWriterRefusesTriggers",
			},
		},
		{
			n: "S8", fault: "`ATTACH`, and other SQL from outside",
			does:  "no SQL comes from outside; connections are defensive",
			tests: []string{"internal/sqlite.TestReadOnlyConnectionCannotWrite", "storage.TestSearchIsNeverAnError"},
		},
		{
			n: "S10", fault: "paths in an EPUB that point outside it",
			does: "nothing is extracted; names are looked up in " +
				"the archive only", tests: []string{"corpus/ingest.TestEPUBNames"},
		},
		{
			n: "S11", fault: "a decompression bomb", does: "decompressed bytes are counted and limited",
			tests: []string{"corpus/ingest.TestEPUBBombs"},
		},
		{
			n: "S11", fault: "an EPUB of a few kilobytes whose reading order names a file a hundred thousand times",
			does: "each file is read once, the others are counted in the report; more names than an archive may have " +
				"files are refused", tests: []string{"corpus/ingest.TestEPUBRepeats"},
		},
		{
			n: "S11", fault: "Markdown of nothing but marks, of which a tree would be made",
			does:  "marks are counted first; more than 524,288 are refused",
			tests: []string{"corpus/ingest.TestMarkdownOfMarks"},
		},
		{
			n: "S11", fault: "a post of many megabytes of markup",
			does: "a scene of more than 4 MiB is refused with its " +
				"size before it is rendered; the others are read", tests: []string{"runner.TestHugePost"},
		},
		{
			n: "S12", fault: "a call of twenty thousand facts", does: "the first 256 of a call's facts, closings " +
				"and names are taken, and the others named as not taken; facts are compared by an index",
			tests: []string{"tools.TestManyParts", "codex.TestFactIndex"},
		},
		{
			n: "S13", fault: "XML entities, endlessly nested elements",
			does: "entities are not expanded; depth is limited", tests: []string{"corpus/ingest.TestEPUBNesting"},
		},
		{
			n: "S14, S16, S17, S18", fault: "a browser, or another user, at the program's port", does: server,
			untested: "nothing to test",
		},
		{
			n: "S19", fault: "a redirect that would carry prompt and key elsewhere", does: "refused: the run halts",
			tests: []string{"model/endpoint.TestConnectionFailuresAreTransient", "cmd/annotator.TestKeyStaysSecret"},
		},
		{n: "S20", fault: "errors that show a key", does: "a key in an address is refused; keys are masked " +
			"in one place", tests: []string{"model/endpoint.TestKeyIsNotShown", "model/endpoint.TestEscapedKey"}},
		{
			n: "S21", fault: "the key in files that a run leaves", does: "no file contains it",
			tests: []string{"cmd/annotator.TestKeyStaysSecret", "cmd/annotator.TestModelThatRepeatsTheKey"},
		},
		{
			n: "S23", fault: "YAML that other parsers read differently", does: "other parsers read the same document",
			tests: []string{"exporters.TestEveryFormatGivesTheDocumentBack", "exporters.TestUntypedYAMLIsUntypedJSON"},
		},
		{n: "S24", fault: "formulas in CSV", does: "an apostrophe before what a spreadsheet would run, at " +
			"every place where it may begin a cell", tests: []string{
			"exporters.TestTablesGiveTheTextsBack",
			"exporters.TestFormulasOfEveryKindAreText",
		}},
		{
			n: "S25", fault: "terminal escapes and bidi marks in output", does: "removed and reported",
			tests: []string{"cmd/annotator.FuzzTerminalText", "cmd/annotator.TestBidiMarksAreNamed"},
		},
		{
			n: "S26", fault: "files that other users may read; a symbolic link as output",
			does: "databases, backups and corpora have mode 0600, what the user names with -o, --events and the like " +
				"follows the umask; exports are written to a temporary file and renamed, and refuse links",
			tests: []string{
				"storage.TestOwnerOnly", "exporters.TestFilesHaveTheUmask",
				"exporters.TestWriteFileRefuses", "storage.TestBackupLeavesFilesAlone",
			},
		},
	}
}
