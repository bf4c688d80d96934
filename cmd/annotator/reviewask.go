package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"annotator"
	"annotator/review"
)

// printSuggestion prints a question with what it is about.
func (r *reviewing) printSuggestion(s *review.Suggestion) {
	var chapters []string
	for _, place := range s.Places() {
		if at := r.view.positions.Named(place); at.Scene != 0 && !slices.Contains(chapters, oneLine(at.Chapter)) {
			chapters = append(chapters, oneLine(at.Chapter))
		}
	}
	head := fmt.Sprintf("[%d/%d] %s", r.asked, r.total, s.Kind.Label())
	if s.Facts > 0 {
		head += " · " + annotator.Quantity(s.Facts, "fact")
	}
	if s.Mentions > 0 {
		head += " · " + annotator.Quantity(s.Mentions, "mention")
	}
	if len(chapters) > 0 {
		head += " · " + strings.Join(chapters, ", ")
	}
	fmt.Fprintln(r.out)
	printIndented(r.out, "", head)
	printIndented(r.out, "", oneLine(s.Asks)+" ("+oneLine(s.Why)+")")
	for i := range s.Sides {
		r.printSide(&s.Sides[i])
	}
	fmt.Fprintln(r.out)
	r.printChoices(s)
}

func (r *reviewing) printSide(side *review.Side) {
	fmt.Fprintln(r.out)
	name := oneLine(side.Name)
	switch {
	case side.Fact != 0:
		name += fmt.Sprintf("  %d:%d, %s", side.Entry, side.Fact, side.Kind)
	case side.Entry != 0:
		name += fmt.Sprintf("  #%d", side.Entry)
	}
	if len(side.Names) > 0 {
		name += ", also " + oneLine(strings.Join(side.Names, ", "))
	}
	printIndented(r.out, "", name)
	if side.Text != "" {
		printIndented(r.out, "  ", oneLine(shorten(side.Text, 400)))
	}
	for _, q := range side.Quotes {
		printIndented(r.out, "  ", fmt.Sprintf("%s, post %d: \"%s\"", r.view.at(r.view.positions.At(q.Place)), q.Post,
			oneLine(q.Text)))
	}
}

// prompts are the answers of the prompt, in order, with what those do that every question has. A choice of a question
// says what it does itself.
var prompts = []struct{ letter, text, does string }{
	{"y", "[y]es", ""},
	{"n", "[n]ever", "never ask about this again"},
	{"e", "[e]dit", ""},
	{"s", "[s]plit", ""},
	{"l", "[l]ater", "later: ask again when something changes, or the next day"},
	{"w", "[w]ait", "wait: ask again when something changes"},
	{"x", "[x] reject", ""},
	{letterAll, "[A]ll like this", "the next answer is for all of this kind and reason"},
	{letterUndo, "[u]ndo", "undo the last decision"},
	{letterQuit, "[q]uit", "quit; so does the end of the input"},
}

// promptFor returns the line that asks for an answer.
func promptFor(s *review.Suggestion) string {
	var text []string
	for _, p := range prompts {
		if p.does != "" || s.Choice(p.letter) != nil {
			text = append(text, p.text)
		}
	}
	return strings.Join(text, " ") + " ? "
}

// The answers that are about no single question.
const (
	letterUndo = "u"
	letterAll  = "A"
	letterQuit = "q"
)

// printChoices prints what the choices of a question do.
func (r *reviewing) printChoices(s *review.Suggestion) {
	for i := range s.Choices {
		printIndented(r.out, "  "+s.Choices[i].Letter+"  ", oneLine(s.Choices[i].Does))
	}
}

// explain prints what each answer does.
func (r *reviewing) explain(s *review.Suggestion) {
	r.printChoices(s)
	for _, p := range prompts {
		if p.does != "" && s.Choice(p.letter) == nil {
			printIndented(r.out, "  "+p.letter+"  ", p.does)
		}
	}
}

// answer reads answers to a question until one decides it. It reports whether to quit.
func (r *reviewing) answer(ctx context.Context, lines <-chan string, s *review.Suggestion) (quit bool, err error) {
	for {
		line, more := r.ask(ctx, lines, promptFor(s))
		letter, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case !more || letter == letterQuit:
			r.asked--
			return true, ctx.Err()
		case letter == "?" || letter == "":
			r.explain(s)
			continue
		case letter == letterUndo:
			err := r.undo(ctx)
			if err == nil {
				r.asked = max(0, r.asked-2) // this one, and the one that was undone
				return false, r.load(ctx)
			}
			r.printError(err)
			continue
		}
		like := []review.Suggestion{*s}
		if letter == letterAll {
			if like, letter, more = r.askForAll(ctx, lines, s); !more {
				return true, ctx.Err()
			}
		}
		done, err := r.decideAll(ctx, lines, like, letter, words)
		if err != nil || done {
			return false, err
		}
	}
}

// ask prints a prompt and reads a line; false at the end of the input.
func (r *reviewing) ask(ctx context.Context, lines <-chan string, prompt string) (string, bool) {
	fmt.Fprint(r.out, prompt)
	select {
	case <-ctx.Done():
		fmt.Fprintln(r.out)
		return "", false
	case line, more := <-lines:
		if r.ended = !more; r.ended || !r.isTerminal(r.out) {
			fmt.Fprintln(r.out)
		}
		return line, more
	}
}

// askForAll returns the questions like one, and the letter that answers all of them.
func (r *reviewing) askForAll(ctx context.Context, lines <-chan string, s *review.Suggestion) (
	like []review.Suggestion, letter string, more bool,
) {
	for i := range r.queue {
		if r.queue[i].IsLike(s) {
			like = append(like, r.queue[i])
		}
	}
	letter, more = r.ask(ctx, lines, fmt.Sprintf("%s like this: y, n, l, w or x for all of them, or nothing ? ",
		annotator.Quantity(len(like), "question")))
	letter = strings.TrimSpace(letter)
	if !slices.Contains([]string{"y", "n", "l", "w", "x"}, letter) {
		letter = ""
	}
	return like, letter, more
}
