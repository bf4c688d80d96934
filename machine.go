package annotator

// State is a state of the machine that walks a story. States are stored: their text is part of the database's schema.
type State string

// The states.
const (
	StateInit       State = "INIT"       // open the databases, read the journal, find where to go on
	StateIdle       State = "IDLE"       // choose the next scene, or the open one
	StateNoMore     State = "NO_MORE"    // the story is told
	StateCompacting State = "COMPACTING" // make room in the window
	StatePreparing  State = "PREPARING"  // write the scene's message into the journal
	StateCalling    State = "CALLING"    // ask the model
	StateRetrying   State = "RETRYING"   // wait after a passing failure
	StateHalting    State = "HALTING"    // a lasting failure: say why, resumably
	StateProcessing State = "PROCESSING" // tell tool calls from text
	StateToolExec   State = "TOOL_EXEC"  // run the reply's tool calls
	StateParsing    State = "PARSING"    // read codex updates out of a text reply
	StateRecording  State = "RECORDING"  // the scene is recorded, or refused with a reason
	StateBoundary   State = "BOUNDARY"   // does the scene end its thread?
	StateCurating   State = "CURATING"   // the curator's fork, at a thread's end
	StateCheckpoint State = "CHECKPOINT" // a snapshot, progress, care of the write-ahead log
	StateExit       State = "EXIT"       // the end
)

// Event is what a state's handler found. It is never a state: only Transitions names the next one.
type Event string

// The events.
const (
	EventStarted         Event = "started"        // all is open
	EventSceneFound      Event = "scene found"    // a scene to read, or to go on preparing
	EventReplyFound      Event = "reply found"    // resume: the open scene's last reply is not worked off
	EventSceneDone       Event = "scene done"     // resume: recorded, but no checkpoint followed
	EventExhausted       Event = "exhausted"      // no scene is left
	EventStopped         Event = "stopped"        // a signal or a limit, between scenes
	EventFits            Event = "fits"           // the window has room for the scene
	EventPrepared        Event = "prepared"       // the scene's message is in the journal
	EventNothingToAsk    Event = "nothing to ask" // the scene has no text
	EventReplied         Event = "replied"        // a reply is in the journal
	EventOverflow        Event = "overflow"       // the window is too full to call, or the server says so
	EventTransient       Event = "transient"      // a failure that may pass
	EventRetry           Event = "retry"          // waited long enough
	EventToolCalls       Event = "tool calls"     // the reply asks for tools
	EventText            Event = "text"           // the reply is text
	EventReask           Event = "re-ask"         // a correction is in the journal
	EventToolsDone       Event = "tools done"     // every call has its result
	EventParsed          Event = "parsed"         // the text's updates are applied
	EventRefused         Event = "refused"        // this scene cannot be annotated
	EventRecorded        Event = "recorded"       // the scene's outcome is in the database
	EventThreadEnds      Event = "thread ends"    // it was the thread's last scene
	EventThreadContinues Event = "thread goes on"
	EventCurated         Event = "curated"
	EventCheckpointed    Event = "checkpointed"
	EventFailed          Event = "failed" // nothing more can be done in this process
	EventEnd             Event = "end"    // the last word is said
)

// Transition is one row of the machine.
type Transition struct {
	State State
	Event Event
	Next  State
}

// Transitions is the whole machine. A pair of state and event that is not in it is illegal.
var Transitions = [...]Transition{
	{StateInit, EventStarted, StateIdle},
	{StateInit, EventFailed, StateHalting},

	{StateIdle, EventSceneFound, StateCompacting},
	{StateIdle, EventReplyFound, StateProcessing},
	{StateIdle, EventSceneDone, StateBoundary},
	{StateIdle, EventExhausted, StateNoMore},
	{StateIdle, EventStopped, StateExit},
	{StateIdle, EventFailed, StateHalting},

	{StateCompacting, EventFits, StatePreparing},
	{StateCompacting, EventRefused, StateRecording},
	{StateCompacting, EventFailed, StateHalting},

	{StatePreparing, EventPrepared, StateCalling},
	{StatePreparing, EventNothingToAsk, StateRecording},
	{StatePreparing, EventFailed, StateHalting},

	{StateCalling, EventReplied, StateProcessing},
	{StateCalling, EventTransient, StateRetrying},
	{StateCalling, EventOverflow, StateCompacting},
	{StateCalling, EventRefused, StateRecording},
	{StateCalling, EventFailed, StateHalting},

	{StateRetrying, EventRetry, StateCalling},
	{StateRetrying, EventFailed, StateHalting},

	{StateProcessing, EventToolCalls, StateToolExec},
	{StateProcessing, EventText, StateParsing},
	{StateProcessing, EventReask, StateCalling},
	{StateProcessing, EventRefused, StateRecording},
	{StateProcessing, EventFailed, StateHalting},

	{StateToolExec, EventToolsDone, StateCalling},
	{StateToolExec, EventFailed, StateHalting},

	{StateParsing, EventParsed, StateRecording},
	{StateParsing, EventReask, StateCalling},
	{StateParsing, EventRefused, StateRecording},
	{StateParsing, EventFailed, StateHalting},

	{StateRecording, EventRecorded, StateBoundary},
	{StateRecording, EventFailed, StateHalting},

	{StateBoundary, EventThreadEnds, StateCurating},
	{StateBoundary, EventThreadContinues, StateCheckpoint},
	{StateBoundary, EventFailed, StateHalting},

	{StateCurating, EventCurated, StateCheckpoint},
	{StateCurating, EventFailed, StateHalting},

	{StateCheckpoint, EventCheckpointed, StateIdle},
	{StateCheckpoint, EventFailed, StateHalting},

	{StateNoMore, EventEnd, StateExit},
	{StateNoMore, EventFailed, StateHalting},

	{StateHalting, EventEnd, StateExit},
}

// Next returns the state that follows, or false where the table has no such row.
func Next(state State, event Event) (State, bool) {
	for i := range Transitions {
		if t := &Transitions[i]; t.State == state && t.Event == event {
			return t.Next, true
		}
	}
	return "", false
}
