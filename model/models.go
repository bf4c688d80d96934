package model

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"annotator"
)

// listTimeout is the time limit for a list of models. A server that hangs must not delay a run that knows its model.
const listTimeout = 30 * time.Second

// Models lists the models of the endpoint. If the client has a model, a failed list is no error. If it has none, it
// waits for a server that is not ready. The error is of kind annotator.Halted.
func (c *Client) Models(ctx context.Context) (models []Model, err error) {
	var waited time.Duration
	fault, err := c.await(ctx, &waited, func() (*annotator.Call, *Fault, error) {
		models, err = c.list(ctx)
		switch {
		case ctx.Err() != nil:
			return nil, nil, context.Cause(ctx)
		case err == nil || c.Model != "":
			return nil, nil, nil
		}
		return nil, ClassifyTransport(err), nil
	})
	if fault != nil {
		err = c.unlisted(fault, waited)
	}
	return models, err
}

// CountTokens asks the server for the number of tokens in a text. A failure is a *Fault. A server that failed once is
// not asked again.
func (c *Client) CountTokens(ctx context.Context, text string) (int, error) {
	counter, able := c.Wire.(Counter)
	if !able || c.Capabilities.NoTokenizer {
		return 0, fault(annotator.Misconfigured, "", "the endpoint cannot count the tokens of a text")
	}
	n, err := counter.CountTokens(ctx, c.Model, text)
	c.Capabilities.NoTokenizer = err != nil
	return n, err
}

func (c *Client) list(ctx context.Context) ([]Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTimeout)
	defer cancel()
	models, err := c.Wire.Models(ctx)
	c.Capabilities.setReached(err)
	return models, err
}

// offers names the models of the endpoint, if it lists them.
func (c *Client) offers(ctx context.Context) string {
	models, err := c.list(ctx)
	if err != nil || len(models) == 0 {
		return ""
	}
	return " (it serves " + FirstNames(models, func(m Model) string { return m.ID }) + ")"
}

// FirstNames lists the names of the first few elements, and the number of the others.
func FirstNames[T any](list []T, name func(T) string) string {
	const most = 5
	var names []string
	for _, element := range list[:min(len(list), most)] {
		names = append(names, name(element))
	}
	if more := len(list) - most; more > 0 {
		names = append(names, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(names, ", ")
}

// unlisted returns the error that an endpoint does not list its models, and none is configured.
func (c *Client) unlisted(fault *Fault, waited time.Duration) error {
	err := annotator.Errorf(annotator.Halted, "ask %s for its models: %w%s", c.Endpoint, fault, waitedFor(waited))
	switch {
	case fault.Kind == annotator.Malformed:
		return err.WithReason(annotator.ReasonWrongModelList)
	case fault.Status == http.StatusNotFound: // or it has no such list
		return err.WithReason(annotator.ReasonNoModelList)
	case fault.Reason != "":
		return err.WithReason(c.reason(fault))
	}
	return err.WithAdvice("%s, then run again to resume", cmp.Or(fault.Advice, "see to the endpoint"))
}
