package doctor

import (
	"net/http"
	"slices"

	"annotator"
	"annotator/model"
)

// remedy is what would help, on any server.
type remedy string

// The remedies.
const (
	toolCalls   remedy = "have the server read its model's tool calls"
	moreContext remedy = "give the model more context"
	cacheReport remedy = "have the server report what it found in its cache"
	noParser    remedy = "have no reasoning parser for a model that shows no thoughts, or the one of the model"
	noThoughts  remedy = "have the model answer without thoughts, or take another model"
	prefixCache remedy = "have the server keep the beginnings of prompts in its cache"

	steadyTemplate remedy = "take a chat template that begins every prompt with the same text"

	template  remedy = "take a chat template that renders system, user, assistant and tool messages"
	reasoning remedy = "have the server tell the model's thoughts from its text"
)

// against returns the remedy for a request that failed. It is empty if the fault has another cause: a filter, a broken
// model, or a server that is busy or unreachable.
func (r remedy) against(f *model.Fault) remedy {
	switch f.Code {
	case model.CodeStuck, model.CodeDamaged, model.CodeThinking, model.CodeEcho, model.CodeRunOn, model.CodeBroken:
		return ""
	}
	switch {
	case f.Filtered, f.NotAnAPI, f.Param == model.ParamModel:
		return ""
	case f.Kind == annotator.Misconfigured, f.Kind == annotator.Refused, f.Kind == annotator.Malformed:
		return r
	case f.Status == http.StatusInternalServerError: // some servers answer so when a template fails
		return r
	}
	return ""
}

// Remedy is what would help with some of the findings.
type Remedy struct {
	Does   string   `json:"does"`   // what it achieves
	Checks []string `json:"checks"` // the names of the findings
	Starts []Start  `json:"start"`  // for the server that was recognised, otherwise for each; none for a hosted service
}

// Start is what a server is to be started with.
type Start struct {
	Server string `json:"server"`
	With   string `json:"with"`
}

// remedies returns the remedies for findings, each once.
func (s Server) remedies(findings []Finding) []Remedy {
	var all []Remedy
	for i := range findings {
		f := &findings[i]
		if f.remedy == "" {
			continue
		}
		at := slices.IndexFunc(all, func(r Remedy) bool { return r.Does == string(f.remedy) })
		if at < 0 {
			at, all = len(all), append(all, Remedy{Does: string(f.remedy), Starts: s.starts(f.remedy)})
		}
		all[at].Checks = append(all[at].Checks, f.Check)
	}
	return all
}

func (s Server) starts(wanted remedy) (all []Start) {
	for _, k := range kinds {
		if s.Name == "" || s.kind == k {
			all = append(all, Start{k.name, k.options[wanted]})
		}
	}
	return all
}
