package main

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"annotator/exporters"
)

// printEntry shows an entry to people.
func printEntry(w io.Writer, e *exporters.Entry) error {
	title := e.Term
	if e.Disambiguator != "" {
		title += " (" + e.Disambiguator + ")"
	}
	locked := ""
	if e.Locked {
		locked = ", locked"
	}
	fmt.Fprintf(w, "%s  #%d, %s%s, %s\n", oneLine(title), e.ID, e.Status, locked, count(e.Revisions, "revision"))
	if len(e.Tags) > 0 {
		fmt.Fprintf(w, "tags: %s\n", oneLine(strings.Join(e.Tags, ", ")))
	}
	fmt.Fprintf(w, "first: %s\nlast: %s\n", where(e.First), where(e.Last))
	if len(e.Aliases) > 0 {
		fmt.Fprintln(w, "\nnames")
	}
	for _, a := range e.Aliases {
		fmt.Fprintf(w, "  %s, from %s\n", oneLine(a.Name), where(a.From))
	}
	var err error
	for i := range e.Claims {
		err = cmp.Or(err, printClaim(w, &e.Claims[i]))
	}
	return err
}

func printClaim(w io.Writer, c *exporters.Claim) error {
	held := "from " + where(c.From)
	if c.Until != nil {
		held += ", until " + where(*c.Until)
	}
	terminal := terminalWidth(w)
	_, err := fmt.Fprintf(w, "\n%s\n  %s, %s\n", hanging(oneLine(c.Text), 0, terminal), c.Kind, held)
	for _, v := range c.Evidence {
		quotation := fmt.Sprintf("post %d, %d to %d: \"%s\"", v.Post, v.Start, v.End, oneLine(v.Quote))
		_, printed := fmt.Fprintf(w, "  %s\n", hanging(quotation, gap, terminal))
		err = cmp.Or(err, printed)
	}
	return err
}
