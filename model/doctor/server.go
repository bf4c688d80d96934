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
	kind    int    // index in kinds; -1 for another known server; meaningless where Name is empty
}

// kinds are the servers that a user can start. The rows of cures have a column for each.
var kinds = [...]struct {
	name    string
	owner   string // of its models, in their list
	path    string // that only this server has
	version func(body []byte) (version string, known bool)
}{
	{"vLLM", "vllm", "/version", dottedVersion},
	{"llama.cpp", "llamacpp", "/props", propsBuild},
	{"Ollama", "library", "/api/version", dottedVersion},
	{"SGLang", "sglang", "/get_server_info", dottedVersion},
	{"LM Studio", "organization_owner", "/api/v0/models", studioModels},
}

// Indices of the kinds that report their context in a way of their own.
const (
	kindLlama  = 1
	kindOllama = 2
	kindStudio = 4
)

// hosted are the hosts of services.
var hosted = [...]string{"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com", "openrouter.ai"}

// recognise identifies the server by the owner in its list of models, otherwise by a path that only one server has.
func recognise(ctx context.Context, p *Endpoint) Server {
	if p.Beside == nil {
		return Server{}
	}
	if u, err := url.Parse(p.Beside.BaseURL()); err == nil && slices.Contains(hosted[:], u.Hostname()) {
		return Server{Name: u.Hostname(), kind: -1}
	}
	owner := ownerOf(ctx, p.Beside)
	if owner == "annotator" {
		return Server{Name: "the embedded model", kind: -1}
	}
	for i := range kinds {
		if kinds[i].owner == owner {
			version, _ := versionOf(ctx, p.Beside, i)
			return Server{Name: kinds[i].name, Version: version, kind: i}
		}
	}
	for i := range kinds {
		if version, known := versionOf(ctx, p.Beside, i); known {
			return Server{Name: kinds[i].name, Version: version, kind: i}
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

func versionOf(ctx context.Context, beside *endpoint.Client, kind int) (version string, known bool) {
	call := endpoint.Call{URL: root(beside) + kinds[kind].path}
	err := beside.Fetch(ctx, &call, func(body []byte) error {
		version, known = kinds[kind].version(body)
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
	var told struct{ Version string }
	if json.Unmarshal(body, &told) != nil || !dotted.MatchString(told.Version) {
		return "", false
	}
	return told.Version, true
}

type props struct {
	Build    string `json:"build_info"`
	Settings *struct {
		Context int `json:"n_ctx"`
	} `json:"default_generation_settings"`
}

func propsBuild(body []byte) (string, bool) {
	var told props
	if json.Unmarshal(body, &told) != nil || told.Settings == nil {
		return "", false
	}
	return told.Build, true
}

type studio struct {
	Data []struct {
		ID      string
		State   *string
		Context int `json:"loaded_context_length"`
	}
}

func studioModels(body []byte) (string, bool) {
	var told studio
	return "", json.Unmarshal(body, &told) == nil && len(told.Data) > 0 && told.Data[0].State != nil
}

// drops reports whether the server silently shortens a prompt that is too long.
func (s Server) drops() bool { return s.Name != "" && s.kind == kindOllama }

// loadedContext is the context of the loaded model, where the list of models does not have it; 0 where it is not known.
func (s Server) loadedContext(ctx context.Context, p *Endpoint, model string) int {
	if s.Name == "" || p.Beside == nil {
		return 0
	}
	switch s.kind {
	case kindLlama:
		return propsContext(ctx, p.Beside)
	case kindOllama:
		return ollamaContext(ctx, p.Beside, model)
	case kindStudio:
		return studioContext(ctx, p.Beside, model)
	}
	return 0
}

func propsContext(ctx context.Context, beside *endpoint.Client) int {
	var told props
	if !ask(ctx, beside, root(beside)+"/props", &told) || told.Settings == nil {
		return 0
	}
	return told.Settings.Context
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
	var told studio
	_ = ask(ctx, beside, root(beside)+"/api/v0/models", &told)
	for _, m := range told.Data {
		if m.ID == model {
			return m.Context
		}
	}
	return 0
}
