package main

import (
	"context"
	"crypto/subtle"
	"net/http"
	"strings"
	"time"

	"annotator"
	"annotator/mcpserver"
	"annotator/storage"
	"annotator/view"
	"annotator/web"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"
)

// mcpOptions are the options of `annotator mcp`.
type mcpOptions struct {
	*snapshotAskOptions
	asOf      string
	edits     bool
	listen    string
	tokenFile string
}

func newMCP(a *app) *cobra.Command {
	o := &mcpOptions{snapshotAskOptions: newSnapshotAskOptions(a)}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let agents read the codex by the Model Context Protocol",
		Long: longHelp(`
Let agents read the codex by the Model Context Protocol, over standard input and output, or with --listen over HTTP at
/mcp. They search, show entries with their timeline, quotations, history and mentions, ask questions, and read entries
and scenes as resources. Nothing of the codex changes. With --allow-edits, agents can propose edits, which a person
accepts or rejects.

--as-of limits all of it to a point of the story. An agent can lower the limit and not raise it. An address beyond this
machine requires --token-file; clients send the token as "Authorization: Bearer TOKEN".`,
			exitMisused, exitHalted, exitInterrupted),
		Example: `  annotator mcp --db book.annotator.db
  annotator mcp --db book.annotator.db --as-of scene:200
  annotator mcp --db book.annotator.db --listen 127.0.0.1:8421`,
	}
	flags := cmd.Flags()
	o.addFlags(cmd)
	asOfFlag(flags, &o.asOf)
	flags.BoolVar(&o.edits, "allow-edits", false, "let agents propose edits; a person decides on them")
	flags.StringVar(&o.listen, "listen", "",
		"`ADDRESS` and port to listen on for HTTP; empty: standard input and output")
	flags.StringVar(&o.tokenFile, "token-file", "",
		"`FILE` with the token that clients must send, at least 16 characters")
	return onDatabase(cmd, func(ctx context.Context, db *storage.DB, _ []string) error { return o.run(ctx, db) })
}

func (o *mcpOptions) run(ctx context.Context, db *storage.DB) error {
	if err := o.load(o.app); err != nil {
		return err
	}
	shown, err := viewAt(ctx, db, o.asOf)
	if err != nil {
		return err
	}
	posts, err := openCorpus(ctx, db, db.Path(), o.corpus, false)
	if err != nil {
		return err
	}
	config := mcpserver.Config{DB: db, Limit: shown.Moment(), Version: version(), Ask: o.answerer(db)}
	if posts != nil {
		defer func() { _ = posts.Close() }()
		config.Posts = posts
	}
	if o.edits {
		config.Propose = o.propose(db)
	}
	server, err := mcpserver.New(config)
	if err != nil {
		return err
	}
	if o.listen != "" {
		return o.serveHTTP(ctx, server)
	}
	if err := server.Run(ctx, &mcpserver.Lines{Reader: o.in, Writer: o.out}); err != nil {
		return annotator.Errorf(annotator.Misused, "read a request of the Model Context Protocol: %w", err).
			WithAdvice("an agent starts this command and writes to it; `annotator mcp --help` says how")
	}
	return nil
}

// propose returns a function that stores a proposal, unless it would be refused now.
func (o *mcpOptions) propose(db *storage.DB) func(context.Context, *annotator.Proposal) error {
	return func(ctx context.Context, p *annotator.Proposal) error {
		if err := checkEdit(ctx, db, p.Operation); err != nil {
			return err
		}
		return storage.FileProposal(ctx, db.Path(), o.now, p)
	}
}

// serveHTTP serves clients at /mcp until a signal ends it. Sessions have no state.
func (o *mcpOptions) serveHTTP(ctx context.Context, server *mcp.Server) error {
	token, err := readToken(o.listen, o.tokenFile)
	if err != nil {
		return err
	}
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true, MaxRequestBodyBytes: mcpserver.MaxRequest})
	mux := http.NewServeMux()
	mux.Handle("/mcp", http.NewCrossOriginProtection().
		Handler(requireToken(token, withWriteTimeout(web.AnswerTimeout, handler))))
	return listenAndServe(ctx, o.listen, web.NewHTTP(ctx, mux),
		func(address string) { o.say("agents reach the codex at http://" + address + "/mcp") })
}

// withWriteTimeout sets the write timeout of answers: those of a model take longer than a page.
func withWriteTimeout(timeout time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// after an error, the server's holds
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
		next.ServeHTTP(w, r)
	})
}

// requireToken refuses requests without the token. An empty token accepts all.
func requireToken(token string, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if token != "" && subtle.ConstantTimeCompare([]byte(sent), []byte(token)) != 1 {
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "send the token of this server as \"Authorization: Bearer TOKEN\"", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// answerer returns a function that asks the model as `annotator ask` does, each question in its own conversation.
func (o *mcpOptions) answerer(db *storage.DB) mcpserver.Asker {
	return func(ctx context.Context, shown *view.View, question string) (answer *mcpserver.Answer, err error) {
		at, err := newestSnapshot(ctx, shown)
		if err != nil {
			return nil, err
		}
		one := *o.snapshotAskOptions
		one.view = shown
		err = one.converse(ctx, db, at, func(c *conversation) error {
			text, err := c.answer(ctx, question)
			if err != nil {
				return err
			}
			posts, err := c.citations(ctx, text)
			answer = &mcpserver.Answer{Answer: text, Posts: []int64{}}
			for _, p := range posts {
				if p.Invalid == "" {
					answer.Posts = append(answer.Posts, p.Post)
				}
			}
			return err
		})
		return answer, err
	}
}
