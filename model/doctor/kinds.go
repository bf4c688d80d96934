package doctor

// kind is a server that users can start.
type kind struct {
	name    string
	owner   string // of its models, in their list
	path    string // that only this server has
	version func(info) (version string, known bool)
	// the path of the context of the loaded model; empty: only the list of models has it
	context string
	options map[remedy]string // N and FILE are chosen by the user; PARSER depends on the model
}

// kinds lists the servers that are recognised.
var kinds = [...]*kind{
	{
		name: "vLLM", owner: "vllm", path: "/version", version: dottedVersion,
		options: map[remedy]string{
			toolCalls:      "--enable-auto-tool-choice --tool-call-parser PARSER",
			moreContext:    "--max-model-len N",
			cacheReport:    "--enable-prompt-tokens-details",
			prefixCache:    "--enable-prefix-caching, which --no-enable-prefix-caching turns off",
			steadyTemplate: "--chat-template FILE, without strftime_now or another clock",
			template:       "--chat-template FILE",
			reasoning:      "--reasoning-parser PARSER",
			noParser:       "no --reasoning-parser, or the PARSER of the model",
			noThoughts: `--default-chat-template-kwargs '{"enable_thinking": false}', ` +
				`where its template reads that`,
		},
	},
	{
		name: "llama.cpp", owner: "llamacpp", path: "/props", version: propsBuild, context: "/props",
		options: map[remedy]string{
			toolCalls:      "--jinja, and --chat-template-file FILE where the model's own template knows no tools",
			moreContext:    "-c N (the slots of -np share it: with -np 4 each has a quarter)",
			cacheReport:    "nothing: a current version reports it by itself",
			prefixCache:    "no --no-cache-prompt, and --cache-ram more than 0",
			steadyTemplate: "--jinja --chat-template-file FILE, without strftime_now or another clock",
			template:       "--jinja --chat-template-file FILE",
			reasoning:      "--jinja --reasoning-format deepseek",
			noParser:       "--reasoning-format none",
			noThoughts:     `--chat-template-kwargs '{"enable_thinking": false}', where its template reads that`,
		},
	},
	{
		name: "Ollama", owner: "library", path: "/api/version", version: dottedVersion, context: "/api/ps",
		options: map[remedy]string{
			toolCalls:   "a model that `ollama show MODEL` lists with the capability tools",
			moreContext: "OLLAMA_CONTEXT_LENGTH=N ollama serve",
			cacheReport: "nothing: Ollama 0.17 keeps the prefix, and reports no cached tokens on any wire",
			prefixCache: "nothing: it keeps the newest prompt of each slot (OLLAMA_NUM_PARALLEL); Ollama 0.17 " +
				"always reports 0 on the wire responses",
			steadyTemplate: "a Modelfile whose TEMPLATE has no clock",
			template:       "a Modelfile with another TEMPLATE",
			reasoning:      "nothing: it does so for the models that it knows",
			noParser: "nothing: it does so for the models that it knows; " +
				"see that the model's TEMPLATE is its own",
			noThoughts: "a model that `ollama show MODEL` lists without the capability thinking",
		},
	},
	{
		name: "SGLang", owner: "sglang", path: "/get_server_info", version: dottedVersion,
		options: map[remedy]string{
			toolCalls:      "--tool-call-parser PARSER",
			moreContext:    "--context-length N",
			cacheReport:    "--enable-cache-report",
			prefixCache:    "no --disable-radix-cache",
			steadyTemplate: "--chat-template FILE, without strftime_now or another clock",
			template:       "--chat-template FILE",
			reasoning:      "--reasoning-parser PARSER",
			noParser:       "no --reasoning-parser, or the PARSER of the model",
			noThoughts:     "--chat-template FILE, which begins no thought",
		},
	},
	{
		name: "LM Studio", owner: "organization_owner", path: "/api/v0/models", version: studioModels,
		context: "/api/v0/models",
		options: map[remedy]string{
			toolCalls:   "a model that is marked as trained for tool use",
			moreContext: "lms load MODEL --context-length N, or the context length in the model's load settings",
			cacheReport: "nothing: chat completions do not report it there, " +
				"and the wires responses and anthropic do",
			prefixCache:    "nothing: it keeps the newest prompt",
			steadyTemplate: "another prompt template, without a clock, in the model's settings",
			template:       "another prompt template, in the model's settings",
			reasoning:      "the developer setting that separates reasoning_content and content",
			noParser:       "the developer setting that separates reasoning_content and content, off",
			noThoughts:     "the setting that turns thinking off, in the model's settings",
		},
	},
}
