package annotator

import "time"

// Call is one attempt to ask a model, as it is recorded before it is made and after it has ended.
type Call struct {
	ID         int64 // set when it is recorded
	Turn       int64 // 0 outside a turn
	Scene      int
	Purpose    CallPurpose
	Attempt    int    // from 1; attempts that are not charged to the request share a number
	Estimate   int    // of the prompt, in tokens
	Characters [4]int // of the prompt, by class: see tokens.Size; all zero where they are not known
	Outcome    CallOutcome
	Decision   CallDecision // what is done about a failure; empty after a success
	Reason     string       // for the decision, in words
	Status     int          // HTTP; 0 where no response came
	Fault      string       // what went wrong, in words
	Model      string       // as the server reports it
	Finish     string       // why the reply ended, as the server reports it
	Usage      Usage
	Raw        []byte        // the response, where its reply could not be used or was changed
	FirstByte  time.Duration // from the request to the response's first byte
	Duration   time.Duration // from the request to the response's end
}

// Discard records that the reply of a call is not usable for what was asked: why, and the reply, which is kept.
func (c *Call) Discard(reason string, reply []byte) {
	c.Outcome, c.Fault, c.Raw = CallOutcome(Malformed), reason, reply
	c.Decision, c.Reason = DecisionDiscarded, "not used"
}

// CallPurpose is what a call is for.
type CallPurpose string

// The purposes of calls.
const (
	PurposeAnnotate  CallPurpose = "annotate"
	PurposeSummarise CallPurpose = "summarise"
	PurposeCurate    CallPurpose = "curate"
	PurposeAsk       CallPurpose = "ask"   // a question to a snapshot
	PurposeCheck     CallPurpose = "check" // does a new chapter go together with the codex?
	PurposeProbe     CallPurpose = "probe" // does the server answer? Not part of the run's totals
)

// CallOutcome is how a call ended: one of these, or the Kind of the fault.
type CallOutcome string

// The outcomes that are no fault.
const (
	CallOpen CallOutcome = "open" // it has not ended
	CallOK   CallOutcome = "ok"
	CallLost CallOutcome = "lost" // the process ended first
)

// CallDecision is what is done about a call that failed, or about a reply that cannot be used.
type CallDecision string

// The decisions.
const (
	DecisionRetry       CallDecision = "retry"        // send the same request again after a delay, as the next attempt
	DecisionWait        CallDecision = "wait"         // send the same request again after a delay, as the same attempt
	DecisionShrink      CallDecision = "shrink"       // make the prompt smaller, then send it as the next attempt
	DecisionShrinkReply CallDecision = "shrink reply" // ask for fewer tokens in reply; the prompt fits
	DecisionGrowReply   CallDecision = "grow reply"   // allow more tokens in reply, as the next attempt
	// the client has learned what the server wants: send it again, as the same attempt
	DecisionAdapt       CallDecision = "adapt"
	DecisionQuarantine  CallDecision = "quarantine"  // give the request up
	DecisionHalt        CallDecision = "halt"        // stop the run, resumably
	DecisionInterrupted CallDecision = "interrupted" // the user stopped the run
	DecisionDiscarded   CallDecision = "discarded"   // the reply is well formed, and not usable for what was asked
	DecisionAnswered    CallDecision = "answered"    // a probe's refusal shows that the server answers
)
