package doctor

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"annotator/model"
	"annotator/model/endpoint"
)

// Server is the software that serves the model. The zero Server is unknown.
type Server struct {
	Name    string
	Version string // where it is known
	kind    *kind  // nil if users cannot start it
}

// hosted lists the hosts of services.
var hosted = [...]string{"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "openrouter.ai"}

// recognise identifies the server by the owner in its list of models, otherwise by a path that only one server has.
func recognise(ctx context.Context, p *Endpoint) Server {
	if p.Beside == nil {
		return Server{}
	}
	if u, err := url.Parse(p.Beside.BaseURL()); err == nil && slices.Contains(hosted[:], u.Hostname()) {
		return Server{Name: u.Hostname()}
	}
	owner := ""
	if list := ask(ctx, p.Beside, p.Beside.BaseURL()+"/models"); len(list.Data) > 0 {
		owner = list.Data[0].Owner
	}
	if owner == "annotator" {
		return Server{Name: "the offline model"}
	}
	for _, k := range kinds {
		if k.owner == owner {
			version, _ := k.version(ask(ctx, p.Beside, p.Beside.ServerURL(k.path)))
			return Server{Name: k.name, Version: version, kind: k}
		}
	}
	for _, k := range kinds {
		if version, known := k.version(ask(ctx, p.Beside, p.Beside.ServerURL(k.path))); known {
			return Server{Name: k.name, Version: version, kind: k}
		}
	}
	return Server{}
}

// describe names the server.
func (s Server) describe() string {
	if s.Name == "" {
		return "a server that is not recognised"
	}
	return strings.TrimSpace(s.Name + " " + s.Version)
}

// info is a server's description of itself. Each server has its own path and some of these fields.
type info struct {
	Version  string
	Build    string `json:"build_info"`
	Settings *struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Models []struct { // Ollama's loaded models
		Model   string
		Context int `json:"context_length"`
	}
	Data []struct {
		ID      string
		Owner   string  `json:"owned_by"`
		State   *string // LM Studio's
		Context int     `json:"loaded_context_length"`
	}
}

// ask reads the JSON at a URL. The result is empty if that fails.
func ask(ctx context.Context, beside *endpoint.Client, address string) (found info) {
	_ = beside.Fetch(ctx, &endpoint.Call{URL: address}, func(body []byte) error { return json.Unmarshal(body, &found) })
	return found
}

var dotted = regexp.MustCompile(`^\d+\.\d+[\w.+-]{0,40}$`)

// dottedVersion returns the version in {"version":"1.2.3"}.
func dottedVersion(found info) (version string, known bool) {
	version = dotted.FindString(found.Version)
	return version, version != ""
}

func propsBuild(found info) (string, bool) { return found.Build, found.Settings != nil }

func studioModels(found info) (string, bool) {
	return "", len(found.Data) > 0 && found.Data[0].State != nil
}

// askFor is the time limit for a server's description of itself. Some proxies never answer at an unknown path.
const askFor = 10 * time.Second

// LoadedContext returns the context of the loaded model if the server does not have it in its list of models. Ollama is
// such a server, and drops the beginning of a longer prompt. The result is 0 if the context is unknown, or the server
// does not answer within ten seconds.
func LoadedContext(ctx context.Context, p *Endpoint, name string) int {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	return recognise(ctx, p).loadedContext(ctx, p, name)
}

// loadedContext returns the context of the loaded model if the list of models does not have it; 0 if it is unknown.
func (s Server) loadedContext(ctx context.Context, p *Endpoint, name string) int {
	if s.kind == nil || s.kind.context == "" {
		return 0
	}
	found := ask(ctx, p.Beside, p.Beside.ServerURL(s.kind.context))
	if found.Settings != nil {
		return found.Settings.Context
	}
	for _, m := range found.Models {
		if (model.Model{ID: m.Model}).Called(name) {
			return m.Context
		}
	}
	for _, m := range found.Data {
		if m.ID == name {
			return m.Context
		}
	}
	return 0
}
