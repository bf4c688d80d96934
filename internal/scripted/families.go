package scripted

import (
	"slices"

	"annotator"
)

// Template renders a conversation as a chat template does. A message of the role RoleTools with the tools is the first.
// The error is the text of a refusal. A Template must not change the messages.
type Template func(messages []annotator.Message) ([]annotator.Message, error)

// RoleTools is the role of the message with the list of tools.
const RoleTools annotator.Role = "tools"

// Families are the templates of some families of models, by what each omits or refuses.
func Families() map[string]Template {
	return map[string]Template{
		"whole":          func(all []annotator.Message) ([]annotator.Message, error) { return all, nil },
		"Llama 3.1":      oneCall,
		"gpt-oss":        gptOSS,
		"GigaChat 3":     edited(firstCallOnly),
		"Mistral Nemo":   mistralNemo,
		"Phi-3.5":        edited(func(m *annotator.Message) { m.ToolCalls = nil }, RoleTools, annotator.RoleTool),
		"LFM2":           edited(func(m *annotator.Message) { m.ToolCalls = nil }),
		"DeepSeek-V3.1":  edited(func(*annotator.Message) {}, RoleTools),
		"drops results":  edited(func(*annotator.Message) {}, annotator.RoleTool),
		"drops system":   edited(func(*annotator.Message) {}, annotator.RoleSystem),
		"no tools, loud": refusesTools,
	}
}

// edited omits the messages of some roles, and edits the others.
func edited(edit func(*annotator.Message), dropped ...annotator.Role) Template {
	return func(all []annotator.Message) (rendered []annotator.Message, err error) {
		for i := range all {
			if m := all[i]; !slices.Contains(dropped, m.Role) {
				edit(&m)
				rendered = append(rendered, m)
			}
		}
		return rendered, nil
	}
}

func firstCallOnly(m *annotator.Message) { m.ToolCalls = m.ToolCalls[:min(len(m.ToolCalls), 1)] }

// rendering is the failure of a template, with the text of a server.
type rendering string

func (r rendering) Error() string { return string(r) }

// oneCall refuses several calls in a message, as Llama 3.1 and 3.2 do, and omits text in a message with a call.
func oneCall(all []annotator.Message) ([]annotator.Message, error) {
	for i := range all {
		if len(all[i].ToolCalls) > 1 {
			return nil, rendering("\n------------\nWhile executing CallExpression at line 85, column 28 in source:\n" +
				"...This model only supports single tool-calls at once!\n" +
				"Error: Jinja Exception: This model only supports single tool-calls at once!")
		}
	}
	return edited(func(m *annotator.Message) {
		if len(m.ToolCalls) > 0 {
			m.Content = ""
		}
	})(all)
}

// gptOSS renders the first call of a message. It renders text with a call only until an answer without calls follows.
func gptOSS(all []annotator.Message) (rendered []annotator.Message, err error) {
	for i := range all {
		m := all[i]
		answered := slices.ContainsFunc(all[i:], func(later annotator.Message) bool {
			return later.Role == annotator.RoleAssistant && len(later.ToolCalls) == 0
		})
		if len(m.ToolCalls) > 0 && answered {
			m.Content = ""
		}
		firstCallOnly(&m)
		rendered = append(rendered, m)
	}
	return rendered, nil
}

// mistralNemo renders the tools before the last message of the user, and the system prompt in that message if it is the
// last of all.
func mistralNemo(all []annotator.Message) (rendered []annotator.Message, err error) {
	last := len(all) - 1
	for last >= 0 && all[last].Role != annotator.RoleUser {
		last--
	}
	system := ""
	for i := range all {
		m := all[i]
		switch {
		case m.Role == annotator.RoleSystem:
			system = m.Content + "\n\n"
			continue
		case m.Role == RoleTools:
			continue
		case i == last:
			for _, t := range all[:min(len(all), 2)] {
				if t.Role == RoleTools {
					rendered = append(rendered, t)
				}
			}
			if i == len(all)-1 {
				m.Content = system + m.Content
			}
		case len(m.ToolCalls) > 0:
			m.Content = ""
		}
		rendered = append(rendered, m)
	}
	return rendered, nil
}

// refusesTools fails for a request with tools, with the text of llama.cpp.
func refusesTools(all []annotator.Message) ([]annotator.Message, error) {
	if len(all) > 0 && all[0].Role == RoleTools {
		return nil, rendering("Unable to generate parser for this template. Automatic parser generation " +
			"failed: no tools")
	}
	return all, nil
}

// renderWith renders the whole prompt as a template does.
func (p *prompt) renderWith(t Template) {
	var all []annotator.Message
	if tools := p.fields["tools"]; len(tools) > 0 {
		all = append(all, annotator.Message{Role: RoleTools, Content: string(tools)})
	}
	for i := range p.messages {
		all = append(all, p.messages[i].Message)
	}
	rendered, refused := t(all)
	var r renderer
	for i := range rendered {
		r.message(&rendered[i])
	}
	r.open(annotator.RoleAssistant)
	p.end, p.fresh, p.shared, p.refused = r.chain, r.blocks, 0, refused
}

// templateRefusal is a refusal of a chat template, with the text of llama.cpp.
func templateRefusal(text string) *refusal {
	no := badRequest("%s", text)
	no.Type = "invalid_request_error"
	return no
}
