package main

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
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

const (
	offlineEndpoint = model.EndpointOffline
	offlineURL      = "http://offline/v1" // the offline model's address; no request to it leaves the process
	offlineHint     = "offline model: a baseline that finds names by rules; name a server with " +
		"--endpoint for real annotation"
)

// The wires, as --wire names them.
const (
	wireAuto      = "auto"
	wireChat      = "chat"
	wireResponses = "responses"
	wireAnthropic = "anthropic"
	wireGemini    = "gemini"
)

var wireNames = [...]string{wireAuto, wireChat, wireResponses, wireAnthropic, wireGemini}

func (c *Config) checkWire() error {
	wire := c.wire()
	for _, other := range c.Others {
		if wireOf(c.Wire, other) != wire || other == offlineEndpoint || c.Endpoint == offlineEndpoint {
			return annotator.Errorf(annotator.Misused, "the endpoints %s and %s do not speak one API",
				withoutSecrets(c.Endpoint), withoutSecrets(other)).
				WithAdvice("name servers of the same model and API, or leave out one of them")
		}
	}
	switch {
	case c.Endpoint == offlineEndpoint && wire != wireChat:
		return annotator.Errorf(annotator.Misused, "the offline model speaks the wire %s, not %s", wireChat, wire).
			WithAdvice("leave out --wire, or name a server with --endpoint")
	case wire == wireAnthropic && c.Curator.Prompt == curator.Replaced:
		return annotator.Errorf(annotator.Misused,
			"the wire %s has no separate prompt for the curator: that API requires the tools of earlier calls", wire).
			WithAdvice("leave out --curator-prompt; the curator then shares the prompt of the scenes")
	}
	return nil
}

// wire returns the name of the wire in use: the configured one, else the one that the endpoint's address implies.
func (c *Config) wire() string { return wireOf(c.Wire, c.Endpoint) }

func wireOf(configured, address string) string {
	if configured != wireAuto {
		return configured
	}
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil {
		return wireChat // its client reports the address
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

// connect returns a client of the endpoint, and prints the model, the address and warnings. It sends no request to it.
func (s *settings) connect(ctx context.Context, a *app, print func(string)) (model.Wire, error) {
	wire, err := s.newWire()
	if err != nil {
		return nil, err
	}
	if s.key.warning != "" {
		print(s.key.warning)
	}
	if s.Endpoint == offlineEndpoint {
		print(offlineHint)
		if servers := s.unnamedServers(ctx, a); len(servers) > 0 {
			print(fmt.Sprintf("a server on this machine has the model %s: use it with --endpoint %s",
				servers[0].Models[0], servers[0].Endpoint))
		}
	} else {
		print(cmp.Or(s.Model, "a model") + " at " + withoutSecrets(s.Endpoint))
	}
	if len(s.read) > 0 {
		print("configuration: " + strings.Join(s.read, ", "))
	}
	return wire, nil
}

// unnamedServers returns the servers on this machine where no endpoint is named.
func (s *settings) unnamedServers(ctx context.Context, a *app) []localServer {
	if s.sources["endpoint"] != defaultSource || s.Endpoint != offlineEndpoint {
		return nil
	}
	return a.servers(ctx)
}

func (s *settings) newWire() (model.Wire, error) {
	options := s.endpointOptions()
	switch s.wire() {
	case wireResponses:
		return asWire(responses.New(options))
	case wireAnthropic:
		return asWire(anthropic.New(options))
	case wireGemini:
		return asWire(gemini.New(options))
	}
	return asWire(openai.New(options))
}

func (s *settings) endpointOptions() endpoint.Options {
	if s.Endpoint == offlineEndpoint {
		return endpoint.Options{BaseURL: offlineURL, HTTP: offline.New(offline.Options{})}
	}
	return endpoint.Options{
		BaseURL: s.Endpoint, Key: s.key.value, FirstToken: s.FirstToken, NextToken: s.NextToken,
		Session: s.newSession(), HTTP: s.transport,
	}
}

// newSession returns what requests say of their story; nil: nothing.
func (s *settings) newSession() *endpoint.Session {
	switch {
	case s.session != "" && s.Router != noRouter:
		return endpoint.NewSession(s.Router, s.session, s.LowPriority)
	case s.LowPriority:
		return endpoint.NewSession(noRouter, "", true)
	}
	return nil
}

// serverClient returns a client for addresses of the server outside of its API.
func (s *settings) serverClient() (*endpoint.Client, error) {
	suffix := map[string]string{
		wireChat: "/chat/completions", wireResponses: "/responses",
		wireAnthropic: "/messages",
	}[s.wire()]
	return endpoint.New(s.endpointOptions(), endpoint.API{
		Example: "http://localhost:8000/v1", Suffix: suffix,
		Header: endpoint.Bearer,
	})
}

// asWire converts a client to the interface. After an error the interface is nil.
func asWire[C model.Wire](client C, err error) (model.Wire, error) {
	if err != nil {
		return nil, err
	}
	return client, nil
}
