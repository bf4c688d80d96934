package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"

	"annotator"
	"annotator/codex"
	"annotator/corpus"
	"annotator/model"
	"annotator/runner"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// snapshotAskOptions are the options of `annotator snapshot ask`.
type snapshotAskOptions struct {
	*app
	*settings
	corpus      string
	interactive bool
	json        bool
	view        *view.View // its matching entries are in the context; nil: the snapshot only
}

// askSettings name the settings of a question to the model.
var askSettings = [...]string{
	"endpoint", "wire", "model", "api-key-file", "shared-key-file", "temperature", "stream", "patience",
	"first-token-timeout", "token-timeout",
}

func newSnapshotAskOptions(a *app) *snapshotAskOptions {
	return &snapshotAskOptions{app: a, settings: newSettings()}
}

// addFlags declares the flags of the commands that ask.
func (o *snapshotAskOptions) addFlags(cmd *cobra.Command) {
	flags := cmd.Flags()
	corpusFlag(flags, &o.corpus, "`FILE` to look up the cited posts in")
	flags.BoolVar(&o.json, "json", false, "print JSON, one object per answer")
	o.addTo(flags, askSettings[:]...)
}

func newSnapshotAsk(a *app) *cobra.Command {
	o := newSnapshotAskOptions(a)
	cmd := &cobra.Command{
		Use:   "ask N [QUESTION]",
		Short: "Ask the model as of a snapshot",
		Long: longHelp(`
Ask the model as of a snapshot: with the exact context that it had then, and nothing that the story tells later. The
answer lists the posts that it cites. It does not change the codex; question and answer are recorded. A run may be
active. A snapshot of a story that was read in parts is that of its part: the context begins with the part, and the
answer is recorded there. A snapshot of the type curator_fork has the entries that the curator was asked about, and what
it decided.

With --interactive, further questions are read from standard input, one per line, until its end or a line "exit".

The endpoint comes from the same places as that of run, and may be another than the run's.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator snapshot ask 40 "Who knew of the brass key?"
  annotator snapshot ask 40 --interactive --endpoint http://localhost:8000/v1
  annotator snapshot ask 40 --json "Who is Ysolde Marrow?"
  annotator snapshot ask 41 "Why did you merge these two entries?"`,
		Args: arguments(1, unlimited),
	}
	o.addFlags(cmd)
	cmd.Flags().BoolVarP(&o.interactive, "interactive", "i", false, "read further questions from standard input")
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, args []string) error {
		question := strings.TrimSpace(strings.Join(args[1:], " "))
		if question == "" && !o.interactive {
			return annotator.Errorf(annotator.Misused, "there is no question").
				WithAdvice("put it after the number of the snapshot, or use --interactive")
		}
		at, err := findSnapshot(ctx, db, args[0])
		if err != nil {
			return err
		}
		return o.run(ctx, db, &at, question)
	})
}

// conversation is a series of questions to a snapshot.
type conversation struct {
	*snapshotAskOptions
	db      *storage.DB
	shown   *view.View // of the citable posts
	writer  *storage.SnapshotWriter
	story   *corpus.DB // nil if it was not found
	context *snapshot.Context
	client  *model.Client
	request snapshot.Request // without a question
	record  storage.Conversation
}

func (o *snapshotAskOptions) run(ctx context.Context, db *storage.DB, at *annotator.Snapshot, question string) error {
	if err := o.load(o.app); err != nil {
		return err
	}
	return o.converse(ctx, db, at, func(c *conversation) error {
		if question != "" {
			if err := c.ask(ctx, question); err != nil || !o.interactive {
				return err
			}
		}
		return c.interact(ctx)
	})
}

// converse opens a conversation while body runs.
func (o *snapshotAskOptions) converse(ctx context.Context, db *storage.DB, at *annotator.Snapshot,
	body func(*conversation) error,
) (err error) {
	var open closers
	defer func() { err = cmp.Or(err, open.close()) }()
	c, err := o.open(ctx, db, at, &open)
	if err != nil {
		return err
	}
	return body(c)
}

