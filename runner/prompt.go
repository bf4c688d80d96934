package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"annotator"
	"annotator/context/prompt"
	"annotator/model"
	"annotator/policy"
	"annotator/snapshot"
	"annotator/storage"
	"annotator/tools"
)

// templateSetting is the prefix of the names of settings that change a question, and not the system prompt.
const templateSetting = "prompts "

// promptSettings returns the user's choices, by the name of the setting, for the system prompt, the list of tools and
// the other questions. Defaults are left out. Prompt and tools are the same whether denials are observed or enforced.
func (s *session) promptSettings() map[string]string {
	settings := map[string]string{}
	for _, file := range slices.Sorted(maps.Keys(s.config.Identity.Files)) {
		settings["prompts"] += file + " " + s.config.Identity.Files[file] + "\n"
	}
	for file, sum := range s.config.Identity.Templates {
		settings[templateSetting+file] = sum
	}
	if kinds := s.config.Kinds; kinds != nil {
		settings["kinds"] = strings.Join(kinds, ", ")
	}
	if fields := s.config.Fields; fields != nil {
		settings["schema"] = annotator.EncodeJSON(fields)
	}
	if s.config.Governance != policy.Off {
		settings["governance"] = "on"
	}
	if p := s.config.Policy; s.config.Governance != policy.Off && p != nil && p.Hash() != "" {
		settings["governance-policy"] = p.Hash()
	}
	if _, offered := s.tools.Tool(tools.SummonName); !offered {
		settings["snapshot-tools"] = "off"
	}
	return settings
}

// SystemPrompt returns the system prompt for a story of a title.
func (c *Config) SystemPrompt(title string) string {
	return prompt.Compose(c.Identity, prompt.Runtime{
		Title: title, Kinds: c.Kinds, Fields: c.Fields, Intents: c.intents(),
	})
}

// findPrompt sets the system prompt and the tools, and reports whether they have changed. If the user's choices are the
// same, the program's version has changed them, and the run goes on. The user has to confirm changes of the choices. A
// workaround for the server's template holds until the server changes.
func (s *session) findPrompt(ctx context.Context, run *storage.RunStatus, newModel bool) (changed bool, err error) {
	definitions := tools.EncodeDefinitions(s.tools.Definitions())
	settings := s.promptSettings()
	encoded, err := json.Marshal(settings)
	if err != nil {
		return false, err
	}
	system := s.config.SystemPrompt(run.Corpus.Title)
	now := storage.Prompt{SystemPrompt: system, Tools: definitions, Settings: string(encoded)}
	if !newModel {
		now.Workarounds = run.Prompt.Workarounds
	}
	now.Hash = storage.HashPrompt(system, definitions, now.Workarounds)
	if err := s.usePrompt(&now); err != nil {
		return false, err
	}
	if err := s.checkPrompt(&run.Prompt, &now, settings); err != nil {
		return false, err
	}
	return run.Prompt.Hash != now.Hash, s.Store.Journal.UsePrompt(ctx, now)
}

// usePrompt sets the prompt of later requests.
func (s *session) usePrompt(p *storage.Prompt) error {
	prefix, err := snapshot.Prefix(p, s.Client.Wire)
	if err == nil {
		s.prompt, s.window.Prefix = *p, prefix
		s.Client.Capabilities.Workarounds |= model.ParseRendering(p.Workarounds)
	}
	return err
}

// recordWorkarounds records those that change how messages are rendered, before a request is sent so. They begin an
// epoch and hold for later processes.
func (s *session) recordWorkarounds(ctx context.Context) error {
	s.window.Rerendered()
	p := &s.prompt
	if p.Workarounds = s.Client.Capabilities.Workarounds.Rendering(); p.Hash == "" {
		return nil // the prompt is not in force yet, and is recorded with them
	}
	p.Hash = storage.HashPrompt(p.SystemPrompt, p.Tools, p.Workarounds)
	return s.Store.Journal.UsePrompt(ctx, *p)
}

// checkPrompt decides whether a run may go on with another prompt.
func (s *session) checkPrompt(before, now *storage.Prompt, settings map[string]string) error {
	if before.Hash == "" || s.config.Accept["prompt"] {
		return nil
	}
	recorded := map[string]string{}
	if err := json.Unmarshal([]byte(before.Settings), &recorded); err != nil {
		return err
	}
	what := "the questions to the summariser or the curator have changed since this run began"
	changed := changedSettings(recorded, settings)
	changedText := before.SystemPrompt != now.SystemPrompt || before.Tools != now.Tools
	if changedText {
		what = fmt.Sprintf("the system prompt or the tools have changed since this run began (%.8s, now %.8s)",
			before.Hash, now.Hash)
	} else { // the other settings have the same effect as before
		changed = slices.DeleteFunc(changed, func(name string) bool {
			return !strings.HasPrefix(name, templateSetting)
		})
	}
	if len(changed) > 0 {
		return annotator.Errorf(annotator.Misused, "%s, by the settings %s", what, strings.Join(changed, ", ")).
			WithReason(annotator.ReasonPromptChanged)
	}
	if changedText {
		s.warn("this version of annotator has another system prompt or other tools than the run began with: " +
			"the model is sent its window anew once, and the run goes on")
	}
	return nil
}

// changedSettings names the settings whose value is not the recorded one.
func changedSettings(recorded, now map[string]string) []string {
	names := maps.Clone(now)
	maps.Copy(names, recorded)
	return slices.DeleteFunc(slices.Sorted(maps.Keys(names)), func(name string) bool {
		return recorded[name] == now[name]
	})
}
