package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"

	"annotator"
)

// adviceFor holds advice to users, by the reason of an error, else by its kind. No other package names a command or a
// flag. %s is an argument of the error, %q the same quoted for a shell.
var adviceFor = map[annotator.Reason]string{
	annotator.ReasonOtherPath: "wait for that to end, and open the database by one path only: in a container, " +
		"mount its folder and not the file alone",
	annotator.ReasonLinked: "remove the other names, or copy it with `annotator backup --db %q COPY` and " +
		"use the copy",
	annotator.ReasonNoLocks: "put the database on a disk of this machine, and copy it with `annotator backup`",
	annotator.ReasonTakenOver: "see that one process at a time writes to it and that nothing removes its lock file; " +
		"check it with `annotator verify`, then run again",
	annotator.ReasonTornCopy: "copy the original again, with `annotator backup`: it copies a database as it " +
		"is at one moment, also during a run",
	annotator.ReasonLogMissing: "put the log back beside the file, as %[1]q-wal; if it is lost, `annotator " +
		"backup --db %[1]q COPY` saves what the file itself has, and a run continues with --db COPY",
	annotator.ReasonEmptyDatabase: "put the database back in its place, or remove %[1]q to have a run begin anew there",

	annotator.ReasonTokenBound: "run again with a higher --max-tokens-total, or without it, to go on",
	annotator.ReasonCostBound:  "run again with a higher --max-cost, or without it, to go on",
	annotator.ReasonTimeBound:  "run again with a later --until, or without it, to go on",

	annotator.Reason(annotator.InUse): "wait for it to end, or choose another database with --db",
	annotator.Reason(annotator.NoCalls): "`annotator doctor` tests the model's calls; `annotator doctor --explain` " +
		"prints how servers are started so that they read them",
	annotator.Reason(annotator.Quarantined): "`annotator status` names them and says why",

	annotator.ReasonNotACorpus: "a corpus has the tables %s; `annotator import` makes one from a book or " +
		"an archive",
	annotator.ReasonNoCorpusNamed: "name the file to make with --corpus",
	annotator.ReasonCorpusTaken:   "name another file with --corpus",
	annotator.ReasonOtherStory: "put the former story back, or give the new one another name; `annotator import` " +
		"with --reimport replaces the corpus, and the run of it needs a new --db, too",
	annotator.ReasonOtherImport: "name another file with --corpus, or replace it with `annotator import` and " +
		"--reimport",
	annotator.ReasonUnknownEncoding: "say which with --encoding, as in --encoding windows-1252",
	annotator.ReasonAmbiguousEncoding: "%s is in another encoding, and several may be meant: say which with " +
		"--encoding, as in --encoding windows-1252; its first line would be %s",
	annotator.ReasonWrongFormat:  "name another --format, or leave it out",
	annotator.ReasonConvertible:  "import it with --convert %s where that is installed, or %s",
	annotator.ReasonMarkup:       "%s; --format text reads it as it is",
	annotator.ReasonMixedFormats: "import them into corpora of their own, or name the format of all with --format",
	annotator.ReasonLeftOut:      "all of it was left out, as %[1]s the most (%[2]s); --keep %[1]s takes that in",
	annotator.ReasonEmptySource:  "the source is empty, or name its format with --format",
	annotator.ReasonNothingFound: "%s; if this is not what it is, name its format with --format",
	annotator.ReasonUnsureAuthor: "name the author of the story with --story-author",

	annotator.ReasonUnreachable: "start the server, or give another address with --endpoint",
	annotator.ReasonNeverReached: "start the server, give another address with --endpoint, or have it waited " +
		"for longer with --patience",
	annotator.ReasonWrongAddress: wrongAddress,
	annotator.ReasonNotAnAPI:     "see what is at that address in place of a model server, or " + wrongAddress,
	annotator.ReasonForbidden: "see what is before the server and forbids requests, a firewall or a proxy, " +
		"and whether it wants another ANNOTATOR_API_KEY",
	annotator.ReasonKeyRefused: "set ANNOTATOR_API_KEY to a key that the endpoint accepts",
	annotator.ReasonKeyInvalid: "set ANNOTATOR_API_KEY to the key alone",
	annotator.ReasonSecretInAddress: "leave out everything like user:password@ and ?api_key=, and set " +
		"ANNOTATOR_API_KEY instead",
	annotator.ReasonRedirected: "redirects are not followed: give the address itself with --endpoint, if " +
		"you trust it",
	annotator.ReasonNoModel:      "name a model with --model",
	annotator.ReasonUnknownModel: "give a model that the endpoint serves with --model; `annotator doctor` lists them",
	annotator.ReasonUnknownPath: "check the endpoint's address and the model's name; `annotator doctor` lists " +
		"what it serves",
	annotator.ReasonNoModelList:    wrongAddress + ", or name the model with --model",
	annotator.ReasonWrongModelList: "check the endpoint's address and --wire",
	annotator.ReasonOtherModel: "have the server load the model that is asked for; --strict-model decides " +
		"whether a run halts for another",
	annotator.ReasonNoCredit: "the account has no credit left: top it up, or give another endpoint with " +
		"--endpoint",
	annotator.ReasonAccount: "the endpoint does not serve this account: enable its API and billing, or give another " +
		"endpoint with --endpoint",
	annotator.ReasonUnknownSetting: "the model does not take this setting: change it, or give another model " +
		"with --model",
	annotator.ReasonNoTools: "take a model that calls tools, or start the server with what they need: `annotator " +
		"doctor` says what that is",
	annotator.ReasonCallsInText: "`annotator doctor` says how to have the server read them",
	annotator.ReasonPromptCut: "give the server a longer context (OLLAMA_CONTEXT_LENGTH or num_ctx, -c, " +
		"--max-model-len), or lower --context-budget to what it has; where it only counts otherwise, agree with " +
		"--accept counts",
	annotator.ReasonReplyCut: "raise --max-tokens, or have the model think less",
	annotator.ReasonNoToken: "see what keeps the server busy, or give it longer with --first-token-timeout or " +
		"--token-timeout",
	annotator.ReasonSlow:           "see whether the server is busy, and give it longer with --timeout",
	annotator.ReasonOverloaded:     "see what keeps the server busy, or wait longer for it with --patience",
	annotator.ReasonNoStream:       "run with --stream=false",
	annotator.ReasonContextUnknown: "lower --context-budget if the model takes fewer",
	annotator.ReasonContextTooSmall: "raise --context-budget, and the server's own context where that is " +
		"less, or lower --max-tokens",
	annotator.ReasonSceneTooLong: "raise --context-budget or lower --max-tokens",
	annotator.ReasonServerUnfit:  "%s: `annotator doctor` says how",
	annotator.ReasonCallsRefused: "`annotator audit` lists them, `annotator doctor` tests the model's calls",
	annotator.ReasonNoEntries:    "`annotator audit` lists the model's tool calls, `annotator doctor` tests them",

	annotator.ReasonNoRecording: "name another file with --record; if the disk is full, free space on it, then run " +
		"again to resume",
	annotator.ReasonNotRecorded: "run again without --replay, with the recorded run's --endpoint, to have the server " +
		"answer from here on, and with --record to add that to the recording; or replay with the settings of the " +
		"recorded run",
	annotator.ReasonReplayDiffers: "replay with the settings and the prompt of the recorded run, or leave out " +
		"--replay-strict; then run again to resume",
	annotator.ReasonScenesFail: "see whether server, model and context are as they should be, then run again " +
		"to go on, or `annotator retry` to have these scenes read again",
	annotator.ReasonCuratorFails: "see whether the server is well and answers requests as long as these in " +
		"time, then run again to go on, with --no-curator to read on without",
	annotator.ReasonModelChanged: "name the server of %s with --endpoint, agree with --accept model, or start a new " +
		"database with --no-resume",
	annotator.ReasonRunIsOffline: "leave --endpoint out, agree with --accept model, or start a new database with " +
		"--no-resume",
	annotator.ReasonPromptChanged:  "agree with --accept prompt, or start a new database with --no-resume",
	annotator.ReasonUnfinishedBook: "read it with `annotator run` first, then begin the next one",
	annotator.ReasonOtherSeed: "leave --seed out to resume, or start a new database with --no-resume; entries are " +
		"added to a run that has begun with `annotator create` or `annotator import-edits`",
	annotator.ReasonStoryChanged: "put the corpus back and run again, or start a new database with --no-resume",
	annotator.ReasonNoPrompts:    "`annotator prompts init %q` makes one",
	annotator.ReasonInvalidPrompt: "the file is a template; `annotator prompts init` writes the default into " +
		"another folder",
	annotator.ReasonEmptyPolicy:     "`annotator tools --policy` prints the default policy",
	annotator.ReasonNoPublishedBook: "name the EPUB that the story was imported from with --book",
	annotator.ReasonNoExportFormat:  "name one with --format: %s",

	annotator.ReasonDatabaseDamaged: "check the database with `annotator verify`",
	annotator.ReasonNetworkDisk:     "put the database on a disk of this machine, and copy it with `annotator backup`",
	annotator.ReasonForeignDatabase: "name another file with --db",
	annotator.ReasonForeignSchema:   "go back to a backup, or drop it and see what `annotator verify` says",
	annotator.ReasonUnreleased: "move it away and start anew: `annotator run SOURCE` reads the corpus that is " +
		"beside it again",
	annotator.ReasonFormerSchema: "`annotator run SOURCE --db %[1]q` brings it up to date, and so does `annotator " +
		"verify --repair --db %[1]q`",
	annotator.ReasonFormerReadOnly: "copy it to a folder that can be written, and bring the copy up to date with " +
		"`annotator verify --repair --db COPY`",
	annotator.ReasonNoRun:           "fill it with `annotator run SOURCE --db %q`",
	annotator.ReasonCannotCreate:    "choose another place with --db",
	annotator.ReasonCannotLock:      "check that its folder can be written, or choose another database with --db",
	annotator.ReasonRescued:         "all that was recorded is in %[1]s: run again with --db %[1]q",
	annotator.ReasonUnknownThread:   "`annotator snapshot list --limit 0` names the threads that have been read",
	annotator.ReasonUnknownChapter:  "`annotator import SOURCE --list` lists the chapters of a source",
	annotator.ReasonUnknownScene:    "`annotator status` shows how many scenes it has",
	annotator.ReasonUnreadScene:     "`annotator status` shows how far the run has come",
	annotator.ReasonUnknownTurn:     "`annotator memory raw --list` lists them",
	annotator.ReasonNoBranch:        "branch from one of the type %s; `annotator snapshot list --type` lists them",
	annotator.ReasonUnknownSnapshot: "`annotator snapshot list` names those there are",
	annotator.ReasonNotQuarantined:  "`annotator status` names the quarantined scenes",
	annotator.ReasonCheckpointIsDue: "`annotator run` makes it; then try again",
}

