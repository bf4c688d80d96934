package main

import (
	"io"
	"io/fs"
	"net/url"
	"os"
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
	offlineEndpoint = "offline"           // names the embedded model as an endpoint
	offlineURL      = "http://offline/v1" // the embedded model's address; no request to it leaves the process
	offlineHint     = "offline model: an embedded baseline that finds names by rules; name a server with --endpoint for real annotation"
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
	switch {
	case c.Endpoint == offlineEndpoint && wire != wireChat:
		return annotator.Errorf(annotator.Misused, "the embedded model speaks the wire %s, not %s", wireChat, wire).
			WithAdvice("leave out --wire, or name a server with --endpoint")
	case wire == wireAnthropic && c.Curator.Prompt == curator.Replaced:
		return annotator.Errorf(annotator.Misused, "the wire %s has no separate prompt for the curator: that API requires the tools of earlier calls", wire).
			WithAdvice("leave out --curator-prompt; the curator then shares the prompt of the scenes")
	}
	return nil
}

// wire returns the name of the wire in use: the configured one, else the one that the endpoint's address implies.
func (c *Config) wire() string {
	if c.Wire != wireAuto {
		return c.Wire
	}
	u, err := url.Parse(strings.TrimSpace(c.Endpoint))
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

// connect returns a client of the endpoint, and prints what the user should know about it. It sends no request.
func (s *settings) connect(print func(string)) (model.Wire, error) {
	wire, err := s.newWire()
	if err == nil && s.key.warning != "" {
		print(s.key.warning)
	}
	if err == nil && s.Endpoint == offlineEndpoint {
		print(offlineHint)
	}
	return wire, err
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
	return endpoint.Options{BaseURL: s.Endpoint, Key: s.key.value}
}

// asWire converts a client to the interface. After an error the interface is nil.
func asWire[C model.Wire](client C, err error) (model.Wire, error) {
	if err != nil {
		return nil, err
	}
	return client, nil
}

// keySetting names the API key among the settings. It has no flag: other users of the machine can read command lines.
const keySetting = "api-key"

// apiKey is the API key and where it comes from. The key itself is never printed.
type apiKey struct {
	value   string
	source  string
	warning string // about the permissions of its file
}

// readKey reads the key from the file that --api-key-file names, else from the environment, else from the configured
// file.
func (a *app) readKey(c *Config, fileSource string) (apiKey, error) {
	if !strings.HasPrefix(fileSource, "flag") {
		for _, name := range keyVariables(c.wire()) {
			if value := a.getenv(name); value != "" {
				return apiKey{value: value, source: "environment " + name}, nil
			}
		}
	}
	if c.APIKeyFile == "" {
		return apiKey{}, nil
	}
	return readKeyFile(c.APIKeyFile)
}

// keyVariables returns the variables that may hold the key. An OpenAI key is not sent to another vendor.
func keyVariables(wire string) []string {
	names := environment(keySetting)
	if wire == wireAnthropic || wire == wireGemini {
		return names[:1]
	}
	return names
}

// maxKey is the most that is read of a key file, in bytes.
const maxKey = 64 << 10

func readKeyFile(path string) (apiKey, error) {
	text, mode, err := readPrefix(path, maxKey)
	if err != nil {
		return apiKey{}, annotator.Errorf(annotator.Misused, "read the API key: %w", err).WithAdvice("name the file that holds it with --api-key-file")
	}
	key := apiKey{value: strings.TrimSpace(string(text)), source: "file " + path}
	if key.value == "" {
		return apiKey{}, annotator.Errorf(annotator.Misused, "the API key file %s is empty", path)
	}
	if mode.Perm()&0o077 != 0 {
		key.warning = "other users can read " + path + "; `chmod 600 " + quoted(path) + "` makes it private"
	}
	return key, nil
}

// readPrefix reads at most so many bytes of a file, and its mode.
func readPrefix(path string, limit int64) ([]byte, fs.FileMode, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	return text, info.Mode(), err
}
