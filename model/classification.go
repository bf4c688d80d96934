package model

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"annotator"
)

// meaning is the meaning of a fault, and the codes, phrases and statuses that have it.
type meaning struct {
	kind     annotator.Kind
	param    string // the field of the request to change, if any
	advice   string
	reason   annotator.Reason // from which a program makes the advice, in place of advice
	filtered bool             // a content filter refused the story
	failed   bool             // the server's device has failed
	template bool             // the chat template cannot render the request

	codes    string         // in lower case, separated by spaces
	phrases  *regexp.Regexp // of the message in lower case; nil: none
	statuses []int
}

// The parameters that a fault can be about.
const (
	ParamModel     = "model"      // names the model
	paramMaxTokens = "max_tokens" // bounds the reply
)

// Advice of several meanings.
const (
	adviceParser = "start the server without --reasoning-parser, or with the one of its model"
	adviceFilter = "take a model, or an endpoint, that will read such a story"
	adviceStuck  = "see whether the model's file is whole and fits how the server computes: its quantisation, " +
		"--dtype, the KV cache"
	adviceServer   = "see the server's log: its device or its engine has failed; restart it, or give it more memory"
	adviceTemplate = "the model's chat template cannot render this conversation: start the server with one that can"
	adviceSlots    = "the server's slots share one context, and other requests fill it: give it more (-c), or fewer " +
		"slots (-np 1)"
	adviceTurns = "see that the server's chat template and the tokens that it stops at are those of the model"
)

// Statuses that are in no standard.
const (
	statusBalancerGaveUp = 460 // of Amazon's load balancer
	// of proxies, and of Google, if they wrongly assume that the client has closed the connection
	statusClientGone = 499
	statusOverloaded = 529 // of several providers
)

// meanings lists codes, phrases and statuses of faults. The first row with a phrase of the message counts. Filters come
// first, because some quote the story, which may contain any phrase. There are few phrases, because messages change
// with each release of a server.
var meanings = [...]meaning{
	{ // vLLM cannot put what the model wrote into a reply of its API
		kind: annotator.Malformed,
		phrases: pattern(
			`^\d+ validation errors? for (anthropiccontentblock|anthropicmessages?response|chatcompletionresponse|` +
				`response\w*|functioncall|toolcall)\n`),
	},
	{
		kind: annotator.Refused, advice: adviceFilter, filtered: true,
		codes: CodeFiltered +
			" content_policy_violation responsibleaipolicyviolation data_inspection_failed invalid_prompt",
		phrases: pattern(
			`requires moderation|prompt was flagged|content management policy|content filter|` +
				`violates usage guidelines`),
	},
	{
		kind: annotator.Unreachable, advice: adviceServer, failed: true,
		codes: "outofmemoryerror",
		phrases: pattern(`\b(cuda|cublas|cudnn|nccl|rccl|rocm)|device-side assert|illegal memory access|outofmemory|` +
			`\b(device|gpu|vram|backend|prefill|decode|malloc failed:) out of memory|` +
			`out of memory[.:,] (tried to allocate|please|try)|\bhip error|command buffer execution failed`),
	},
	{
		kind: annotator.PromptTooLong, param: paramMaxTokens,
		phrases: pattern(
			`max_(completion_)?tokens.*too large|max_(completion_|output_)?tokens.*cannot be greater than|` +
				`max_(completion_)?tokens.*(valid range|less than or equal to|should be \[1|` +
				`maximum allowed number of output tokens)|range of max_tokens|` +
				`max_?output_?tokens.*supported range`),
	},
	{
		kind:  annotator.PromptTooLong, // an old vLLM whose context is full wants at least one token
		codes: "context_length_exceeded exceed_context_size_error string_above_max_length request_too_large",
		phrases: pattern(`max_tokens must be at least 1|context (length|size|window|limit)|context.*overflow|` +
			`(prompt|input) is too long|too many tokens|token count.*exceeds the maximum|maximum model length|` +
			`max_new_tokens.*must be <=|must have less than.*tokens`),
		statuses: []int{http.StatusRequestEntityTooLarge},
	},
	{
		kind: annotator.Unreachable, advice: adviceServer,
		codes: "enginedeaderror asyncenginedeaderror",
		phrases: pattern(`enginecore|engine (loop |process )?(is dead|is not running|has died|died)|actor died|` +
			`background loop has errored|scheduler hit an exception|model has crashed|model unloaded|` +
			`runner process.*(terminated|no longer running)`),
	},
	{
		kind: annotator.Overloaded,
		codes: "rate_limit_exceeded rate_limit_error resource_exhausted overloaded_error " +
			"unavailable_error unavailable overloaded slow_down",
		phrases:  pattern(`loading model`),
		statuses: []int{http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded},
	},
	{
		kind:    annotator.Misconfigured,
		advice:  "start the server with --enable-auto-tool-choice and the --tool-call-parser of its model",
		phrases: pattern(`tool choice.*--enable-auto-tool-choice`),
	},
	{
		kind:    annotator.Misconfigured,
		reason:  annotator.ReasonNoTools,
		phrases: pattern(`does not support tools|no endpoints found.*tool use|tools param requires`),
	},
	{
		kind:    annotator.Misconfigured,
		advice:  "give the server more memory, or have it serve a smaller model",
		phrases: pattern(`requires more system memory`),
	},
	{
		kind:   annotator.Misconfigured,
		advice: adviceTemplate, template: true,
		phrases: pattern(`conversation roles must alternate|system role not supported|tool call id was.*but must be|` +
			`roles are supported|jinja exception|unable to generate parser for this template|` +
			`only supports single tool-calls`),
	},
	{
		kind:  annotator.Malformed,
		codes: "tool_use_failed",
		phrases: pattern(
			`failed to parse (tool call|input at pos)|invalid tool call arguments|unterminated string|` +
				`model produced output that does not match`),
	},
	{
		kind:    annotator.Misconfigured,
		advice:  "write https in the endpoint's address",
		phrases: pattern(`http request.*https (server|port)`),
	},
	{
		kind: annotator.Misconfigured, param: ParamModel,
		reason: annotator.ReasonUnknownModel,
		codes: "model_not_found model_not_available invalid_model model_deprecated model_decommissioned " +
			"deploymentnotfound",
		phrases: pattern(`model.*(does not exist|not found)|(does not exist|not found).*model|invalid model name`),
	},
	{
		kind:   annotator.Misconfigured,
		reason: annotator.ReasonNoCredit,
		codes: "insufficient_quota billing_not_active billing_hard_limit_reached billing_error insufficient_credits " +
			"budget_exceeded arrearage",
		phrases:  pattern(`credit balance is too low|insufficient balance|api usage limits`),
		statuses: []int{http.StatusPaymentRequired},
	},
	{
		kind:   annotator.Misconfigured,
		reason: annotator.ReasonKeyRefused,
		codes: "invalid_api_key api_key_invalid authentication_error permission_error permission_denied " +
			"unauthenticated",
		phrases:  pattern(`(incorrect|invalid) api key|unauthorized`),
		statuses: []int{http.StatusUnauthorized, http.StatusForbidden},
	},
	{
		kind:   annotator.Misconfigured,
		reason: annotator.ReasonUnknownPath,
		codes:  "not_found_error",
	},
	{
		kind:   annotator.Misconfigured,
		reason: annotator.ReasonAccount,
		codes:  "failed_precondition billing_disabled service_disabled unsupported_country_region_territory",
	},
	{
		kind:   annotator.Misconfigured,
		reason: annotator.ReasonUnknownSetting,
		codes:  "unsupported_parameter unsupported_value",
	},
	{
		kind:     annotator.Misconfigured,
		advice:   "give HTTP_PROXY or HTTPS_PROXY the name and password that the proxy wants",
		statuses: []int{http.StatusProxyAuthRequired},
	},
	{
		kind: annotator.Misconfigured, reason: annotator.ReasonWrongAddress,
		statuses: []int{
			http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusUnsupportedMediaType,
			http.StatusUpgradeRequired, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported,
		},
	},
	{
		kind: annotator.Transient,
		statuses: []int{
			http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusMisdirectedRequest,
			http.StatusLocked, http.StatusFailedDependency, statusBalancerGaveUp, statusClientGone,
		},
	},
}

