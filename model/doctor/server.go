package doctor

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

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
	owner := ownerOf(ctx, p.Beside)
	if owner == "annotator" {
		return Server{Name: "the embedded model"}
	}
	for _, k := range kinds {
		if k.owner == owner {
			version, _ := k.versionOf(ctx, p.Beside)
			return Server{Name: k.name, Version: version, kind: k}
		}
	}
	for _, k := range kinds {
		if version, known := k.versionOf(ctx, p.Beside); known {
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

func ownerOf(ctx context.Context, beside *endpoint.Client) string {
	var list struct {
		Data []struct {
			Owner string `json:"owned_by"`
		}
	}
	if !ask(ctx, beside, beside.BaseURL()+"/models", &list) || len(list.Data) == 0 {
		return ""
	}
	return list.Data[0].Owner
}

func (k *kind) versionOf(ctx context.Context, beside *endpoint.Client) (version string, known bool) {
	err := beside.Fetch(ctx, &endpoint.Call{URL: root(beside) + k.path}, func(body []byte) error {
		version, known = k.version(body)
		return nil
	})
	return version, err == nil && known
}

// root is the address of what a server has beside its API.
func root(beside *endpoint.Client) string { return strings.TrimSuffix(beside.BaseURL(), "/v1") }

// ask reads an object, and reports whether there is one.
func ask(ctx context.Context, beside *endpoint.Client, address string, into any) bool {
	return beside.Fetch(ctx, &endpoint.Call{URL: address}, func(body []byte) error { return json.Unmarshal(body, into) }) == nil
}

var dotted = regexp.MustCompile(`^\d+\.\d+[\w.+-]{0,40}$`)

// dottedVersion reads {"version":"1.2.3"}.
func dottedVersion(body []byte) (string, bool) {
	var found struct{ Version string }
	if json.Unmarshal(body, &found) != nil || !dotted.MatchString(found.Version) {
		return "", false
	}
	return found.Version, true
}

type props struct {
	Build    string `json:"build_info"`
	Settings *struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
}

func propsBuild(body []byte) (string, bool) {
	var found props
	if json.Unmarshal(body, &found) != nil || found.Settings == nil {
		return "", false
	}
	return found.Build, true
}

type studio struct {
	Data []struct {
		ID      string
		State   *string
		Context int `json:"loaded_context_length"`
	}
}

func studioModels(body []byte) (string, bool) {
	var found studio
	return "", json.Unmarshal(body, &found) == nil && len(found.Data) > 0 && found.Data[0].State != nil
}

// drops reports whether the server silently shortens a prompt that is too long.
func (s Server) drops() bool { return s.kind != nil && s.kind.drops }

// loadedContext is the context of the loaded model, where the list of models does not have it; 0 where it is not known.
func (s Server) loadedContext(ctx context.Context, p *Endpoint, model string) int {
	if s.kind == nil || s.kind.context == nil {
		return 0
	}
	return s.kind.context(ctx, p.Beside, model)
}

func propsContext(ctx context.Context, beside *endpoint.Client, _ string) int {
	var found props
	if !ask(ctx, beside, root(beside)+"/props", &found) || found.Settings == nil {
		return 0
	}
	return found.Settings.Context
}

func ollamaContext(ctx context.Context, beside *endpoint.Client, model string) int {
	var running struct {
		Models []struct {
			Model   string
			Context int `json:"context_length"`
		}
	}
	_ = ask(ctx, beside, root(beside)+"/api/ps", &running)
	for _, m := range running.Models {
		if m.Model == model || m.Model == model+":latest" {
			return m.Context
		}
	}
	return 0
}

func studioContext(ctx context.Context, beside *endpoint.Client, model string) int {
	var found studio
	_ = ask(ctx, beside, root(beside)+"/api/v0/models", &found)
	for _, m := range found.Data {
		if m.ID == model {
			return m.Context
		}
	}
	return 0
}
