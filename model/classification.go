package model

import (
	"net/http"
	"strings"

	"annotator"
)

// classification is what a fault means. Without a kind it is unknown.
type classification struct {
	kind     annotator.Kind
	param    string // the field of the request to change, where it is one
	advice   string
	filtered bool // a content filter refused the story
}

// ParamModel is the parameter that names the model.
const ParamModel = "model"

// paramMaxTokens is the parameter that bounds the reply.
const paramMaxTokens = "max_tokens"

// Advice that more than one classification gives.
const (
	adviceKey       = "set ANNOTATOR_API_KEY to a key that the endpoint accepts"
	adviceQuota     = "the account has no credit left: top it up, or give another endpoint with --endpoint"
	adviceAccount   = "the endpoint does not serve this account: enable its API and billing, or give another endpoint with --endpoint"
	adviceProxy     = "give HTTP_PROXY or HTTPS_PROXY the name and password that the proxy wants"
	adviceTools     = "take a model that calls tools, or start the server with what they need: annotator doctor says what that is"
	adviceMemory    = "give the server more memory, or have it serve a smaller model"
	adviceFilter    = "take a model, or an endpoint, that will read such a story"
	adviceStuck     = "see whether the model's file is whole and fits how the server computes: its quantisation, --dtype, the KV cache"
	adviceModel     = "give a model that the endpoint serves with --model; annotator doctor lists them"
	adviceNotFound  = "check the endpoint's address and the model's name; annotator doctor lists what it serves"
	adviceSetting   = "the model does not take this setting: change it, or give another model with --model"
	adviceRedirect  = "redirects are not followed: give the address itself with --endpoint, if you trust it"
	adviceHTTPS     = "write https in the endpoint's address"
	adviceNotAnAPI  = "see what is at that address in place of a model server, or " + adviceAddress
	adviceForbidden = "see what stands before the server and forbids requests, a firewall or a proxy, and whether it wants another ANNOTATOR_API_KEY"
	adviceTemplate  = "the model's chat template cannot render this conversation: start the server with one that can"
	adviceAddress   = "give the base URL with its /v1, as in http://localhost:8000/v1, and the API that it speaks with --wire"
)

// filtered is the classification of what a content filter refused.
var filtered = classification{kind: annotator.Refused, advice: adviceFilter, filtered: true}

// byCode classifies the codes and types that say more than the status.
func byCode(code string) classification {
	switch code {
	case "context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large":
		return classification{kind: annotator.PromptTooLong}
	case "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error", "insufficient_credits",
		"budget_exceeded", "arrearage":
		return classification{kind: annotator.Misconfigured, advice: adviceQuota}
	case "invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "permission_denied", "unauthenticated":
		return classification{kind: annotator.Misconfigured, advice: adviceKey}
	case "model_not_found", "model_not_available", "invalid_model", "model_deprecated", "model_decommissioned", "deploymentnotfound":
		return classification{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}
	case "not_found_error":
		return classification{kind: annotator.Misconfigured, advice: adviceNotFound}
	case "failed_precondition", "billing_disabled", "service_disabled", "unsupported_country_region_territory":
		return classification{kind: annotator.Misconfigured, advice: adviceAccount}
	case "unsupported_parameter", "unsupported_value":
		return classification{kind: annotator.Misconfigured, advice: adviceSetting}
	case "rate_limit_exceeded", "rate_limit_error", "resource_exhausted", "overloaded_error", "unavailable_error",
		"unavailable", "overloaded", "slow_down":
		return classification{kind: annotator.Overloaded}
	case CodeFiltered, "content_policy_violation", "responsibleaipolicyviolation", "data_inspection_failed", "invalid_prompt":
		return filtered
	case "tool_use_failed":
		return classification{kind: annotator.Malformed}
	case "enginedeaderror", "asyncenginedeaderror":
		return classification{kind: annotator.Unreachable}
	}
	return classification{}
}