// statusClasses has the meanings of statuses without a row, by their first digit.
var statusClasses = map[int]meaning{
	3: {kind: annotator.Unsafe, reason: annotator.ReasonRedirected},
	4: {kind: annotator.Refused},
	5: {kind: annotator.Transient},
}

// tooMuchAtOnce matches a limit on tokens per minute that a single request exceeds. The code is that of any such limit,
// but waiting does not help.
var tooMuchAtOnce = pattern(`request too large.*tokens per min`)

// classify returns the first meaning that applies. It has no kind if the status is no error either. byBody reports
// whether the meaning comes from the body, not the status.
func classify(status int, c *errorBody) (m meaning, byBody bool) {
	switch {
	case redirects(status):
		return statusClasses[status/100], false
	case tooMuchAtOnce.MatchString(c.text):
		return meaning{kind: annotator.PromptTooLong}, true
	}
	for _, code := range c.codes {
		if m, ok := firstMeaning(func(m *meaning) bool { return slices.Contains(strings.Fields(m.codes), code) }); ok {
			return m, true
		}
	}
	if m, ok := firstMeaning(func(m *meaning) bool { return m.phrases != nil && m.phrases.MatchString(c.text) }); ok {
		return m, true
	}
	if status == http.StatusBadRequest && c.message == "" {
		return meaning{kind: annotator.PromptTooLong}, false
	}
	if m, ok := firstMeaning(func(m *meaning) bool { return slices.Contains(m.statuses, status) }); ok {
		return m, false
	}
	return statusClasses[status/100], false
}

func firstMeaning(applies func(*meaning) bool) (meaning, bool) {
	for i := range meanings {
		if applies(&meanings[i]) {
			return meanings[i], true
		}
	}
	return meaning{}, false
}

// pattern compiles a pattern whose dot also matches line breaks.
func pattern(s string) *regexp.Regexp { return regexp.MustCompile("(?s)" + s) }

func redirects(status int) bool { return status/100 == 3 }
