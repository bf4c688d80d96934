package model

import (
	"net/http"
	"strings"

	"annotator"
)

// verdict is what a fault means. Without a kind it is none.
type verdict struct {
	kind   annotator.Kind
	param  string // the field of the request to change, where it is one
	advice string
}

// ParamModel is the parameter that names the model.
const ParamModel = "model"

// paramMaxTokens is the parameter that bounds the reply.
const paramMaxTokens = "max_tokens"

// Advice that more than one verdict gives.
const (
	adviceKey      = "set ANNOTATOR_API_KEY to a key that the endpoint accepts"
	adviceQuota    = "the account has no credit left: top it up, or give another endpoint with --endpoint"
	adviceAccount  = "the endpoint does not serve this account: enable its API and billing, or give another endpoint with --endpoint"
	adviceModel    = "give a model that the endpoint serves with --model; annotator doctor lists them"
	adviceNotFound = "check the endpoint's address and the model's name; annotator doctor lists what it serves"
	adviceSetting  = "the model does not take this setting: change it, or give another model with --model"
	adviceRedirect = "redirects are not followed: give the address itself with --endpoint, if you trust it"
	adviceHTTPS    = "write https in the endpoint's address"
	adviceTemplate = "the model's chat template cannot render this conversation: start the server with one that can"
	adviceAddress  = "give the base URL with its /v1, as in http://localhost:8000/v1, and the API that it speaks with --wire"
)

// byCode knows the codes and types that servers give for machines, where they say more than the status does.
func byCode(code string) verdict {
	switch code {
	case "context_length_exceeded", "exceed_context_size_error", "string_above_max_length", "request_too_large":
		return verdict{kind: annotator.Shrink}
	case "insufficient_quota", "billing_not_active", "billing_hard_limit_reached", "billing_error", "insufficient_credits":
		return verdict{kind: annotator.Misconfigured, advice: adviceQuota}
	case "invalid_api_key", "api_key_invalid", "authentication_error", "permission_error", "permission_denied", "unauthenticated":
		return verdict{kind: annotator.Misconfigured, advice: adviceKey}
	case "model_not_found", "model_not_available", "invalid_model":
		return verdict{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}
	case "not_found_error":
		return verdict{kind: annotator.Misconfigured, advice: adviceNotFound}
	case "failed_precondition", "billing_disabled", "service_disabled":
		return verdict{kind: annotator.Misconfigured, advice: adviceAccount}
	case "unsupported_parameter", "unsupported_value":
		return verdict{kind: annotator.Misconfigured, advice: adviceSetting}
	case "rate_limit_exceeded", "rate_limit_error", "resource_exhausted", "overloaded_error", "unavailable_error",
		"unavailable":
		return verdict{kind: annotator.Overloaded}
	case "content_filter", "content_policy_violation":
		return verdict{kind: annotator.Refused}
	case "tool_use_failed":
		return verdict{kind: annotator.Malformed}
	case "enginedeaderror", "asyncenginedeaderror":
		return verdict{kind: annotator.Gone}
	}
	return verdict{}
}

// phrases are looked for, in order, where no code tells: every word of a row must occur. They are few on purpose, for text
// changes with each release of a server.
var phrases = [...]struct {
	words []string
	verdict
}{
	{[]string{"max_tokens", "too large"}, verdict{kind: annotator.Shrink, param: paramMaxTokens}},
	{[]string{"max_completion_tokens", "too large"}, verdict{kind: annotator.Shrink, param: paramMaxTokens}},
	{[]string{"max_tokens", "cannot be greater than"}, verdict{kind: annotator.Shrink, param: paramMaxTokens}},
	{[]string{"max_tokens must be at least 1"}, verdict{kind: annotator.Shrink}}, // an old vLLM, with no room left
	{[]string{"context length"}, verdict{kind: annotator.Shrink}},
	{[]string{"context size"}, verdict{kind: annotator.Shrink}},
	{[]string{"context", "overflow"}, verdict{kind: annotator.Shrink}},
	{[]string{"context window"}, verdict{kind: annotator.Shrink}},
	{[]string{"context limit"}, verdict{kind: annotator.Shrink}},
	{[]string{"prompt is too long"}, verdict{kind: annotator.Shrink}},
	{[]string{"input is too long"}, verdict{kind: annotator.Shrink}},
	{[]string{"too many tokens"}, verdict{kind: annotator.Shrink}},
	{[]string{"token count", "exceeds the maximum"}, verdict{kind: annotator.Shrink}},
	{[]string{"enginecore"}, verdict{kind: annotator.Gone}},
	{[]string{"loading model"}, verdict{kind: annotator.Overloaded}},
	{[]string{"tool choice", "--enable-auto-tool-choice"}, verdict{
		kind:   annotator.Misconfigured,
		advice: "start the server with --enable-auto-tool-choice and the --tool-call-parser of its model",
	}},
	{[]string{"conversation roles must alternate"}, verdict{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"system role not supported"}, verdict{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"tool call id was", "but must be"}, verdict{kind: annotator.Misconfigured, advice: adviceTemplate}},
	{[]string{"failed to parse tool call"}, verdict{kind: annotator.Malformed}},
	{[]string{"unterminated string"}, verdict{kind: annotator.Malformed}},
	{[]string{"http request", "https server"}, verdict{kind: annotator.Misconfigured, advice: adviceHTTPS}},
	{[]string{"http request", "https port"}, verdict{kind: annotator.Misconfigured, advice: adviceHTTPS}},
	{[]string{"model", "does not exist"}, verdict{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}},
	{[]string{"model", "not found"}, verdict{kind: annotator.Misconfigured, param: ParamModel, advice: adviceModel}},
	{[]string{"credit balance is too low"}, verdict{kind: annotator.Misconfigured, advice: adviceQuota}},
	{[]string{"invalid api key"}, verdict{kind: annotator.Misconfigured, advice: adviceKey}},
	{[]string{"unauthorized"}, verdict{kind: annotator.Misconfigured, advice: adviceKey}},
}

func byText(s string) verdict {
	for i := range phrases {
		if containsAll(s, phrases[i].words) {
			return phrases[i].verdict
		}
	}
	return verdict{}
}

func containsAll(s string, words []string) bool {
	for _, w := range words {
		if !strings.Contains(s, w) {
			return false
		}
	}
	return true
}

// byStatus knows every status that is an error.
func byStatus(status int) verdict {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return verdict{kind: annotator.Misconfigured, advice: adviceKey}
	case http.StatusPaymentRequired:
		return verdict{kind: annotator.Misconfigured, advice: adviceQuota}
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusUnsupportedMediaType,
		http.StatusUpgradeRequired, http.StatusNotImplemented, http.StatusHTTPVersionNotSupported:
		return verdict{kind: annotator.Misconfigured, advice: adviceAddress}
	case http.StatusRequestEntityTooLarge:
		return verdict{kind: annotator.Shrink}
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly:
		return verdict{kind: annotator.Transient}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable, statusOverloaded:
		return verdict{kind: annotator.Overloaded}
	}
	return byStatusClass(status / 100)
}

// statusOverloaded is not in any standard; several providers give it.
const statusOverloaded = 529

func byStatusClass(class int) verdict {
	switch class {
	case 3:
		return verdict{kind: annotator.Hostile, advice: adviceRedirect}
	case 4:
		return verdict{kind: annotator.Refused}
	case 5:
		return verdict{kind: annotator.Transient}
	}
	return verdict{}
}
