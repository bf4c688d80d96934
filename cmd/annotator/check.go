package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"annotator"
	"annotator/context/window"
	"annotator/continuity"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/model"
	"annotator/storage"
	"annotator/view"

	"github.com/spf13/cobra"
)

// checkOptions are the options of `annotator check`.
type checkOptions struct {
	*snapshotAskOptions
	point   string
	all     bool
	chapter string // the argument
}

func newCheck(a *app) *cobra.Command {
	o := &checkOptions{snapshotAskOptions: newSnapshotAskOptions(a)}
	cmd := &cobra.Command{
		Use:   "check CHAPTER",
		Short: "Compare a new chapter with the codex",
		Long: longHelp(`
Compare a new chapter with what the codex knows before it: contradictions, somebody who knows what nobody told them, and
promises that are not kept. CHAPTER is a file that import reads, or a chapter of the story, as chapter:N. A file is
compared with the whole codex, or with --as-of as if it came there.

Each finding quotes the chapter and the fact, with its quotation. Findings are recorded apart from the codex, which does
not change, and each is shown once; --all also shows those that a former check has found. A run may be active. It asks
the model once for about 2,000 words; the offline model cannot do it.`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator check draft.md --endpoint http://localhost:8000/v1
  annotator check chapter:12
  annotator check --as-of chapter:11 chapter12.txt --json`,
		Args: arguments(1, 1),
	}
	o.addFlags(cmd)
	asOfFlag(cmd.Flags(), &o.point)
	cmd.Flags().BoolVar(&o.all, "all", false, "also show what a former check has found")
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, args []string) error {
		o.chapter = args[0]
		return o.check(ctx, db)
	})
}

func (o *checkOptions) check(ctx context.Context, db *storage.DB) (err error) {
	if err := o.load(o.app); err != nil {
		return err
	}
	if o.Endpoint == offlineEndpoint {
		return annotator.Errorf(annotator.Misused, "the offline model cannot compare a chapter with the codex").
			WithAdvice("name a server with --endpoint")
	}
	posts, before, err := o.read(ctx, db)
	if err != nil {
		return err
	}
	wire, err := o.newWire()
	if err != nil {
		return err
	}
	writer, err := storage.OpenSnapshotWriter(ctx, db.Path(), o.now)
	if err != nil {
		return err
	}
	defer func() { err = cmp.Or(err, writer.Close()) }()
	client, err := o.newClient(ctx, db, wire, writer)
	if err != nil {
		return err
	}
	c := &checking{
		checkOptions: o, view: before, at: view.NewPositions(ctx, db), writer: writer, client: client, wire: wire,
	}
	found, err := c.run(ctx, posts)
	if err != nil {
		return err
	}
	return o.printResult(found, o.json)
}

// read returns the posts of the chapter, and the codex before it.
func (o *checkOptions) read(ctx context.Context, db *storage.DB) ([]annotator.Post, *view.View, error) {
	if exists(o.chapter) {
		before, err := viewAt(ctx, db, o.point)
		if err != nil {
			return nil, nil, err
		}
		posts, err := importedPosts(ctx, o.chapter)
		return posts, before, err
	}
	point, err := view.ParsePoint(o.chapter)
	if err != nil || point.Kind != view.PointChapter {
		return nil, nil, annotator.Errorf(annotator.NotFound, "there is no file %s", o.chapter).
			WithAdvice("name a file with the new chapter, or a chapter of the story as chapter:12")
	}
	if o.point != "" {
		return nil, nil, annotator.Errorf(annotator.Misused,
			"a chapter of the story has its place, and takes no --as-of").
			WithAdvice("leave out --as-of")
	}
	return o.readChapter(ctx, db, point)
}

// readChapter returns the posts of a chapter of the story, and the codex before its first scene.
func (o *checkOptions) readChapter(ctx context.Context, db *storage.DB,
	point view.Point,
) ([]annotator.Post, *view.View, error) {
	all := view.At(db, view.Moment{})
	moment, err := all.LimitAt(ctx, point)
	if err != nil {
		return nil, nil, err
	}
	last, err := db.Scenes.Get(ctx, moment.Scene)
	if err != nil {
		return nil, nil, err
	}
	story, err := openCorpus(ctx, db, db.Path(), o.corpus, true)
	if err != nil {
		return nil, nil, err
	}
	defer story.Close() //nolint:errcheck // it was only read
	scenes, err := all.Scenes(ctx, last.Thread.ID)
	if err != nil {
		return nil, nil, err
	}
	var posts []annotator.Post
	for i := range scenes {
		more, err := story.Scene(ctx, last.Thread.ID, scenes[i].Posts)
		if err != nil {
			return nil, nil, err
		}
		posts = append(posts, more...)
	}
	before := view.Point{Kind: view.PointStart}
	if previous, err := db.Scenes.Neighbor(ctx, scenes[0].Order, -1); err == nil {
		before = view.Point{Kind: view.PointScene, ID: int64(previous.N)}
	} else if annotator.KindOf(err) != annotator.NotFound {
		return nil, nil, err
	}
	moment, err = all.MomentAt(ctx, before)
	return posts, view.At(db, moment), err
}

// importedPosts returns the story posts of a file, as import reads it.
func importedPosts(ctx context.Context, path string) (posts []annotator.Post, err error) {
	folder, err := os.MkdirTemp("", "annotator-check-")
	if err != nil {
		return nil, annotator.Errorf(annotator.Storage, "%w", err)
	}
	defer os.RemoveAll(folder) //nolint:errcheck // it has copies only
	options := ingest.Options{Sources: []string{path}, Corpus: filepath.Join(folder, "chapter.corpus.db")}
	report, err := ingest.Import(ctx, options, nil)
	if err == nil {
		err = unread(report)
	}
	if err != nil {
		return nil, err
	}
	story, err := corpus.Open(ctx, options.Corpus)
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, story.Close()) }()
	for scene, err := range story.Scenes(ctx, corpus.DefaultMaxBytes) {
		if err != nil {
			return nil, err
		}
		posts = append(posts, scene.Posts...)
	}
	return posts, nil
}

// checking is a check that goes on.
type checking struct {
	*checkOptions
	view   *view.View
	at     *view.Positions
	writer *storage.SnapshotWriter
	client *model.Client
	wire   model.Wire
}

// shownFinding is a finding with the words of its fact.
type shownFinding struct {
	annotator.Finding
	Term  string             `json:"term"`
	Fact  string             `json:"text"`
	Told  annotator.Position `json:"told"`
	Words string             `json:"told_in_words,omitempty"` // the quotation of the fact
	New   bool               `json:"new"`
}

// chapterCheck is what check prints.
type chapterCheck struct {
	Findings  []shownFinding `json:"findings"`
	Known     int            `json:"known"`     // that a former check has found
	Unfounded int            `json:"unfounded"` // that quote nothing of the chapter, or no fact
	Asked     int            `json:"asked"`     // questions
	all       bool
	titles    view.Titles
}

func (c *checking) run(ctx context.Context, posts []annotator.Post) (*chapterCheck, error) {
	before, err := continuity.Open(ctx, c.view, c.at)
	if err != nil {
		return nil, err
	}
	done := &chapterCheck{Findings: []shownFinding{}, all: c.all}
	if done.titles, err = c.view.Titles(ctx); err != nil {
		return nil, err
	}
	for _, part := range continuity.Parts(posts) {
		q, err := before.Ask(ctx, part)
		if err != nil {
			return nil, err
		}
		if q == nil {
			continue
		}
		done.Asked++
		found, unfounded, err := c.ask(ctx, q)
		if err != nil {
			return nil, err
		}
		done.Unfounded += unfounded
		if err := c.show(ctx, done, found); err != nil {
			return nil, err
		}
	}
	if done.Asked == 0 {
		c.say("the chapter names no entry of the codex, so there is nothing to compare")
	}
	return done, c.at.Err
}

// answerTokens is the maximum of tokens of an answer.
const answerTokens = 2_048

// ask asks a question, and records what is found with the call.
func (c *checking) ask(ctx context.Context, q *continuity.Question) ([]shownFinding, int, error) {
	config := c.runner()
	p := window.NewPrompt(window.NewPrefix(continuity.System, "", nil), c.wire.Encode)
	if err := p.Ask(q.Text); err != nil {
		return nil, 0, err
	}
	reply, err := c.client.Complete(ctx, &model.Request{
		System: p.System, History: p.History, Choice: model.Choice{Mode: model.ChoiceNone}, MaxTokens: answerTokens,
		Temperature: config.Temperature, Stream: config.Stream, LeastPrompt: p.MinTokens(false),
		Call: annotator.Call{Purpose: annotator.PurposeCheck, Estimate: p.Tokens()},
	})
	if err != nil {
		return nil, 0, err
	}
	found, unfounded, usable := q.Answer(reply.Text)
	if !usable {
		reply.Call.Discard("the answer has no line of the form that was asked for", reply.Body())
		err := c.writer.Fail(context.WithoutCancel(ctx), reply.Call)
		return nil, 0, cmp.Or(err, error(annotator.Errorf(annotator.Malformed,
			"the model's answer about the chapter has no line of the form that was asked for").
			WithAdvice("run the command again, or name another model with --model")))
	}
	for i := range found {
		found[i].Chapter = c.chapter
	}
	added, err := c.writer.Check(ctx, reply.Call, found)
	shown := make([]shownFinding, len(found))
	for i := range found {
		shown[i] = shownFinding{Finding: found[i], New: added[i]}
	}
	return shown, unfounded, err
}

// show adds findings that are new, or all, with the words of their facts.
func (c *checking) show(ctx context.Context, done *chapterCheck, found []shownFinding) error {
	for i := range found {
		f := &found[i]
		if !f.New {
			done.Known++
			if !c.all {
				continue
			}
		}
		e, err := c.view.Entry(ctx, f.Entry)
		if err != nil {
			return err
		}
		f.Term = e.Name()
		for k := range e.Claims {
			if claim := &e.Claims[k]; claim.ID == f.Claim {
				f.Fact, f.Told = claim.Text, c.at.Named(claim.From)
				if len(claim.Evidence) > 0 {
					f.Words = claim.Evidence[0].Quote
				}
			}
		}
		done.Findings = append(done.Findings, *f)
	}
	return nil
}

func (c *chapterCheck) print(w io.Writer) {
	for i := range c.Findings {
		f := &c.Findings[i]
		fmt.Fprintf(w, "%s: %s\n", f.Sort, oneLine(f.Reason))
		printIndented(w, "  the chapter: ", `"`+oneLine(f.Quote)+`"`)
		printIndented(w, "  the codex:   ", fmt.Sprintf("%s (%s, %d:%d, %s)", oneLine(f.Fact), oneLine(f.Term), f.Entry,
			f.Claim, oneLine(c.titles.Label(f.Told))))
		if f.Words != "" {
			printIndented(w, "  told as:     ", `"`+oneLine(f.Words)+`"`)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%s", annotator.Quantity(len(c.Findings), "finding"))
	if c.Known > 0 && !c.all {
		fmt.Fprintf(w, ", and %d of former checks (--all shows them)", c.Known)
	}
	if c.Unfounded > 0 {
		fmt.Fprintf(w, "; left out: %d that quote nothing of the chapter or name no fact", c.Unfounded)
	}
	fmt.Fprintln(w)
}
