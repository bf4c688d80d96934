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
	kind    *kind  // nil where a user cannot start it
}

// hosted are the hosts of services.
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
		return Server{Name: "the embedded model"}
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

// info is what servers tell of themselves, each at its own path and with some of these fields.
type info struct {
	Version  string
	Build    string `json:"build_info"`
	Settings *struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
	Models []struct { // Ollama's that are loaded
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

// ask reads what there is at an address, as far as it can be read.
func ask(ctx context.Context, beside *endpoint.Client, address string) (told info) {
	_ = beside.Fetch(ctx, &endpoint.Call{URL: address}, func(body []byte) error { return json.Unmarshal(body, &told) })
	return told
}

var dotted = regexp.MustCompile(`^\d+\.\d+[\w.+-]{0,40}$`)

// dottedVersion is that of {"version":"1.2.3"}.
func dottedVersion(told info) (version string, known bool) {
	version = dotted.FindString(told.Version)
	return version, version != ""
}

func propsBuild(told info) (string, bool) { return told.Build, told.Settings != nil }

func studioModels(told info) (string, bool) {
	return "", len(told.Data) > 0 && told.Data[0].State != nil
}

// askFor is for how long a run waits for what a server tells of itself. Some proxies never answer at an address that
// they do not know.
const askFor = 10 * time.Second

// LoadedContext asks a server that tells the context of the loaded model elsewhere than in its list of models, as
// Ollama does, which drops the beginning of what is longer. It returns 0 where it is not known, or not within ten
// seconds.
func LoadedContext(ctx context.Context, p *Endpoint, name string) int {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	return recognise(ctx, p).loadedContext(ctx, p, name)
}

// loadedContext is the context of the loaded model, where the list of models does not have it; 0 where it is not known.
func (s Server) loadedContext(ctx context.Context, p *Endpoint, name string) int {
	if s.kind == nil || s.kind.context == "" {
		return 0
	}
	told := ask(ctx, p.Beside, p.Beside.ServerURL(s.kind.context))
	if told.Settings != nil {
		return told.Settings.Context
	}
	for _, m := range told.Models {
		if (model.Model{ID: m.Model}).Called(name) {
			return m.Context
		}
	}
	for _, m := range told.Data {
		if m.ID == name {
			return m.Context
		}
	}
	return 0
}