const wrongAddress = "give the base URL with its /v1, as in http://localhost:8000/v1, and the API that it speaks " +
	"with --wire"

// advise adds the advice for the outermost reason or kind that has some. An error that has advice keeps it.
func advise(err error) error {
	for e, rest := (*annotator.Error)(nil), err; errors.As(rest, &e); rest = e.Err {
		if e.Advice != "" {
			return err
		}
		text := advice(cmp.Or(e.Reason, annotator.Reason(e.Kind)), e.Args)
		if text == "" {
			continue
		}
		if annotator.KindOf(err) == annotator.Halted && !strings.Contains(text, "run again") {
			text += ", then run again to resume"
		}
		if top, ok := err.(*annotator.Error); ok { //nolint:errorlint // the outermost gets the advice
			return top.WithAdvice("%s", text)
		}
		return annotator.Errorf(kindOf(err), "%w", err).WithAdvice("%s", text)
	}
	return err
}

// advice returns the advice for a reason; "" where there is none.
func advice(reason annotator.Reason, values []any) string {
	format, known := adviceFor[reason]
	if !known {
		return ""
	}
	words := make([]any, len(values))
	for i, value := range values {
		words[i] = adviceValue(fmt.Sprint(value))
	}
	return fmt.Sprintf(format, words...)
}

// adviceValue is a value in advice: %q quotes it for a shell.
type adviceValue string

// Format implements fmt.Formatter.
func (v adviceValue) Format(s fmt.State, verb rune) {
	text := string(v)
	if verb == 'q' {
		text = quoted(text)
	}
	_, _ = io.WriteString(s, text)
}
