// Annotator-fleet reads many stories on many machines. Stories, and what is known of them, are in an object store.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"annotator/fleet/store"
)

const usage = `Read many stories with several machines. Stories are in an object store; one worker at a time has each.

  annotator-fleet store check   --store s3://BUCKET/PREFIX
  annotator-fleet store add     --store s3://BUCKET/PREFIX [--parts N] FILE...
  annotator-fleet store list    --store s3://BUCKET/PREFIX [--json]
  annotator-fleet store get     --store s3://BUCKET/PREFIX STORY FILE
  annotator-fleet store release --store s3://BUCKET/PREFIX STORY
  annotator-fleet worker        --store s3://BUCKET/PREFIX [FLAGS] [-- FLAGS of annotator run]

With Temporal, which says who reads what, and shows it. Without a STORY: all that the store has.

  annotator-fleet submit  --temporal HOST:PORT --store ... [--queue NAME,...] [--parts N] [STORY...]
  annotator-fleet worker  --temporal HOST:PORT --store ... [--queue NAME] [FLAGS] [-- FLAGS of annotator run]
  annotator-fleet status  --temporal HOST:PORT --store ... [--json] [STORY...]
  annotator-fleet drain   --temporal HOST:PORT --store ... [STORY...]
  annotator-fleet resume  --temporal HOST:PORT --store ... [STORY...]
  annotator-fleet cancel  --temporal HOST:PORT --store ... STORY...
  annotator-fleet get     --temporal HOST:PORT --store ... STORY FILE

Credentials, region and endpoint of the store are those of the environment and of the files of AWS clients; namespace,
key and certificates of Temporal those of its clients. annotator-fleet COMMAND --help lists the flags of a command.

Exit status:
  0    done: all stories, or the one of the index, were read to their end
  1    internal error
  2    wrong use or configuration, or the store does not keep the conditions of writes
  3    halted; start again when the cause is fixed
  4    a story has failed: store list has the reasons, and store release begins it again
  75   drained, or the lease was lost: start again`

// The exit statuses.
const (
	exitDone   = 0
	exitMisuse = 2
	exitHalted = 3
	exitFailed = 4
	exitAgain  = 75
)

// Why a worker ends before all is done.
var (
	errMisuse  = errors.New("wrong use")
	errHalted  = errors.New("halted")
	errFailed  = errors.New("a story has failed: store list has the reasons")
	errDrained = errors.New("drained")
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(ctx, os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "annotator-fleet:", err)
	}
	os.Exit(exitStatus(err))
}

// exitStatus maps an error to the exit status. It is the only place that does.
func exitStatus(err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitDone
	case errors.Is(err, errMisuse), errors.Is(err, store.ErrUnfit), errors.Is(err, store.ErrBegun):
		return exitMisuse
	case errors.Is(err, errFailed):
		return exitFailed
	case errors.Is(err, errDrained), errors.Is(err, store.ErrLost):
		return exitAgain
	}
	return exitHalted
}

func misuse(format string, args ...any) error {
	return fmt.Errorf("%w: %s; see annotator-fleet --help", errMisuse, fmt.Sprintf(format, args...))
}

// options are the flags of all commands.
type options struct {
	store    string
	temporal string
	queue    string
	ttl      time.Duration
	json     bool
	index    int
	parts    int
	work     worker
}

func command(ctx context.Context, args []string, out io.Writer) error {
	if len(args) == 0 || args[0] == "--help" || args[0] == "-h" || args[0] == "help" {
		fmt.Fprintln(out, usage)
		return nil
	}
	name, args := args[0], args[1:]
	if name == "store" && len(args) > 0 {
		name, args = "store "+args[0], args[1:]
	}
	var o options
	flags := o.flags(name)
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return err
		}
		return misuse("%v", err)
	}
	rest := flags.Args()
	operands, known := map[string]int{
		"store check": 0, "store add": -1, "store list": 0, "store get": 2, "store release": 1, "worker": -1,
		"submit": -1, "status": -1, "drain": -1, "resume": -1, "cancel": -1, "get": 2,
	}[name]
	switch {
	case !known:
		return misuse("there is no command %q", name)
	case operands >= 0 && len(rest) != operands:
		return misuse("%s takes %d arguments", name, operands)
	case name == "cancel" && len(rest) == 0:
		return misuse("cancel takes stories")
	case o.parts < 0:
		return misuse("--parts must be at least 0")
	case o.ttl < minTTL:
		return misuse("--ttl must be at least %s", minTTL)
	}
	o.store = strings.TrimSuffix(o.store, "/")
	s, err := store.Open(ctx, o.store, o.ttl)
	if err != nil {
		return err
	}
	switch name {
	case "store check":
		fmt.Fprintln(out, "the store keeps the conditions of writes")
		return nil
	case "store add":
		return add(ctx, s, rest, o.parts, out)
	case "store list":
		return list(ctx, s, o.json, out)
	case "store get":
		return get(ctx, s, rest[0], rest[1])
	case "store release":
		return s.Release(ctx, rest[0])
	}
	if name != "worker" {
		return o.order(ctx, s, name, rest, out)
	}
	o.work.store, o.work.flags = s, rest
	err = o.read(ctx)
	if ctx.Err() != nil && exitStatus(err) == exitHalted {
		err = fmt.Errorf("%w: %w", errDrained, err)
	}
	return err
}

// read is the command worker.
func (o *options) read(ctx context.Context) error {
	if o.temporal == "" {
		return o.work.run(ctx, o.index)
	}
	if o.index >= 0 {
		return misuse("--index and --temporal exclude each other")
	}
	c, namespace, err := dial(ctx, o.temporal, o.work.name)
	if err != nil {
		return err
	}
	defer c.Close()
	return o.work.serve(ctx, c, namespace, queueOf(o.store, o.queue))
}

