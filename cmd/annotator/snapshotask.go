package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"annotator"
	"annotator/corpus"
	"annotator/model"
	"annotator/runner"
	"annotator/storage"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// snapshotAskOptions are what `annotator snapshot ask` is told.
type snapshotAskOptions struct {
	*app
	config      Config
	configPath  string
	db          string
	corpus      string
	interactive bool
	json        bool
}

func newSnapshotAsk(a *app) *cobra.Command {
	o := &snapshotAskOptions{app: a}
	settings := o.config.settings()
	cmd := &cobra.Command{
		Use:   "ask N [QUESTION]",
		Short: "Ask the model as it was at a snapshot",
		Long: described(`
Ask the model as it was at a snapshot: with the very context that it had then, and nothing that the story told later. The answer
comes with the posts that it names. Nothing of it enters the codex; question and answer are kept on record. A run may be going
on meanwhile.

With --interactive further questions are read from standard input, a line each, until it ends or a line says exit.

The endpoint comes from where run has it, and may be another than the run's.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator snapshot ask 40 "Who knew of the brass key?"
  annotator snapshot ask 40 --interactive --endpoint http://localhost:8000/v1
  annotator snapshot ask 40 --json "Who is Ysolde Marrow?"`,
		Args: arguments(1, anyNumber),
		RunE: func(cmd *cobra.Command, args []string) error {
			return untilSignal(cmd.Context(), func(ctx context.Context) error {
				return withDatabase(ctx, o.db, func(db *storage.DB) error {
					return o.run(ctx, db, settings, args[0], strings.Join(args[1:], " "))
				})
			})
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	databaseFlag(flags, &o.db)
	flags.StringVar(&o.corpus, "corpus", autoCorpus, "`FILE` to look the named posts up in; auto: the run's own, if it is there")
	configFlag(flags, &o.configPath)
	flags.BoolVarP(&o.interactive, "interactive", "i", false, "go on asking: read questions from standard input")
	flags.BoolVar(&o.json, "json", false, "print JSON, an object for each answer")
	settingFlags(flags, settings, "endpoint", "wire", "model", "api-key-file", "temperature", "stream", "patience")
	return cmd
}

// conversation is a snapshot being asked.
type conversation struct {
	*snapshotAskOptions
	db       *storage.DB
	guest    *storage.SnapshotWriter
	story    *corpus.DB // nil where it is not there
	summoned *runner.Summoned
	client   *model.Client
	asking   *runner.Asking
	record   storage.Conversation
}

func (o *snapshotAskOptions) run(ctx context.Context, db *storage.DB, settings *pflag.FlagSet, named, question string) (err error) {
	if strings.TrimSpace(question) == "" && !o.interactive {
		return annotator.Errorf(annotator.Misused, "there is no question").WithAdvice("put one behind the snapshot's number, or ask with --interactive")
	}
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	c, err := o.open(ctx, db, settings, named, &open)
	if err != nil {
		return err
	}
	if strings.TrimSpace(question) != "" {
		if err := c.ask(ctx, question); err != nil || !o.interactive {
			return err
		}
	}
	return c.converse(ctx)
}

// open brings together all that a conversation needs.
func (o *snapshotAskOptions) open(ctx context.Context, db *storage.DB, settings *pflag.FlagSet, named string, open *closers) (*conversation, error) {
	key, err := o.settle(&o.config, settings, o.configPath)
	if err != nil {
		return nil, err
	}
	wire, err := o.config.connect(key)
	if err != nil {
		return nil, err
	}
	summoned, err := summon(ctx, db, wire, named)
	if err != nil {
		return nil, err
	}
	c := &conversation{snapshotAskOptions: o, db: db, summoned: summoned, record: storage.Conversation{Snapshot: summoned.Snapshot.ID}}
	if c.story, err = openStory(ctx, db, o.corpus); err != nil {
		return nil, err
	}
	if c.story != nil {
		*open = append(*open, c.story.Close)
	}
	if c.guest, err = storage.OpenSnapshotWriter(ctx, db.Path(), o.now); err != nil {
		return nil, err
	}
	*open = append(*open, c.guest.Close)
	return c, c.connect(ctx, wire)
}

// connect prepares the calls. Where no model is named it is the run's, if the endpoint has that, else the first it has.
func (c *conversation) connect(ctx context.Context, wire model.Wire) error {
	config := runner.Defaults()
	c.config.apply(&config)
	run, err := c.db.Run.Status(ctx)
	if err != nil {
		return err
	}
	c.client = &model.Client{
		Wire: wire, Endpoint: config.Endpoint, Model: cmp.Or(config.Model, run.Model), Policy: &config.Retry, Capabilities: new(model.Capabilities),
		Recorder: c.guest, Notify: c.tell, Random: rand.Float64, Estimate: runner.EstimateReply,
	}
	if config.Model == "" {
		served, err := c.client.Models(ctx)
		if err != nil {
			return err
		}
		if len(served) > 0 && !slices.ContainsFunc(served, func(m model.Model) bool { return m.ID == run.Model }) {
			c.client.Model = served[0].ID
		}
	}
	if c.config.Endpoint == offlineEndpoint {
		fmt.Fprintln(c.err, "offline model: it answers with sentences of the story and definitions; name a server with --endpoint for more")
	}
	c.asking = &runner.Asking{
		MaxTokens: config.SummonTokens, Temperature: config.Temperature, Stream: config.Stream,
		Scene: c.summoned.Snapshot.Scene,
	}
	return nil
}

// tell says why an answer is long in coming.
func (c *conversation) tell(n annotator.Notice) {
	if n.Kind == annotator.NoticeWait {
		fmt.Fprintf(c.err, "waiting %s: %s\n", span(n.Duration), oneLine(n.Reason))
	}
}

// converse asks what standard input says, line by line.
func (c *conversation) converse(ctx context.Context) error {
	lines, failed := c.lines(ctx)
	for {
		c.prompt("> ")
		select {
		case <-ctx.Done():
			c.prompt("\n")
			return ctx.Err()
		case line, more := <-lines:
			question := strings.TrimSpace(line)
			switch {
			case !more:
				c.prompt("\n")
				return failed()
			case question == "":
				continue
			case question == "exit", question == "quit":
				return nil
			}
			err := c.ask(ctx, question)
			if errors.Is(err, annotator.Malformed) { // another question may fare better
				c.complain(err)
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
}

// lines reads standard input beside the conversation, which may be ended while nothing comes. When there are no more, failed says
// whether that is because they could not be read.
func (c *conversation) lines(ctx context.Context) (lines <-chan string, failed func() error) {
	const longest = 1 << 20 // bytes of a line
	in := bufio.NewScanner(c.in)
	in.Buffer(nil, longest)
	read := make(chan string)
	go func() {
		defer close(read)
		for in.Scan() {
			select {
			case read <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return read, in.Err
}

// prompt shows a sign to somebody who types.
func (c *conversation) prompt(sign string) {
	if c.isTerminal(c.err) {
		fmt.Fprint(c.err, sign)
	}
}

// answer is what `snapshot ask --json` prints.
type answer struct {
	Snapshot int64   `json:"snapshot"`
	Question string  `json:"question"`
	Answer   string  `json:"answer"`
	Posts    []cited `json:"posts"` // that the answer names, in its order
}

// ask puts a question, writes down what was said, and prints it.
func (c *conversation) ask(ctx context.Context, question string) error {
	text, call, err := c.summoned.Ask(ctx, c.client, c.asking, question)
	if err != nil {
		return err
	}
	said := storage.Exchange{Question: question, Answer: text}
	if err := errors.Join(c.guest.Answer(ctx, &c.record, call, said), c.summoned.Hear(said)); err != nil {
		return err
	}
	a := answer{Snapshot: c.summoned.Snapshot.ID, Question: question, Answer: text}
	if a.Posts, err = c.cited(ctx, text); err != nil {
		return err
	}
	if c.json {
		return c.printJSON(a)
	}
	return a.print(c.out)
}
