package main

import (
	"context"
	"fmt"
	"io"

	"annotator"
	"annotator/batch"
	"annotator/model"
	"annotator/model/replay"
	"annotator/runner"

	"github.com/spf13/pflag"
)

// recordingOptions are the options of a run that is recorded or replayed.
type recordingOptions struct {
	to       string // the file to record to
	path     string // of the recording to replay
	strict   bool
	from     *replay.Recording // that is replayed; nil for none
	replayer *replay.Replayer
	recorder *replay.Recorder // nil: the run is not recorded
}

func (o *recordingOptions) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&o.to, "record", "", "append all requests and replies to a recording, `FILE`")
	flags.StringVar(&o.path, "replay", "", "answer from a recording, `FILE`, which may be compressed with gzip; no "+
		"server is asked")
	flags.BoolVar(&o.strict, "replay-strict", false, "halt at the first request that differs from the recorded one")
}

// openRecording reads the recording that is replayed. The run then has the endpoint of the recorded one, though
// nothing is sent there.
func (o *runOptions) openRecording() (err error) {
	r := &o.recording
	switch {
	case r.path == "" && r.strict:
		return annotator.Errorf(annotator.Misused, "--replay-strict requires --replay").
			WithAdvice("name the recording with it")
	case r.path == "":
		return nil
	case r.to != "":
		return annotator.Errorf(annotator.Misused, "--record and --replay exclude each other").
			WithAdvice("leave out one of them; a recording can be copied as a file")
	case o.flags.Changed("endpoint"):
		return annotator.Errorf(annotator.Misused, "--replay asks no server, and --endpoint names one").
			WithAdvice("leave out one of them")
	}
	if r.from, err = replay.Load(r.path); err != nil {
		return err
	}
	o.Endpoint = r.from.Endpoint
	if o.ContextBudget == 0 {
		o.ContextBudget = r.from.Budget()
	}
	return nil
}

// openWire returns the wire of the run: the endpoint's, with a recorder before it if the run is recorded, or the
// recording that is replayed.
func (o *runOptions) openWire(ctx context.Context, open *closers) (model.Wire, error) {
	r := &o.recording
	if r.from != nil {
		o.progress.say(fmt.Sprintf("replay of %s with %s of %s; no server is asked", r.path,
			annotator.Quantity(r.from.Len(), "request"), r.from.Model()))
		r.replayer = replay.NewReplayer(r.from, r.strict)
		return r.replayer, nil
	}
	wire, err := o.serverWire(ctx)
	if err != nil || r.to == "" {
		return wire, err
	}
	if r.recorder, err = replay.Record(r.to, withoutSecrets(o.Endpoint), wire, o.now); err != nil {
		return nil, err
	}
	open.add(r.recorder.Close)
	return r.recorder, nil
}

// serverWire returns the wire to the server, or that of a story with a place among several.
func (o *runOptions) serverWire(ctx context.Context) (model.Wire, error) {
	o.session = sessionOf(o.databasePath())
	if o.fleet != nil {
		return o.spreadWire()
	}
	wire, err := o.connect(ctx, o.app, o.progress.say)
	if err != nil || len(o.Others) == 0 {
		return wire, err
	}
	o.place = batch.NewAdmission(1, o.endpoints()...).Queue(0, o.session)
	return o.spreadWire()
}

// attach gives the wire what it needs of the run, and the run what it needs of the server.
func (o *runOptions) attach(r *runner.Runner) (err error) {
	if replayer := o.recording.replayer; replayer != nil {
		replayer.Numbers, replayer.Notify = r.Store.Calls, r.Client.Notify
		return nil
	}
	if recorder := o.recording.recorder; recorder != nil {
		recorder.Numbers, recorder.Budget = r.Store.Calls, &r.Client.Capabilities.Budget
	}
	r.Beside, err = o.serverClient()
	return err
}

// printTally prints how far a replayed run followed its recording.
func (o *recordingOptions) printTally(w io.Writer) {
	if o.replayer == nil {
		return
	}
	t := o.replayer.Tally()
	text := fmt.Sprintf("replayed: %s, %d unlike the recorded ones", annotator.Quantity(t.Requests, "request"),
		t.Differ)
	if t.Missing > 0 {
		text += fmt.Sprintf(", %d not recorded and taken as declined", t.Missing)
	}
	fmt.Fprintln(w, wrapLines(text, terminalWidth(w)))
}

// tally returns what was replayed, for JSON; nil where nothing was.
func (o *recordingOptions) tally() *replay.Tally {
	if o.replayer == nil {
		return nil
	}
	t := o.replayer.Tally()
	return &t
}