// order runs a command that asks the engine.
func (o *options) order(ctx context.Context, s *store.Store, name string, args []string, out io.Writer) error {
	c, _, err := dial(ctx, o.temporal, "")
	if err != nil {
		return err
	}
	defer c.Close()
	e := &orders{Client: c, store: s, address: o.store, queues: strings.Split(o.queue, ","), parts: o.parts,
		out: out}
	if name != "get" {
		return e.run(ctx, name, args, o.json)
	}
	if err := e.wait(ctx, args[0]); err != nil {
		return err
	}
	return get(ctx, s, args[0], args[1])
}

const minTTL = 3 * time.Second

func (o *options) flags(name string) *flag.FlagSet {
	set := flag.NewFlagSet("annotator-fleet "+name, flag.ContinueOnError)
	set.StringVar(&o.store, "store", os.Getenv("ANNOTATOR_STORE"), "`ADDRESS` of the store, s3://BUCKET/PREFIX; "+
		"also in ANNOTATOR_STORE")
	set.DurationVar(&o.ttl, "ttl", 90*time.Second, "`TIME` after which a worker that says nothing has lost its story")
	if !strings.HasPrefix(name, "store ") {
		set.StringVar(&o.temporal, "temporal", os.Getenv("TEMPORAL_ADDRESS"), "`HOST:PORT` of Temporal; also in "+
			"TEMPORAL_ADDRESS")
	}
	switch name {
	case "store list", "status":
		set.BoolVar(&o.json, "json", false, "print JSON, a line for each story")
	case "store add":
		o.partsFlag(set)
	case "submit":
		o.partsFlag(set)
		set.StringVar(&o.queue, "queue", "", "`NAMES` of queues, to which the stories are dealt in turn")
	case "worker":
		set.StringVar(&o.queue, "queue", "", "with --temporal, `NAME` of the queue whose stories it reads, such as "+
			"that of its endpoint")
		host, _ := os.Hostname()
		set.IntVar(&o.index, "index", givenIndex(), "read the story with this `NUMBER` only, from 0, in the order of "+
			"store list; also in JOB_COMPLETION_INDEX and SLURM_ARRAY_TASK_ID; -1: any story that is free")
		set.StringVar(&o.work.dir, "dir", ".", "`FOLDER` for the databases of stories")
		set.StringVar(&o.work.program, "annotator", "annotator", "`PROGRAM` that reads a story")
		set.StringVar(&o.work.name, "name", host, "`NAME` of this worker, for people")
		set.DurationVar(&o.work.grace, "grace", 5*time.Minute, "`TIME` for the end of a scene after SIGTERM")
		set.DurationVar(&o.work.look, "look", 10*time.Second, "`TIME` from one look at the run to the next")
	}
	return set
}

func (o *options) partsFlag(set *flag.FlagSet) {
	set.IntVar(&o.parts, "parts", 0, "have each story read in `N` parts at once, which are joined; 1: as one; 0: as "+
		"it was said before")
}

// givenIndex is the index that an engine gives to its processes.
func givenIndex() int {
	for _, name := range []string{"JOB_COMPLETION_INDEX", "SLURM_ARRAY_TASK_ID"} {
		if index, err := strconv.Atoi(os.Getenv(name)); err == nil {
			return index
		}
	}
	return -1
}

func add(ctx context.Context, s *store.Store, files []string, parts int, out io.Writer) error {
	if len(files) == 0 {
		return misuse("store add takes files")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("%w: %w", errMisuse, err)
		}
		story := filepath.Base(file)
		if parts > 0 { // before a worker can find the story
			if err := s.Cut(ctx, story, parts); err != nil {
				return err
			}
		}
		if err := s.Add(ctx, story, data); err != nil {
			return err
		}
		fmt.Fprintln(out, story)
	}
	return nil
}

func list(ctx context.Context, s *store.Store, asJSON bool, out io.Writer) error {
	stories, err := s.Stories(ctx)
	if err != nil {
		return err
	}
	for i, story := range stories {
		m, _, err := s.Read(ctx, story)
		if err != nil {
			return err
		}
		if err := listOne(i, story, m, asJSON, out); err != nil {
			return err
		}
		for _, part := range store.Parts(story, m.Parts) {
			m, _, err := s.Read(ctx, part)
			if err != nil {
				return err
			}
			if err := listOne(i, part, m, asJSON, out); err != nil {
				return err
			}
		}
	}
	return nil
}

// listOne prints a story or a part of one.
func listOne(index int, name string, m store.Manifest, asJSON bool, out io.Writer) error {
	if m.State == "" {
		m.State = store.Free
	}
	if asJSON {
		return json.NewEncoder(out).Encode(struct {
			Story string `json:"story"`
			store.Manifest
		}{name, m})
	}
	_, err := fmt.Fprintf(out, "%d\t%s\t%s\t%d/%d scenes\t%s\t%s\n", index, name, m.State, m.Scene, m.Scenes,
		printable(m.Owner), printable(strings.Join(m.Abandoned, "; ")))
	return err
}

// printable leaves out what could control a terminal: others write to the store, too.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, text)
}

// get writes the newest copy of a story's database to a new file. Those of its parts get the names in its journal.
func get(ctx context.Context, s *store.Store, story, path string) error {
	m, _, err := s.Read(ctx, story)
	if err != nil {
		return err
	}
	if m.Copy == "" {
		return misuse("the store has no copy of a database of %s", story)
	}
	if err := fetch(ctx, s, &m, path); err != nil {
		return err
	}
	return fetchParts(ctx, s, story, m.Parts, filepath.Join(filepath.Dir(path), story))
}
