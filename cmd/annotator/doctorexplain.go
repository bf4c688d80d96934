package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"annotator"
	"annotator/model/servers"
)

// explanation is what `doctor --explain --json` prints. Fields are only ever added.
type explanation struct {
	Model   string          `json:"model"`  // empty: none is named
	Family  string          `json:"family"` // empty: none is known
	Context int             `json:"context"`
	Servers []servers.Start `json:"servers"`
	table   *servers.Table
}

// explainServers prints how servers are started for the model that is named, that the endpoint lists, or for any.
func (o *doctorOptions) explainServers(ctx context.Context) error {
	if err := o.load(o.app); err != nil {
		return err
	}
	name, err := o.modelToExplain(ctx)
	if err != nil {
		return err
	}
	b := o.budget()
	e := explanation{Model: name, Context: b.Usual(), table: servers.Load()}
	family, word := e.table.Family(name), servers.UnknownModel
	if name != "" {
		word = quoted(oneLine(name))
	}
	if family != nil {
		e.Family = family.Name
	}
	for i := range e.table.Servers {
		e.Servers = append(e.Servers, e.table.Servers[i].Start(word, family, e.Context))
	}
	return o.printResult(&e, o.json)
}

// modelToExplain returns the model that is named, else the first that the endpoint lists; none without an endpoint.
func (o *doctorOptions) modelToExplain(ctx context.Context) (string, error) {
	if o.Model != "" || o.Endpoint == offlineEndpoint {
		return o.Model, nil
	}
	wire, err := o.newWire()
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	models, err := wire.Models(ctx)
	if err == nil && len(models) > 0 {
		return models[0].ID, nil
	}
	why := "lists no models"
	if err != nil {
		why = "does not list its models: " + advise(err).Error()
	}
	return "", annotator.Errorf(annotator.Misused, "%s %s", withoutSecrets(o.Endpoint), oneLine(why)).
		WithAdvice("name the model with --model; nothing is asked of an endpoint then")
}

func (e *explanation) print(w io.Writer) {
	switch {
	case e.Family != "":
		fmt.Fprintf(w, "%s is of the family %s.\n", oneLine(e.Model), e.Family)
	case e.Model != "":
		fmt.Fprintf(w, "%s is of no family that is known here: its model card names the parsers.\n", oneLine(e.Model))
	default:
		fmt.Fprintf(w, "%s and %s depend on the model: name it with --model, or choose below.\n", servers.UnknownModel,
			servers.UnknownParser)
	}
	for i := range e.Servers {
		printStart(w, &e.Servers[i])
	}
	if e.Model == "" {
		fmt.Fprintln(w)
		printTable(w, e.table.Rows())
	}
}

func printStart(w io.Writer, s *servers.Start) {
	tried := "from documentation, not tried"
	if s.Tried != "" {
		tried = "tried: " + s.Tried
	}
	fmt.Fprintln(w)
	printIndented(w, s.Server+"  ", tried)
	for _, command := range s.Commands {
		fmt.Fprintf(w, "    %s\n", command)
	}
	fmt.Fprintf(w, "    annotator doctor --endpoint %s\n", s.Endpoint)
	for _, note := range s.Notes {
		printIndented(w, "  ", note)
	}
	printIndented(w, "  see ", strings.Join(s.Sources, " "))
}