// open opens the resources of a conversation.
func (o *snapshotAskOptions) open(ctx context.Context, db *storage.DB, at *annotator.Snapshot,
	open *closers,
) (*conversation, error) {
	wire, err := o.newWire()
	if err != nil {
		return nil, err
	}
	if db, at, err = openPart(ctx, db, at, open); err != nil {
		return nil, err
	}
	restored, err := snapshot.Restore(ctx, *at, wire, db.Journal, db.Episodes)
	if err != nil {
		return nil, err
	}
	c := &conversation{
		snapshotAskOptions: o, db: db, context: restored,
		record: storage.Conversation{Snapshot: restored.Snapshot.ID},
	}
	if c.shown, err = o.postsUpTo(ctx, db, at); err != nil {
		return nil, err
	}
	if c.story, err = openCorpus(ctx, db, db.Path(), o.corpus, false); err != nil {
		return nil, err
	}
	if c.story != nil {
		open.add(c.story.Close)
	}
	if c.writer, err = storage.OpenSnapshotWriter(ctx, db.Path(), o.now); err != nil {
		return nil, err
	}
	open.add(c.writer.Close)
	return c, c.prepareClient(ctx, wire)
}

// postsUpTo returns the view of the citable posts: up to the limit, else up to the snapshot.
func (o *snapshotAskOptions) postsUpTo(ctx context.Context, db *storage.DB,
	at *annotator.Snapshot,
) (*view.View, error) {
	if o.view != nil {
		if limit := o.view.Moment(); !limit.IsZero() {
			return o.view, nil
		}
	}
	moment, err := view.MomentOf(ctx, db, at)
	return view.At(db, moment), err
}

// prepareClient sets the client and the settings of a request.
func (c *conversation) prepareClient(ctx context.Context, wire model.Wire) (err error) {
	if c.client, err = c.newClient(ctx, c.db, wire, c.writer); err != nil {
		return err
	}
	if c.Endpoint == offlineEndpoint {
		c.say("offline model: it answers with sentences of the story and definitions; name a server with " +
			"--endpoint for more")
	}
	config := c.runner()
	c.request = snapshot.Request{
		Scene: c.context.Snapshot.Scene, MaxTokens: config.SummonTokens, Temperature: config.Temperature,
		Stream: config.Stream,
	}
	return nil
}

// newClient returns a client whose calls a writer records. The default model is the run's if the server has it, else
// the server's first.
func (o *snapshotAskOptions) newClient(ctx context.Context, db *storage.DB, wire model.Wire,
	writer *storage.SnapshotWriter,
) (*model.Client, error) {
	config := o.runner()
	run, err := db.Run.Status(ctx)
	if err != nil {
		return nil, err
	}
	client := &model.Client{
		Wire: wire, Endpoint: config.Endpoint, Model: cmp.Or(config.Model, run.Model), Policy: &config.Retry,
		Capabilities: new(model.Capabilities),
		Recorder:     writer, Notify: o.printWait, Random: rand.Float64, Estimate: runner.EstimateReply,
	}
	if config.Endpoint == run.Endpoint {
		client.Capabilities.Workarounds = model.ParseRendering(run.Prompt.Workarounds)
	}
	if config.Model == "" {
		served, err := client.Models(ctx)
		if err != nil {
			return nil, err
		}
		if len(served) > 0 && !slices.ContainsFunc(served, func(m model.Model) bool { return m.ID == run.Model }) {
			client.Model = served[0].ID
		}
	}
	if o.key.warning != "" {
		o.say(o.key.warning)
	}
	return client, nil
}

// interact asks the questions on standard input, one per line.
func (c *conversation) interact(ctx context.Context) error {
	lines, readErr := readLines(ctx, c.in)
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
				return readErr()
			case question == "":
				continue
			case question == "exit", question == "quit":
				return nil
			}
			err := c.ask(ctx, question)
			if errors.Is(err, annotator.Malformed) { // the next question may succeed
				c.printError(err)
				err = nil
			}
			if err != nil {
				return err
			}
		}
	}
}