// phrases classify a message without a known code: every word of a row must occur, and the first such row counts. They
// are few, because messages change with each release of a server. The filters come first, because some of them quote
// the story, which may contain any phrase.
var phrases = [...]struct {
	words []string
	classification
}{
	{[]string{"requires moderation"}, filtered},
	{[]string{"prompt was flagged"}, filtered},
	{[]string{"content management policy"}, filtered},
	{[]string{"content filter"}, filtered},
	{[]string{"violates usage guidelines"}, filtered},
	{[]string{"max_tokens", "too large"}, classification{kind: annotator.PromptTooLong, param: paramMaxTokens}},
	{[]string{"max_completion_tokens", "too large"}, classification{kind: annotator.PromptTooLong, param: paramMaxTokens}},
	{[]string{"max_tokens", "cannot be greater than"}, classification{kind: annotator.PromptTooLong, param: paramMaxTokens}},
	{[]string{"max_tokens must be at least 1"}, classification{kind: annotator.PromptTooLong}}, // an old vLLM, whose context is full
	{[]string{"context length"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"context size"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"context", "overflow"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"context window"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"context limit"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"prompt is too long"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"input is too long"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"too many tokens"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"token count", "exceeds the maximum"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"maximum model length"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"max_new_tokens", "must be <="}, classification{kind: annotator.PromptTooLong}},
	{[]string{"must have less than", "tokens"}, classification{kind: annotator.PromptTooLong}},
	{[]string{"enginecore"}, classification{kind: annotator.Unreachable}},
	{[]string{"model has crashed"}, classification{kind: annotator.Unreachable}},
	{[]string{"model unloaded"}, classification{kind: annotator.Unreachable}},
	{[]string{"runner process", "terminated"}, classification{kind: annotator.Unreachable}},
	{[]string{"loading model"}, classification{kind: annotator.Overloaded}},
	{[]string{"tool choice", "--enable-auto-tool-choice"}, classification{
		kind:   annotator.Misconfigured,
		advice: "start the server with --enable-auto-tool-choice and the --tool-call-parser of its model",
	}},
	{[]string{"does not support tools"}, classification{kind: annotator.Misconfigured, advice: adviceTools}},
	{[]string{"no endpoints found", "tool use"}, classification{kind: annotator.Misconfigured, advice: adviceTools}},
	{[]string{"tools param requires"}, classification{kind: annotator.Misconfigured, advice: adviceTools}},
	{[]string{"requires more system memory"}, classification{kind: annotator.Misconfigured, advice: adviceMemory}},
	{[]string{"conversation roles must alternate"}, classification{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"system role not supported"}, classification{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"tool call id was", "but must be"}, classification{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"failed to parse tool call"}, classification{kind: annotator.Malformed}},
	{[]string{"unterminated string"}, classification{kind: annotator.Malformed}},
	{[]string{"http request", "https server"}, classification{kind: annotator.Misconfigured, advice: adviceHTTPS}},
	{[]string{"http request", "https port"}, classification{kind: annotator.Misconfigured, advice: adviceHTTPS}},
	{[]string{"model", "does not exist"}, classification{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}},
	{[]string{"model", "not found"}, classification{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}},
	{[]string{"invalid model name"}, classification{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}},
	{[]string{"credit balance is too low"}, classification{kind: annotator.Misconfigured, advice: adviceQuota}},
	{[]string{"insufficient balance"}, classification{kind: annotator.Misconfigured, advice: adviceQuota}},
	{[]string{"api usage limits"}, classification{kind: annotator.Misconfigured, advice: adviceQuota}},
	{[]string{"incorrect api key"}, classification{kind: annotator.Misconfigured, advice: adviceKey}},
	{[]string{"invalid api key"}, classification{kind: annotator.Misconfigured, advice: adviceKey}},
	{[]string{"unauthorized"}, classification{kind: annotator.Misconfigured, advice: adviceKey}},
}

// tooMuchAtOnce is in the message of a limit on tokens per minute for a request that alone exceeds it. Its code is that
// of any such limit, but waiting does not help.
var tooMuchAtOnce = [...]string{"request too large", "tokens per min"}

func byText(s string) classification {
	for i := range phrases {
		if containsAll(s, phrases[i].words) {
			return phrases[i].classification
		}
	}
	return classification{}
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// byStatus classifies every status that is an error.
func byStatus(status int) classification {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		return classification{kind: annotator.Misconfigured, advice: adviceKey}
	case http.StatusProxyAuthRequired:
		return classification{kind: annotator.Misconfigured, advice: adviceProxy}
	case http.StatusPaymentRequired:
		return classification{kind: annotator.Misconfigured, advice: adviceQuota}
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusUnsupportedMediaType,
		http.StatusUpgradeRequired, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return classification{kind: annotator.Misconfigured, advice: adviceAddress}
	case http.StatusRequestEntityTooLarge:
		return classification{kind: annotator.PromptTooLong}
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusMisdirectedRequest, http.StatusLocked,
		http.StatusFailedDependency, statusBalancerGaveUp, statusClientGone:
		return classification{kind: annotator.Transient}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return classification{kind: annotator.Overloaded}
	}
	return byStatusClass(status / 100)
}

// Statuses that are in no standard.
const (
	statusBalancerGaveUp = 460 // of Amazon's load balancer
	statusClientGone     = 499 // of proxies, and of Google, that wrongly think the client has closed the connection
	statusOverloaded     = 529 // of several providers
)

func byStatusClass(class int) classification {
	switch class {
	case 3:
		return classification{kind: annotator.Unsafe, advice: adviceRedirect}
	case 4:
		return classification{kind: annotator.Refused}
	case 5:
		return classification{kind: annotator.Transient}
	}
	return classification{}
}
