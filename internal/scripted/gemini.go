package scripted

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"annotator"
)

// gemini is the wire of Google's generateContent. It refuses requests as that API does. Causes are an empty part, a
// wrong number of results, and names of tools in a mode that takes none. Like the models from Gemini 3 on, it also
// refuses a reply with calls whose first call has no signature.
type gemini struct{}

type generateRequest struct {
	Contents   []geminiContent `json:"contents"`
	System     *geminiContent  `json:"systemInstruction"`
	Tools      []geminiTools   `json:"tools"`
	ToolConfig struct {
		Calling struct {
			Mode    string   `json:"mode"`
			Allowed []string `json:"allowedFunctionNames"`
		} `json:"functionCallingConfig"`
	} `json:"toolConfig"`
	Generation struct {
		MaxTokens   int             `json:"maxOutputTokens"`
		Temperature json.RawMessage `json:"temperature"`
		Seed        json.RawMessage `json:"seed"`
	} `json:"generationConfig"`
}

type geminiTools struct {
	Declarations []struct {
		Name        string          `json:"name"`
		Description string          `json:"description"`
		Schema      json.RawMessage `json:"parametersJsonSchema"`
	} `json:"functionDeclarations"`
}

type geminiContent struct {
	Role  string       `json:"role"`
	Parts []geminiPart `json:"parts"`
}

// geminiPart is a part of a request, or of an answer.
type geminiPart struct {
	Text      *string       `json:"text,omitempty"`
	Thought   bool          `json:"thought,omitempty"`
	Call      *geminiCall   `json:"functionCall,omitempty"`
	Signature string        `json:"thoughtSignature,omitempty"`
	Result    *geminiResult `json:"functionResponse,omitempty"`
}

type geminiCall struct {
	ID   string          `json:"id,omitempty"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
}

type geminiResult struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Response struct {
		Output string `json:"output"`
	} `json:"response"`
}

// chat reads the model, and whether a stream is wanted, from the path.
func (gemini) chat(r *http.Request, body []byte) ([]byte, error) {
	name, method, _ := strings.Cut(r.PathValue("call"), ":")
	stream := method == "streamGenerateContent"
	switch {
	case !stream && method != "generateContent":
		return nil, fmt.Errorf("method %q is not known", method)
	case stream && r.URL.Query().Get("alt") != "sse":
		return nil, errors.New("this server streams with alt=sse only")
	}
	var wire generateRequest
	if err := readStrictly(body, &wire); err != nil {
		return nil, err
	}
	c, err := wire.conversation()
	if err != nil {
		return nil, err
	}
	c.model, c.stream = name, stream
	return c.body(), nil
}

func (r *generateRequest) conversation() (*conversation, error) {
	g := &r.Generation
	c := &conversation{
		maxTokens: g.MaxTokens, temperature: g.Temperature, seed: g.Seed,
		allowed: r.ToolConfig.Calling.Allowed,
	}
	if err := c.choose(r.ToolConfig.Calling.Mode); err != nil {
		return nil, err
	}
	if r.System != nil {
		c.messages = append(c.messages, annotator.Message{Role: annotator.RoleSystem, Content: r.System.text()})
	}
	for _, list := range r.Tools {
		for _, t := range list.Declarations {
			c.tools = append(c.tools, annotator.ToolDefinition{
				Name: t.Name, Description: t.Description,
				Schema: t.Schema,
			})
		}
	}
	for i := range r.Contents {
		if err := r.Contents[i].check(); err != nil {
			return nil, fmt.Errorf("contents[%d]: %w", i, err)
		}
		c.messages = append(c.messages, r.Contents[i].canonical()...)
	}
	return c, r.checkResults()
}

// choose converts a calling mode to the tool choice of chat completions.
func (c *conversation) choose(mode string) error {
	switch mode {
	case "":
	case "AUTO", "VALIDATED":
		c.choice = "auto"
	case "ANY":
		c.choice = "required"
	case "NONE":
		c.choice = "none"
	default:
		return fmt.Errorf("mode %q is not known", mode)
	}
	if len(c.allowed) > 0 && mode != "ANY" && mode != "VALIDATED" {
		return errors.New("allowed_function_names can be set in the modes ANY and VALIDATED only")
	}
	return nil
}

func (c *geminiContent) text() string {
	var text strings.Builder
	for i := range c.Parts {
		if p := &c.Parts[i]; p.Text != nil {
			text.WriteString(*p.Text)
		}
	}
	return text.String()
}

// canonical puts each tool result in a separate message, as in chat completions.
func (c *geminiContent) canonical() []annotator.Message {
	said := annotator.Message{Role: annotator.RoleUser, Content: c.text()}
	if c.Role == "model" {
		said.Role = annotator.RoleAssistant
	}
	var all []annotator.Message
	for i := range c.Parts {
		switch p := &c.Parts[i]; {
		case p.Result != nil:
			result := annotator.Message{
				Role: annotator.RoleTool, Content: p.Result.Response.Output,
				ToolCallID: p.Result.ID,
			}
			all = append(all, result)
		case p.Call != nil:
			said.ToolCalls = append(said.ToolCalls, annotator.ToolCall{
				ID: p.Call.ID, Name: p.Call.Name,
				Arguments: string(p.Call.Args),
			})
		}
	}
	if len(all) == 0 || said.Content != "" {
		all = append(all, said)
	}
	return all
}

// refusal returns the error in the form of Google's APIs.
func (gemini) refusal(no *refusal) any {
	status, message := "INVALID_ARGUMENT", no.Message
	switch {
	case no.prompt > 0:
		message = fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).",
			no.prompt, no.limit)
	case no.Type == "NotFoundError":
		status, message = "NOT_FOUND",
			"models/x is not found for API version v1beta, or is not supported for generateContent."
	}
	return map[string]any{"error": map[string]any{"code": no.Code, "message": message, "status": status}}
}

func (gemini) models(model string, window int) any {
	listed := map[string]any{
		"name": "models/" + model, "version": "001", "displayName": model, "inputTokenLimit": window,
		"outputTokenLimit":           window,
		"supportedGenerationMethods": []string{"generateContent", "countTokens"},
	}
	return map[string]any{"models": []any{listed}}
}

// serveGemini answers POST /v1beta/models/{call}: the method follows the model's name.
func (s *Server) serveGemini(w http.ResponseWriter, r *http.Request) {
	if !strings.HasSuffix(r.PathValue("call"), ":countTokens") {
		s.serve(gemini{})(w, r)
		return
	}
	body, err := readBody(r)
	if err != nil {
		badBody().write(w, gemini{})
		return
	}
	var wire generateRequest
	if err := readStrictly(body, &wire); err != nil {
		badJSON(err).write(w, gemini{})
		return
	}
	count := 0
	for i := range wire.Contents {
		count += Tokens(wire.Contents[i].text())
	}
	writeJSON(w, http.StatusOK, map[string]int{"totalTokens": count})
}
