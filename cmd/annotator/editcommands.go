package main

import (
	"cmp"
	"context"
	"strconv"
	"strings"

	"annotator"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// newEdits returns the commands by which a person edits the codex.
func newEdits(a *app) []*cobra.Command {
	return []*cobra.Command{
		newCreate(a), newEdit(a), newAdd(a), newReject(a), newEnd(a), newRename(a), newRetag(a), newHide(a), newKeep(a),
		newMerge(a), newSplit(a),
		newNever(a), newLock(a), newUnlock(a), newRevert(a), newAnswer(a), newUndo(a),
	}
}

func newEdit(a *app) *cobra.Command {
	var relation, object string
	cmd := &cobra.Command{
		Use: "edit ENTRY:FACT [TEXT]", Short: "Put a fact in other words, or change its relation",
		Long: `Put a fact in other words, or say with --relation and --object what it makes the entry to another. ` +
			`It keeps its quotations, and what it said before does not come back. Show prints the numbers of facts.`,
		Example: `  annotator edit 12:3 "She keeps the light."
  annotator edit 12:4 --relation "sister of" --object Dobrow`,
	}
	relationFlags(cmd.Flags(), &relation, &object)
	cmd = a.edits(cmd, 2, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		text := strings.Join(args[1:], "")
		if text == "" && relation == "" && object == "" {
			return op, annotator.Errorf(annotator.Misused, "nothing says what the fact should be").
				WithAdvice("give its words, or --relation and --object")
		}
		op = annotator.Operation{Do: annotator.DeedEdit, Text: text, Relation: relation, Object: object}
		if op.Entry, op.Fact, err = v.fact(ctx, args[0]); err != nil {
			return op, err
		}
		e, err := v.WithClaims(ctx, op.Entry, []int64{op.Fact})
		if err != nil || len(e.Claims) == 0 {
			return op, err // the rules say that there is no such fact
		}
		was := &e.Claims[0]
		op.Was, op.Text = was.Text, cmp.Or(op.Text, was.Text)
		if relation+object != "" {
			op.Relation, op.Object = cmp.Or(relation, was.Relation), cmp.Or(object, was.Object)
		}
		if op.Object != "" && op.Relation == "" {
			err = objectAlone()
		}
		return op, err
	})
	cmd.Args = arguments(1, 2)
	return cmd
}

// relationFlags adds the flags that say what a fact makes its entry to another one.
func relationFlags(flags *pflag.FlagSet, relation, object *string) {
	flags.StringVar(relation, "relation", "", "`WORDS` for what the entry is to --object, as \"sister of\"")
	flags.StringVar(object, "object", "", "`NAME` of the other entry, or other words")
}

// objectAlone is the error of --object without a relation.
func objectAlone() error {
	return annotator.Errorf(annotator.Misused, "--object needs --relation").
		WithAdvice("say what the entry is to it, as --relation \"sister of\"")
}

func newCreate(a *app) *cobra.Command {
	var tags, names []string
	var fact string
	cmd := &cobra.Command{
		Use: "create NAME", Short: "Make an entry that is missing",
		Long: `Make an entry that is missing. Without --at, it is seen from where the story was read to. ` +
			`The model adds to it what the story goes on to say.`,
		Example: `  annotator create "The Ash Key" --tag object --name "the key" --fact "It opens the north door."`,
	}
	flags := cmd.Flags()
	flags.StringSliceVar(&tags, "tag", nil, "a `TAG`, such as person; may be repeated")
	flags.StringArrayVar(&names, "name", nil, "another `NAME` of it; may be repeated")
	flags.StringVar(&fact, "fact", "", "`TEXT` of a fact: who or what it is")
	cmd = a.edits(cmd, 1, func(_ context.Context, _ *editView, args []string) (annotator.Operation, error) {
		op := annotator.Operation{Do: annotator.DeedCreate, Name: args[0], Tags: tags}
		if fact != "" {
			op.Parts = []annotator.Operation{{Do: annotator.DeedAdd, Text: fact, Identity: true}}
		}
		for _, name := range names {
			op.Parts = append(op.Parts, annotator.Operation{Do: annotator.DeedAdd, Name: name})
		}
		return op, nil
	})
	cmd.ValidArgsFunction = nil
	return cmd
}