// readLines reads lines in a goroutine, since a read cannot be cancelled. Call readErr after the last line.
func readLines(ctx context.Context, from io.Reader) (lines <-chan string, readErr func() error) {
	in := bufio.NewScanner(from)
	in.Buffer(nil, 1<<20) // bytes of a line
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

// prompt prints a prompt on a terminal.
func (c *conversation) prompt(text string) {
	if c.isTerminal(c.err) {
		fmt.Fprint(c.err, text)
	}
}

// askedQuestion is what `snapshot ask` prints.
type askedQuestion struct {
	Snapshot int64      `json:"snapshot"`
	Question string     `json:"question"`
	Answer   string     `json:"answer"`
	Posts    []citation `json:"posts"` // in the order of the answer
}

// answer asks a question, and records it with the answer. If recording fails, it returns the answer and the error. It
// unescapes the answer, because the model was shown the story escaped.
func (c *conversation) answer(ctx context.Context, question string) (string, error) {
	request := c.request
	request.Question = question
	if c.view != nil {
		var err error
		if request.Entries, err = relevantEntries(ctx, c.view, question); err != nil {
			return "", err
		}
	}
	text, call, err := c.context.Ask(ctx, c.client, &request)
	if err != nil {
		return "", err
	}
	exchange := storage.Exchange{Question: question, Answer: text}
	return annotator.Unescape(text), errors.Join(c.writer.Answer(ctx, &c.record, call, exchange),
		c.context.Add(exchange))
}

// ask asks a question, records the answer, and prints it with the posts that it cites.
func (c *conversation) ask(ctx context.Context, question string) error {
	text, unrecorded := c.answer(ctx, question)
	if text == "" {
		return unrecorded
	}
	a := &askedQuestion{Snapshot: c.context.Snapshot.ID, Question: question, Answer: text}
	var err error
	if a.Posts, err = c.citations(ctx, text); err == nil {
		err = c.printResult(a, c.json)
	}
	return cmp.Or(unrecorded, err)
}

// citations looks up the posts that an answer cites, each once.
func (c *conversation) citations(ctx context.Context, text string) ([]citation, error) {
	posts, seen := []citation{}, map[int64]bool{}
	at := view.NewPositions(ctx, c.db)
	for _, cited := range codex.Citations(text) {
		for _, id := range cited.Posts {
			if seen[id] {
				continue
			}
			seen[id] = true
			post, err := c.cite(ctx, at, id)
			if err = cmp.Or(err, at.Err); err != nil {
				return nil, err
			}
			posts = append(posts, post)
		}
	}
	return posts, nil
}

func (a *askedQuestion) print(w io.Writer) {
	fmt.Fprintln(w, wrapLines(clean(a.Answer), terminalWidth(w)))
	if len(a.Posts) == 0 {
		return
	}
	rows := [][]string{}
	for _, p := range a.Posts {
		at := ""
		if p.Position != nil {
			at = oneLine(fmt.Sprintf("%s, scene %d", p.Position.Chapter, p.Position.Scene))
		}
		if p.Invalid != "" {
			at = strings.TrimPrefix(at+": "+p.Invalid, ": ")
		}
		rows = append(rows, []string{fmt.Sprintf("post %d", p.Post), at, shorten(p.Text, 90)})
	}
	fmt.Fprintln(w)
	printTable(w, rows)
}

// citation is a post that an answer cites.
type citation struct {
	Post     int64               `json:"post"`
	Position *annotator.Position `json:"position,omitempty"` // of a post of the story
	Text     string              `json:"text,omitempty"`     // its first line
	Invalid  string              `json:"doubt,omitempty"`    // why the citation is invalid; empty: it is valid
}

// cite looks up a cited post. A post after the limit is reported like one that does not exist.
func (c *conversation) cite(ctx context.Context, at *view.Positions, id int64) (citation, error) {
	p := citation{Post: id}
	place, err := c.shown.PlaceOf(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		p.Invalid = "it is in no scene up to there"
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.Position = new(at.Named(place))
	if c.story == nil {
		return p, nil
	}
	post, err := c.story.Post(ctx, id)
	if annotator.KindOf(err) == annotator.NotFound {
		p.Invalid = "the corpus no longer has it"
		return p, nil
	}
	if err == nil {
		line, _, _ := strings.Cut(strings.TrimSpace(post.Body), "\n")
		p.Text = shorten(line, 160)
	}
	return p, err
}
