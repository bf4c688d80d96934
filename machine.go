package annotator

// State is a state of a run's state machine. States are stored: their text is part of the database's schema.
type State string

// The states.
const (
	StateInit       State = "INIT"       // open the databases, read the journal, find where to resume
	StateIdle       State = "IDLE"       // choose the next scene, or the open one
	StateNoMore     State = "NO_MORE"    // no scene is left
	StateCompacting State = "COMPACTING" // check that the scene fits the window, compact it if not
	StatePreparing  State = "PREPARING"  // write the scene's message into the journal
	StateCalling    State = "CALLING"    // send the request to the model
	StateRetrying   State = "RETRYING"   // wait after a transient failure
	StateHalting    State = "HALTING"    // stop after a lasting failure, resumably
	StateProcessing State = "PROCESSING" // separate tool calls from text
	StateToolExec   State = "TOOL_EXEC"  // run the reply's tool calls
	StateParsing    State = "PARSING"    // read codex updates out of a text reply
	StateRecording  State = "RECORDING"  // record the scene, or quarantine it with a reason
	StateBoundary   State = "BOUNDARY"   // check whether the scene ends its thread
	StateCurating   State = "CURATING"   // the curator reviews entries at a thread's end
	StateCheckpoint State = "CHECKPOINT" // write a snapshot, report progress, checkpoint the write-ahead log
	StateExit       State = "EXIT"       // the end
)

// Event is the result of a state's handler. It never names a state: only Transitions determines the next one.
type Event string

// The events.
const (
	EventStarted      Event = "started"        // the run is ready
	EventSceneFound   Event = "scene found"    // a scene to read, or to continue preparing
	EventReplyFound   Event = "reply found"    // resume: the open scene's last reply is not processed yet
	EventSceneDone    Event = "scene done"     // resume: the scene is recorded, but its checkpoint is missing
	EventExhausted    Event = "exhausted"      // no scene is left
	EventStopped      Event = "stopped"        // a signal or a limit ends the run between scenes
	EventFits         Event = "fits"           // the scene fits the window
	EventPrepared     Event = "prepared"       // the scene's message is in the journal
	EventNothingToAsk Event = "nothing to ask" // the scene has no text
	EventReplied      Event = "replied"        // a reply is in the journal
	EventOverflow     Event = "overflow"       // the prompt is too long, by estimate or by the server's answer
	EventTransient    Event = "transient"      // a failure that may be transient
	EventRetry        Event = "retry"          // the wait is over
	EventToolCalls    Event = "tool calls"     // the reply contains tool calls
	EventText         Event = "text"           // the reply is text
	EventReask        Event = "re-ask"         // a correction is in the journal
	EventToolsDone    Event = "tools done"     // every call has its result
	EventSceneEnds    Event = "scene ends"     // every call has its result, and no further request is needed
	EventParsed       Event = "parsed"         // the text's updates are applied
	EventRefused      Event = "refused"        // the scene cannot be annotated
	EventRecorded     Event = "recorded"       // the scene's outcome is in the database
	EventThreadEnds   Event = "thread ends"    // it was the thread's last scene
	// it ends a dozen scenes of a long thread, or a part that is about to leave the window, which shows nothing else
	EventPartEnds        Event = "part ends"
	EventThreadContinues Event = "thread goes on"
	EventCurated         Event = "curated"
	EventCheckpointed    Event = "checkpointed"
	EventFailed          Event = "failed" // the run cannot continue in this process
	EventEnd             Event = "end"    // the run is over
)

// Transition is one row of the state machine.
type Transition struct {
	State State
	Event Event
	Next  State
}

// Transitions is the whole state machine. A pair of state and event that is not listed is illegal.
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
	{StateToolExec, EventSceneEnds, StateRecording},
	{StateToolExec, EventFailed, StateHalting},

	{StateParsing, EventParsed, StateRecording},
	{StateParsing, EventReask, StateCalling},
	{StateParsing, EventRefused, StateRecording},
	{StateParsing, EventFailed, StateHalting},

	{StateRecording, EventRecorded, StateBoundary},
	{StateRecording, EventFailed, StateHalting},

	{StateBoundary, EventThreadEnds, StateCurating},
	{StateBoundary, EventPartEnds, StateCurating},
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

// Next returns the next state, or false if the table has no such row.
func Next(state State, event Event) (State, bool) {
	for i := range Transitions {
		if t := &Transitions[i]; t.State == state && t.Event == event {
			return t.Next, true
		}
	}
	return "", false
}