func newAdd(a *app) *cobra.Command {
	var op annotator.Operation
	var kind, quote string
	var post int64
	var isName bool
	cmd := &cobra.Command{
		Use: "add ENTRY TEXT", Short: "Add a fact or a name to an entry",
		Long: `Add a fact to an entry, or a name with --name. A fact without a quotation is seen from where the ` +
			`story was read to.`,
		Example: `  annotator add Marrow "She is left-handed." --post 3456 --quote "with her left hand"
  annotator add Marrow "She is Dobrow's sister." --relation "sister of" --object Dobrow
  annotator add 12 "The Warden" --name`,
	}
	flags := cmd.Flags()
	flags.BoolVar(&isName, "name", false, "TEXT is a name")
	flags.StringVar(&quote, "quote", "", "`WORDS` of the post that support the fact")
	flags.Int64Var(&post, "post", 0, "`ID` of the post with the quotation")
	wordFlag(flags, &kind, "kind", []string{"", "narrated", "claimed", "inferred"}, "",
		"`KIND` of the fact: narrated, claimed or inferred")
	flags.StringVar(&op.Speaker, "speaker", "", "`NAME` of who claims it")
	flags.BoolVar(&op.State, "state", false, "the fact is a state that can end")
	flags.BoolVar(&op.Identity, "identity", false, "the fact says who or what the entry is")
	relationFlags(flags, &op.Relation, &op.Object)
	return a.edits(cmd, 2, func(ctx context.Context, v *editView, args []string) (_ annotator.Operation, err error) {
		op.Do, op.Kind = annotator.DeedAdd, annotator.ClaimKind(kind)
		if op.Object != "" && op.Relation == "" {
			return op, objectAlone()
		}
		if op.Entry, err = v.entry(ctx, args[0]); err != nil {
			return op, err
		}
		switch {
		case isName:
			op.Name = args[1]
		case (quote == "") != (post == 0):
			return op, annotator.Errorf(annotator.Misused, "a quotation needs both --post and --quote").
				WithAdvice("give both, or neither")
		default:
			op.Text = args[1]
			if quote != "" {
				op.Evidence, err = v.quotation(ctx, post, quote)
			}
		}
		return op, err
	})
}

func newReject(a *app) *cobra.Command {
	var name string
	cmd := &cobra.Command{
		Use: "reject ENTRY[:FACT]", Short: "Say that a fact or a name is wrong",
		Long: `Say that a fact is wrong, or a name with --name. It leaves the entry, and neither the model nor the ` +
			`curator brings it back.`,
		Example: `  annotator reject 12:3
  annotator reject Marrow --name "the widow"`,
	}
	cmd.Flags().StringVar(&name, "name", "", "the `NAME` that is wrong")
	return a.edits(cmd, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op = annotator.Operation{Do: annotator.DeedReject, Name: name}
		if name != "" {
			op.Entry, err = v.entry(ctx, args[0])
		} else {
			op.Entry, op.Fact, err = v.fact(ctx, args[0])
		}
		return op, err
	})
}

func newEnd(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "end ENTRY:FACT", Short: "Say that a state has ended",
		Long: `Say that a state has ended. Without --at, it has ended where the story was read to. ` +
			"`annotator reject`" + ` is for a fact that was never true.`,
		Example: `  annotator end 12:3 --at scene:25`,
	}, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op.Do = annotator.DeedEnd
		op.Entry, op.Fact, err = v.fact(ctx, args[0])
		return op, err
	})
}

func newKeep(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "keep ENTRY", Short: "Say that a tentative entry belongs in the codex",
		Long:    `Say that a tentative entry belongs in the codex: it is confirmed, and no curator retires it.`,
		Example: `  annotator keep "the collar"`,
	}, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op.Do = annotator.DeedKeep
		op.Entry, err = v.entry(ctx, args[0])
		return op, err
	})
}

func newRename(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "rename ENTRY NAME", Short: "Give an entry another name",
		Long: `Give an entry another name, with what it is in parentheses where two things share it. The former name ` +
			`stays one of its names. ` + "`annotator reject ENTRY --name NAME`" + ` takes it away.`,
		Example: `  annotator rename 12 "Ysolde Marrow"
  annotator rename Dawn "Dawn (ship)" --at chapter:3`,
	}, 2, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op = annotator.Operation{Do: annotator.DeedRename, Name: args[1]}
		op.Entry, err = v.entry(ctx, args[0])
		return op, err
	})
}

func newRetag(a *app) *cobra.Command {
	var tags []string
	cmd := &cobra.Command{
		Use: "retag ENTRY", Short: "Set the tags of an entry",
		Long:    `Set the tags of an entry: those of --tag, and no others.`,
		Example: `  annotator retag Marrow --tag person --tag keeper`,
	}
	cmd.Flags().StringSliceVar(&tags, "tag", nil, "a `TAG`; may be repeated")
	return a.edits(cmd, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op = annotator.Operation{Do: annotator.DeedRetag, Tags: tags}
		op.Entry, err = v.entry(ctx, args[0])
		return op, err
	})
}

