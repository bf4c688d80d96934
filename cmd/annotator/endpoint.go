package main

import (
	"net/url"
	"slices"
	"strings"

	"annotator"
	"annotator/curator"
	"annotator/model"
	"annotator/model/anthropic"
	"annotator/model/endpoint"
	"annotator/model/gemini"
	"annotator/model/offline"
	"annotator/model/openai"
	"annotator/model/responses"
)

// offlineURL is where the embedded model is asked; no request to it leaves the process.
const offlineURL = "http://offline/v1"

// offlineHint says that nobody named a server.
const offlineHint = "offline model: an embedded baseline that finds names by rules; name a server with --endpoint for real annotation"

// The wires, as --wire names them.
const (
	wireAuto      = "auto"
	wireChat      = "chat"
	wireResponses = "responses"
	wireAnthropic = "anthropic"
	wireGemini    = "gemini"
)

func wireNames() []string {
	return []string{wireAuto, wireChat, wireResponses, wireAnthropic, wireGemini}
}

func (c *Config) checkWire() error {
	switch {
	case !slices.Contains(wireNames(), c.Wire):
		return outOfRange("wire", "one of "+strings.Join(wireNames(), ", "), c.Wire)
	case c.Endpoint == offlineEndpoint && c.wire() != wireChat:
		return annotator.Errorf(annotator.Misused, "the embedded model speaks the wire %s, not %s", wireChat, c.Wire).
			WithAdvice("leave out --wire, or name a server with --endpoint")
	case c.wire() == wireAnthropic && c.CuratorPrompt == string(curator.Replaced):
		return annotator.Errorf(annotator.Misused, "the wire %s cannot ask the curator under a prompt of its own: that API wants the tools defined that earlier messages call", wireAnthropic).
			WithAdvice("leave out --curator-prompt, which is shared then")
	}
	return nil
}

// wire is the name of the wire in use: the one that is configured, else the one that the endpoint's address tells of.
func (c *Config) wire() string {
	if c.Wire != wireAuto {
		return c.Wire
	}
	u, err := url.Parse(strings.TrimSpace(c.Endpoint))
	if err != nil {
		return wireChat // which says what is wrong with the address
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case strings.HasSuffix(path, "/chat/completions"):
		return wireChat
	case strings.HasSuffix(path, "/responses"):
		return wireResponses
	case strings.HasSuffix(path, "/messages"), u.Hostname() == "api.anthropic.com":
		return wireAnthropic
	case u.Hostname() == "generativelanguage.googleapis.com" && !strings.HasSuffix(path, "/openai"):
		return wireGemini
	}
	return wireChat
}

// connect returns a client of the endpoint. Nothing is asked of it yet.
func (c *Config) connect(key apiKey) (model.Wire, error) {
	options := c.dial(key)
	switch c.wire() {
	case wireResponses:
		return opened(responses.New(options))
	case wireAnthropic:
		return opened(anthropic.New(options))
	case wireGemini:
		return opened(gemini.New(options))
	}
	return opened(openai.New(options))
}

// dial says where the endpoint is and how it is reached.
func (c *Config) dial(key apiKey) endpoint.Options {
	if c.Endpoint == offlineEndpoint {
		return endpoint.Options{BaseURL: offlineURL, HTTP: offline.New(offline.Options{})}
	}
	return endpoint.Options{BaseURL: c.Endpoint, Key: key.value}
}

// opened makes a wire of a client, and of none no wire.
func opened[C model.Wire](client C, err error) (model.Wire, error) {
	if err != nil {
		return nil, err
	}
	return client, nil
}
