package servers

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "regenerate the part of docs/servers.md")

// TestDocument: the generated part of docs/servers.md is that of the table.
func TestDocument(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "servers.md")
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const mark, end = "servers -update -->\n", "<!-- end -->"
	before, rest, marked := strings.Cut(string(page), mark)
	part, after, ended := strings.Cut(rest, end)
	if !marked || !ended {
		t.Fatal("docs/servers.md has no marks of its generated part")
	}
	want := "\n" + Load().Markdown(32768) + "\n"
	if *update {
		if err := os.WriteFile(path, []byte(before+mark+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		part = want
	}
	if diff := cmp.Diff(want, part); diff != "" {
		t.Errorf("docs/servers.md differs from the table; regenerate it with `go test ./model/servers -update` "+
			"(-want +got):\n%s", diff)
	}
}

// TestNamesOfModelsTellTheFamily: the family is found by names as hubs, servers and users write them.
func TestNamesOfModelsTellTheFamily(t *testing.T) {
	t.Parallel()
	table := Load()
	for name, want := range map[string]string{
		"Qwen/Qwen3-32B": "Qwen 3", "qwen3:32b": "Qwen 3", "Qwen3-235B-A22B-Thinking-2507": "Qwen 3",
		"qwen3-30b-a3b-instruct-2507":       "Qwen 3 Instruct",
		"Qwen/Qwen3-Coder-30B-A3B-Instruct": "Qwen 3 Coder", "qwen3-coder:30b": "Qwen 3 Coder",
		"Qwen3.5-35B-A3B":     "Qwen 3.5 and later",
		"qwen2.5:7b-instruct": "Qwen 2.5", "Qwen/QwQ-32B": "QwQ", "NousResearch/Hermes-3-Llama-3.1-8B": "Hermes",
		"Salesforce/Llama-xLAM-2-8b-fc-r":   "xLAM",
		"meta-llama/Llama-3.3-70B-Instruct": "Llama 3.1 to 3.3", "llama3.1": "Llama 3.1 to 3.3",
		"nvidia/Llama-3_3-Nemotron-Super-49B":       "",
		"meta-llama/Llama-4-Scout-17B-16E-Instruct": "Llama 4", "openai/gpt-oss-20b": "gpt-oss",
		"gpt-oss:120b": "gpt-oss",
		"deepseek-ai/DeepSeek-R1-Distill-Qwen-32B": "DeepSeek R1 distilled",
		"deepseek-ai/DeepSeek-R1-0528":             "DeepSeek R1", "DeepSeek-V3-0324": "DeepSeek V3",
		"deepseek-ai/DeepSeek-V3.1": "DeepSeek V3.1", "DeepSeek-V3.2-Exp": "DeepSeek V3.2",
		"zai-org/GLM-4.6": "GLM 4.5 and 4.6", "GLM-4.7-Flash": "GLM 4.7 and 5",
		"moonshotai/Kimi-K2-Instruct": "Kimi K2", "moonshotai/Kimi-K2-Thinking": "Kimi K2 Thinking",
		"mistralai/Mistral-Small-3.2-24B": "Mistral, Devstral, Ministral, Mixtral",
		"mistral-nemo":                    "Mistral, Devstral, Ministral, Mixtral", "magistral:24b": "Magistral",
		"ibm-granite/granite-4.0-h-small": "Granite 4", "granite3.3:8b": "Granite 3",
		"google/gemma-3-27b-it": "Gemma 2 and 3", "gemma4:latest": "Gemma 4",
		"google/functiongemma-270m-it": "FunctionGemma", "LiquidAI/LFM2-8B-A1B": "LFM2",
		"/models/Qwen3-8B-Q4_K_M.gguf": "Qwen 3", "": "", "scripted": "", "gpt-4o": "",
	} {
		got := ""
		if f := table.Family(name); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%q is of the family %q, not %q", name, got, want)
		}
	}
}

// TestCommandsOfFamiliesAreComplete: every command of every family is complete, and names the family's parsers.
func TestCommandsOfFamiliesAreComplete(t *testing.T) {
	t.Parallel()
	table := Load()
	if len(table.Servers) != 5 {
		t.Errorf("%d servers", len(table.Servers))
	}
	families := []*Family{nil}
	for i := range table.Families {
		families = append(families, &table.Families[i])
	}
	for i := range table.Servers {
		s := &table.Servers[i]
		if len(s.Sources) == 0 || s.Endpoint == "" {
			t.Errorf("%s has no source or no address", s.Name)
		}
		for _, f := range families {
			for _, model := range []string{"a/model", UnknownModel} {
				start := s.Start(model, f, 4711)
				commands := strings.Join(start.Commands, "\n")
				if strings.ContainsAny(commands, "{}") || !strings.Contains(commands, model) ||
					!strings.Contains(commands, "4711") || strings.Contains(commands, "  ") {
					t.Errorf("%s: %s", s.Name, commands)
				}
				if f != nil {
					for _, parser := range []string{
						f.Parsers[s.Name].Tools, f.Parsers[s.Name].Reasoning,
						f.Parsers[s.Name].Template,
					} {
						if !strings.Contains(commands+" ", " "+parser) {
							t.Errorf("%s lacks %s: %s", s.Name, parser, commands)
						}
					}
				}
				if s.Name == "vLLM" && !regexp.MustCompile(`--tool-call-parser [\w-]+`).MatchString(commands) {
					t.Errorf("vLLM without a parser refuses tools: %s", commands)
				}
			}
		}
	}
}

// TestEveryFamilyIsReached: no earlier family matches the name of a later one.
func TestEveryFamilyIsReached(t *testing.T) {
	t.Parallel()
	table := Load()
	reached := map[string]bool{}
	for _, name := range []string{
		"hermes-4", "qwen3-coder", "qwen3-instruct", "qwen3.6", "r1-distill-llama", "qwen3", "qwq", "qwen2.5", "xlam",
		"llama-4", "llama3.2", "deepseek-v4",
		"deepseek-v3.2", "deepseek-v3.1", "deepseek-v3", "deepseek-r1", "glm-5", "glm-4.5-air", "gpt-oss", "kimi-k2.5",
		"kimi-k2", "minimax-m2", "magistral",
		"devstral", "granite-4", "granite-20b-functioncalling", "granite-3.1", "functiongemma", "gemma-4", "gemma-2",
		"phi-4-mini", "command-a", "hunyuan-a13b",
		"ernie-4.5-21b-a3b-thinking", "seed-oss", "olmo-3-32b-think", "olmo-3-7b", "step-3", "mimo", "longcat-flash",
		"lfm2", "apertus", "gigachat3", "jamba", "internlm2_5",
	} {
		if f := table.Family(name); f != nil {
			reached[f.Name] = true
		}
	}
	for i := range table.Families {
		if !reached[table.Families[i].Name] {
			t.Errorf("no name reaches %s", table.Families[i].Name)
		}
	}
}

func TestBadTablesAreRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"servers: [{name: A, colour: red}]", "families: [{name: F, models: '('}]",
		"families: [{name: F, models: f, unless: '['}]",
		"families: [{name: F, models: f, parsers: {B: {tools: x}}}]", "- a list",
	} {
		if _, err := parse([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}