func newHide(a *app) *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use: "hide ENTRY", Short: "Take an entry out of the codex",
		Long:    `Take an entry out of the codex: it is retired, and the model makes no entry of its name again.`,
		Example: `  annotator hide "the collar" --reason "It is worth no entry."`,
	}
	cmd.Flags().StringVar(&reason, "reason", "hidden by a person", "`WHY`, in a sentence")
	return a.edits(cmd, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op = annotator.Operation{Do: annotator.DeedHide, Text: reason}
		op.Entry, err = v.entry(ctx, args[0])
		return op, err
	})
}

// onTwo returns the function that builds an operation on two entries.
func onTwo(do annotator.Deed) func(context.Context, *editView, []string) (annotator.Operation, error) {
	return func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op.Do = do
		if op.Entry, err = v.entry(ctx, args[0]); err == nil {
			op.Other, err = v.entry(ctx, args[1])
		}
		return op, err
	}
}

func newMerge(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "merge ENTRY INTO", Short: "Make two entries one",
		Long: `Make ENTRY one with INTO, which gets its names, tags and facts with their quotations. It is seen from ` +
			`where the newest of what both have is seen. --at may say an earlier point; each fact is still seen no ` +
			`earlier than before. ` + "`annotator split`" + ` restores both.`,
		Example: `  annotator merge Watson "John Watson"
  annotator merge 31 12 --at scene:40`,
	}, 2, onTwo(annotator.DeedMerge))
}

func newSplit(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "split ENTRY", Short: "Take a merge back, whoever made it",
		Long: `Take the merge of ENTRY back, whoever made it: the entry is as before, and the one that it was merged ` +
			`into loses what it got. What was changed there since stays there as well. The two are never merged again.`,
		Example: `  annotator split 31`,
	}, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op.Do = annotator.DeedSplit
		op.Entry, err = v.entry(ctx, args[0])
		return op, err
	})
}

func newNever(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "never ENTRY OTHER", Short: "Say that two entries are not the same",
		Long: `Say that two entries are not the same: they are never merged. ` +
			"`annotator unlock ENTRY --other OTHER`" + ` lifts this.`,
		Example: `  annotator never "John Marrow" "John Marrow the younger"`,
	}, 2, onTwo(annotator.DeedNever))
}

func newLock(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "lock ENTRY[:FACT]", Short: "Let only people change an entry or a fact",
		Long:    `Let only people change an entry or a fact. The model may add quotations to a locked fact.`,
		Example: "  annotator lock Marrow\n  annotator lock 12:3",
	}, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		op.Do = annotator.DeedLock
		op.Entry, op.Fact, err = v.part(ctx, args[0])
		return op, err
	})
}

func newUnlock(a *app) *cobra.Command {
	var other string
	cmd := &cobra.Command{
		Use: "unlock ENTRY[:FACT]", Short: "Let the model change what a person has locked",
		Long: `Let the model change a fact, or an entry with all that a person has written in it. With --other, the ` +
			`two entries may be merged again.`,
		Example: "  annotator unlock Marrow\n  annotator unlock 12:3\n  annotator unlock 12 --other 31",
	}
	cmd.Flags().StringVar(&other, "other", "", "the `ENTRY` that it may be")
	return a.edits(cmd, 1, func(ctx context.Context, v *editView, args []string) (op annotator.Operation, err error) {
		if other != "" {
			return onTwo(annotator.DeedUnlock)(ctx, v, []string{args[0], other})
		}
		op.Do = annotator.DeedUnlock
		op.Entry, op.Fact, err = v.part(ctx, args[0])
		return op, err
	})
}

func newRevert(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "revert REVISION", Short: "Take back one change of the model, the curator or a person",
		Long: `Take back one change of a name, a tag, a status, a quotation, or the end of a fact, whoever made it. ` +
			"`annotator show ENTRY --history --json`" + ` prints the numbers of revisions. ` +
			`What was changed again since is refused.`,
		Example: `  annotator revert 310`,
	}, 1, func(_ context.Context, _ *editView, args []string) (op annotator.Operation, err error) {
		op.Do = annotator.DeedRevert
		if op.Revision, err = strconv.ParseInt(args[0], 10, 64); err != nil {
			err = annotator.Errorf(annotator.Misused, "%q is no number of a revision", args[0]).
				WithAdvice("`annotator show ENTRY --history --json` prints them")
		}
		return op, err
	})
}

func newUndo(a *app) *cobra.Command {
	return a.edits(&cobra.Command{
		Use: "undo", Short: "Take back the newest edit of a person",
		Long: `Take back the newest edit of a person that was not undone: all that it changed. Each further undo ` +
			`goes one back.`,
		Example: `  annotator undo`,
	}, 0, func(context.Context, *editView, []string) (annotator.Operation, error) {
		return annotator.Operation{Do: annotator.DeedUndo}, nil
	})
}
