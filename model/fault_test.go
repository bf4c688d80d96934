package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"annotator"
	"annotator/model"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	const page = "<html><head><title>Bad Gateway</title></head></html>"
	tests := []struct {
		fault  string
		status int
		body   string
		want   annotator.Kind
	}{
		{
			"vLLM context", 400,
			`{"error":{"message":"You passed 5000 input tokens and requested 100 output tokens. However, the model's context length is only 4096 tokens","type":"BadRequestError","param":"input_tokens","code":400}}`, annotator.PromptTooLong,
		},
		{
			"vLLM 0.32: reply longer than the context, chat", 400,
			`{"error":{"message":"max_tokens=40000 cannot be greater than max_model_len=32768. Please request fewer output tokens. (parameter=max_tokens, value=40000)","type":"BadRequestError","param":"max_tokens","code":400}}`, annotator.PromptTooLong,
		},
		{
			"the same, responses", 400,
			`{"error":{"message":"max_output_tokens=40000 cannot be greater than max_model_len=32768. Please request fewer output tokens. (parameter=max_output_tokens, value=40000)","type":"BadRequestError","param":"max_output_tokens","code":400}}`, annotator.PromptTooLong,
		},
		{
			"vLLM 0.32: a reply that its own API cannot hold", 400,
			`{"type":"error","error":{"type":"BadRequestError","message":"1 validation error for AnthropicContentBlock\ninput\n  Input should be a valid dictionary [type=dict_type, input_value='x', input_type=str]\n    For further information visit https://errors.pydantic.dev/2.14/v/dict_type"}}`, annotator.Malformed,
		},
		{
			"vLLM 0.32: a request that cannot be read", 400,
			`{"type":"error","error":{"type":"BadRequestError","message":"1 validation error for ChatCompletionRequest\nmessages\n  Field required"}}`, annotator.Refused,
		},
		{
			"template that takes no results of tools", 400,
			`{"error":{"message":"Only user and assistant roles are supported!","type":"BadRequestError","param":null,"code":400}}`, annotator.Misconfigured,
		},
		{
			"older vLLM context", 400,
			`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","type":"BadRequestError","param":null,"code":400}`, annotator.PromptTooLong,
		},
		{
			"max_tokens", 400,
			`{"error":{"message":"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens","code":400}}`, annotator.PromptTooLong,
		},
		{
			"SGLang context", 400,
			`{"object":"error","message":"The input (61709 tokens) is longer than the model's context length (40960 tokens)."}`, annotator.PromptTooLong,
		},
		{
			"OpenAI context", 400,
			`{"error":{"message":"too long","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, annotator.PromptTooLong,
		},
		{
			"llama.cpp context", 500,
			`{"error":{"code":400,"message":"exceeds","type":"exceed_context_size_error","n_prompt_tokens":5000,"n_ctx":4096}}`, annotator.PromptTooLong,
		},
		{
			"llama.cpp context, on any wire", 400,
			`{"error":{"code":400,"message":"request (40009 tokens) exceeds the available context size (32768 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":40009,"n_ctx":32768}}`, annotator.PromptTooLong,
		},
		{
			"LM Studio frame", 200,
			`{"error":{"message":"Trying to keep the first 5000 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens"}}`, annotator.PromptTooLong,
		},
		{
			"reply that llama.cpp cannot parse", 500,
			`{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}`, annotator.Malformed,
		},
		{
			"the same in a stream", 200,
			`{"error":{"code":500,"message":"The model produced output that does not match the expected peg-native format","type":"server_error"}}`, annotator.Malformed,
		},
		{
			"template that fails, llama.cpp", 400,
			`{"error":{"code":400,"message":"\n------------\nWhile executing CallExpression at line 1, column 9 in source:\n{{ raise_exception('no') }}\nError: Jinja Exception: no","type":"invalid_request_error"}}`, annotator.Misconfigured,
		},
		{
			"template without a parser, llama.cpp", 400,
			`{"error":{"code":400,"message":"Unable to generate parser for this template. Automatic parser generation failed: x","type":"invalid_request_error"}}`, annotator.Misconfigured,
		},
		{
			"several calls at once", 400,
			`{"error":{"code":400,"message":"Error: Jinja Exception: This model only supports single tool-calls at once!"}}`, annotator.Misconfigured,
		},
		{
			"cache shared by slots, llama.cpp", 500,
			`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`,
			annotator.PromptTooLong,
		},
		{
			"the same in a stream, llama.cpp", 200,
			`{"error":{"code":500,"message":"Context size has been exceeded.","type":"server_error"}}`,
			annotator.PromptTooLong,
		},
		{"bare 400", 400, "", annotator.PromptTooLong},
		{"bare 413", 413, "", annotator.PromptTooLong},
		{"no model, vLLM", 404, "{\"object\":\"error\",\"message\":\"The model `x` does not " +
			"exist.\",\"type\":\"NotFoundError\",\"code\":404}", annotator.Misconfigured},
		{
			"no model, Ollama's chat", 404,
			`{"error":{"message":"model 'x' not found","type":"api_error","param":null,"code":null}}`,
			annotator.Misconfigured,
		},
		{"no model, Ollama", 404, `{"error":"model \"x\" not found, try pulling it first"}`, annotator.Misconfigured},
		{"wrong path", 404, `{"detail":"Not Found"}`, annotator.Misconfigured},
		{
			"bad key, llama.cpp", 401,
			`{"error":{"message":"Invalid API Key","type":"authentication_error","code":401}}`,
			annotator.Misconfigured,
		},
		{
			"wrong path, llama.cpp", 404, `{"error":{"message":"File Not Found","type":"not_found_error","code":404}}`,
			annotator.Misconfigured,
		},
		{"bad key", 401, `{"error":{"message":"Invalid API Key"}}`, annotator.Misconfigured},
		{"bad key, string", 401, `{"error":"Unauthorized"}`, annotator.Misconfigured},
		{"bad key, null", 401, `{"error":null}`, annotator.Misconfigured},
		{"rate limit", 429, `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`, annotator.Overloaded},
		{
			"rate limit that speaks of length", 429,
			`{"error":{"message":"too many tokens: your context window is asked for too often","code":"rate_limit_exceeded"}}`, annotator.Overloaded,
		},
		{"bare rate limit", 429, "", annotator.Overloaded},
		{
			"quota", 429,
			`{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}`, annotator.Misconfigured,
		},
		{
			"loading", 503, `{"error":{"message":"Loading model","type":"unavailable_error","code":503}}`,
			annotator.Overloaded,
		},
		{
			"engine died", 500,
			`{"error":{"message":"EngineCore encountered an issue. See stack trace","type":"InternalServerError","code":500}}`, annotator.Unreachable,
		},
		{
			"replayed arguments, llama.cpp", 500,
			`{"error":{"code":500,"message":"Failed to parse tool call arguments as JSON: x","type":"server_error"}}`,
			annotator.Malformed,
		},
		{
			"replayed arguments, Ollama", 400,
			`{"error":{"message":"invalid tool call arguments","type":"invalid_request_error","param":null,"code":null}}`, annotator.Malformed,
		},
		{
			"replayed arguments, vLLM", 400,
			`{"error":{"message":"Unterminated string starting at: line 1 column 9","type":"BadRequestError","code":400}}`, annotator.Malformed,
		},
		{
			"roles", 400,
			`{"object":"error","message":"Conversation roles must alternate user/assistant/user/assistant/...","code":400}`, annotator.Misconfigured,
		},
		{
			"system role", 400, `{"object":"error","message":"System role not supported","code":400}`,
			annotator.Misconfigured,
		},
		{
			"tool after user", 400,
			`{"object":"error","message":"Unexpected role 'tool' after role 'user'","code":400}`,
			annotator.Refused,
		},
		{
			"call id", 400, `{"message":"Tool call id was call_1 but must be a-z, A-Z, 0-9, with a length of 9."}`,
			annotator.Misconfigured,
		},
		{
			"doubled call id", 400, `{"error":{"message":"Duplicate value for 'tool_call_id' of 'a'"}}`,
			annotator.Refused,
		},
		{
			"tool choice", 400,
			`{"object":"error","message":"\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set","code":400}`, annotator.Misconfigured,
		},
		{"gateway page", 502, page, annotator.Transient},
		{"gateway timeout page", 504, page, annotator.Transient},
		{"200 page", 200, page, annotator.Transient},
		{"plain 500", 500, "Internal Server Error", annotator.Transient},
		{"error in a 200", 200, `{"error":{"message":"boom","code":500}}`, annotator.Transient},
		{"refusal in a 200", 200, `{"error":{"message":"bad","code":422}}`, annotator.Refused},
		{"detail in a 200", 200, `{"detail":"boom"}`, annotator.Transient},
		{"http to https", 400, "Client sent an HTTP request to an HTTPS server.\n", annotator.Misconfigured},
		{"content filter", 400, `{"error":{"message":"filtered","code":"content_filter"}}`, annotator.Refused},
		{
			"validation", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"missing"}]}`,
			annotator.Refused,
		},
		{
			"wrapped in a list", 400,
			`[{"error":{"code":429,"message":"Resource has been exhausted","status":"RESOURCE_EXHAUSTED"}}]`,
			annotator.Overloaded,
		},
		{
			"Gemini context", 400,
			`{"error":{"code":400,"message":"The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`, annotator.PromptTooLong,
		},
		{
			"Gemini key", 400,
			`{"error":{"code":400,"message":"Please renew it.","status":"INVALID_ARGUMENT","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"API_KEY_INVALID"}]}}`, annotator.Misconfigured,
		},
		{
			"Gemini country", 400,
			`{"error":{"code":400,"message":"User location is not supported for the API use.","status":"FAILED_PRECONDITION"}}`, annotator.Misconfigured,
		},
		{
			"Gemini model", 404,
			`{"error":{"code":404,"message":"models/x is not found for API version v1beta","status":"NOT_FOUND"}}`,
			annotator.Misconfigured,
		},
		{
			"Gemini overload", 503,
			`{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`,
			annotator.Overloaded,
		},
		{
			"Gemini deadline", 504,
			`{"error":{"code":504,"message":"The request timed out.","status":"DEADLINE_EXCEEDED"}}`,
			annotator.Transient,
		},
		{
			"router", 200,
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"{\"error\":\"prompt is too long\"}"}}}`, annotator.PromptTooLong,
		},
		{"TGI context", 422, "{\"error\":\"Input validation error: `inputs` tokens + `max_new_tokens` must be <= " +
			"4096. Given: 4000 `inputs` tokens\",\"error_type\":\"validation\"}", annotator.PromptTooLong},
		{"TGI prompt", 422, "{\"error\":\"Input validation error: `inputs` must have less than 1024 tokens. Given: " +
			"4000\"}", annotator.PromptTooLong},
		{
			"vLLM prompt", 400,
			`{"object":"error","message":"The decoder prompt (length 5000) is longer than the maximum model length of 4096.","code":400}`, annotator.PromptTooLong,
		},
		{
			"more than a minute's tokens", 413,
			`{"error":{"message":"Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 9000","type":"tokens","code":"rate_limit_exceeded"}}`, annotator.PromptTooLong,
		},
		{
			"behind a byte order mark", 429, "\ufeff" + `{"error":{"message":"x","code":"insufficient_quota"}}`,
			annotator.Misconfigured,
		},
		{"in a list of errors", 400, `{"errors":[{"message":"context length exceeded"}]}`, annotator.PromptTooLong},
		{
			"a list of errors in a 200", 200,
			`{"success":false,"errors":[{"code":3040,"message":"Capacity temporarily exceeded"}]}`,
			annotator.Transient,
		},
		{
			"no balance in a 200", 200, `{"code":1113,"msg":"Insufficient balance. Please recharge."}`,
			annotator.Misconfigured,
		},
		{"the status in words", 400, "Bad Request", annotator.PromptTooLong},
		{"null", 400, "null", annotator.PromptTooLong},
		{
			"no tools, Ollama", 400,
			`{"error":{"message":"library/gemma:latest does not support tools","type":"api_error"}}`,
			annotator.Misconfigured,
		},
		{
			"no tools, llama.cpp", 500,
			`{"error":{"code":500,"message":"tools param requires --jinja flag","type":"server_error"}}`,
			annotator.Misconfigured,
		},
		{
			"no tools, Ollama's messages", 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"registry.ollama.ai/library/plain:latest does not support tools"},"request_id":"req_1"}`, annotator.Misconfigured,
		},
		{
			"no memory, Ollama", 500,
			`{"error":"model requires more system memory (20 GiB) than is available (8 GiB)"}`,
			annotator.Misconfigured,
		},
		{
			"crashed, Ollama", 500, `{"error":"llama runner process has terminated: exit status 2"}`,
			annotator.Unreachable,
		},
		{
			"crashed, LM Studio", 400,
			`{"error":"The model has crashed without additional information. (Exit code: null)"}`,
			annotator.Unreachable,
		},
		{
			"CUDA", 400,
			`{"object":"error","message":"RuntimeError: CUDA error: device-side assert triggered","type":"BadRequestError","code":400}`, annotator.Unreachable,
		},
		{
			"no GPU memory", 400, `{"error":"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB."}`,
			annotator.Unreachable,
		},
		{
			"no GPU memory, llama.cpp", 500,
			`{"error":{"code":500,"message":"allocating 1024.00 MiB on device 0: cudaMalloc failed: out of memory","type":"server_error"}}`, annotator.Unreachable,
		},
		{
			"no GPU memory, SGLang", 400,
			`{"object":"error","message":"Prefill out of memory. Try to lower your batch size.","code":400}`,
			annotator.Unreachable,
		},
		{
			"no GPU memory, Metal", 500,
			`{"detail":"[METAL] Command buffer execution failed: Insufficient Memory (kIOGPUCommandBufferCallbackErrorOutOfMemory)"}`, annotator.Unreachable,
		},
		{
			"NCCL", 424, `{"error":"Server error: NCCL error: unhandled system error","error_type":"generation"}`,
			annotator.Unreachable,
		},
		{"cuBLAS", 500, "RuntimeError: CUBLAS_STATUS_NOT_INITIALIZED when calling cublasCreate", annotator.Unreachable},
		{"HIP", 422, "HIP error: invalid device function", annotator.Unreachable},
		{
			"a dead engine, vLLM", 500, `{"error":{"message":"","type":"EngineDeadError","code":500}}`,
			annotator.Unreachable,
		},
		{
			"a dead engine, older vLLM", 500, `{"object":"error","message":"Background loop has errored already."}`,
			annotator.Unreachable,
		},
		{
			"a dead engine, in words", 400,
			`{"object":"error","message":"AsyncEngine is dead: engine is dead","code":400}`, annotator.Unreachable,
		},
		{
			"a request that is refused for other reasons", 400,
			`{"object":"error","message":"The graphics of this engine are out of scope","code":400}`,
			annotator.Refused,
		},
		{"unloaded, LM Studio", 400, `{"error":"Model unloaded."}`, annotator.Unreachable},
		{
			"a limit of one's own", 400,
			`{"type":"error","error":{"type":"invalid_request_error","message":"You have reached your specified API usage limits."}}`, annotator.Misconfigured,
		},
		{
			"a budget", 400, `{"error":{"message":"Budget has been exceeded!","type":"budget_exceeded","code":"400"}}`,
			annotator.Misconfigured,
		},
		{"the client has gone, says a proxy", 499, "", annotator.Transient},
		{
			"cancelled", 499, `{"error":{"code":499,"message":"The operation was cancelled.","status":"CANCELLED"}}`,
			annotator.Transient,
		},
		{
			"what it depends on has failed", 424,
			`{"error":"Request failed during generation","error_type":"generation"}`,
			annotator.Transient,
		},
		{"misdirected", 421, "", annotator.Transient},
		{"locked", 423, "", annotator.Transient},
		{"redirect", 307, `{"error":{"message":"x","code":500}}`, annotator.Unsafe},
		{"no balance", 402, "", annotator.Misconfigured},
		{"unknown 4xx", 418, "I am a teapot", annotator.Refused},
		{"unknown 5xx", 599, "?", annotator.Transient},
		{
			"overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
			annotator.Overloaded,
		},
	}
	for _, test := range tests {
		t.Run(test.fault, func(t *testing.T) {
			t.Parallel()
			f := model.Classify(test.status, http.Header{}, []byte(test.body))
			if f.Kind != test.want {
				t.Errorf("%d %s: kind %q, want %q", test.status, test.body, f.Kind, test.want)
			}
			if !errors.Is(f, test.want) {
				t.Errorf("errors.Is(%v, %v) is false", f, test.want)
			}
		})
	}
}

func TestClassifyKeepsWhatIsSaid(t *testing.T) {
	t.Parallel()
	header := http.Header{
		"Retry-After": {"Fri, 20 Nov 2026 10:00:30 GMT"},
		"Date":        {"Fri, 20 Nov 2026 10:00:00 GMT"},
	}
	body := `{"error":{"code":400,"message":"exceeds\u0000\u001b[31m\n the   limit","type":"exceed_context_size_error","param":"messages","n_ctx":4096}}`
	f := model.Classify(500, header, []byte(body))
	if f.Status != 400 || f.Code != "exceed_context_size_error" || f.Param != "messages" || f.MaxContext != 4096 {
		t.Errorf("status %d, code %q, param %q, context %d", f.Status, f.Code, f.Param, f.MaxContext)
	}
	if f.RetryAfter != 30*time.Second {
		t.Errorf("retry after %v, want 30s", f.RetryAfter)
	}
	if string(f.Raw) != body {
		t.Errorf("raw is %s", f.Raw)
	}
	const want = "the endpoint answered 400 (exceed_context_size_error): exceeds [31m the limit"
	if f.Error() != want {
		t.Errorf("error is %q, want %q", f, want)
	}
}

func TestClassifyFindsTheDelayInABody(t *testing.T) {
	t.Parallel()
	const detail = `{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.QuotaFailure"},` +
		`{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"37.5s"}]}}`
	for header, want := range map[string]time.Duration{
		"": 37500 * time.Millisecond, "5": 37500 * time.Millisecond,
		"60": time.Minute,
	} {
		f := model.Classify(429, http.Header{"Retry-After": {header}}, []byte(detail))
		if f.RetryAfter != want || f.Kind != annotator.Overloaded || f.Code != "resource_exhausted" {
			t.Errorf("with a header of %q: %s (%s), %v", header, f.Kind, f.Code, f.RetryAfter)
		}
	}
}

func TestClassifyFindsTheDelayInMilliseconds(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]time.Duration{
		"2500":   2500 * time.Millisecond,
		"1000.5": 1000500 * time.Microsecond, "": time.Second, "-7": time.Second, "soon": time.Second,
	} {
		f := model.Classify(429, http.Header{"Retry-After": {"1"}, "Retry-After-Ms": {value}}, nil)
		if f.RetryAfter != want {
			t.Errorf("%q: %v, want %v", value, f.RetryAfter, want)
		}
	}
}

func TestClassifyFindsTheServersContext(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"the model's context length is only 4096 tokens",
		"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
		"The input token count (5000) exceeds the maximum number of tokens allowed (4096).",
		"longer than the model's context length (4096 tokens).",
		"max_output_tokens=40000 cannot be greater than max_model_len=4096. Please request fewer output tokens. " +
			"(parameter=max_output_tokens, value=40000)",
	} {
		body := fmt.Appendf(nil, `{"message":%q}`, message)
		if f := model.Classify(400, nil, body); f.MaxContext != 4096 {
			t.Errorf("%s: context %d, want 4096", message, f.MaxContext)
		}
	}
}

func TestCarriesError(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]bool{
		`{"error":{"message":"x"}}`:                      true,
		`{"error":"x"}`:                                  true,
		`{"detail":"x"}`:                                 true,
		`{"object":"error","message":"x"}`:               true,
		`{"error":null,"choices":[]}`:                    false,
		`{"error":"","choices":[]}`:                      false,
		`{"choices":[{"delta":{}}],"detail":"low"}`:      false,
		`{"object":"chat.completion.chunk"}`:             false,
		`error`:                                          false,
		`["error"]`:                                      false,
		`{"choices":[{"delta":{"content":"error: x"}}]}`: false,
	} {
		if got := model.CarriesError([]byte(body)); got != want {
			t.Errorf("CarriesError(%s) = %v", body, got)
		}
	}
}

func TestClassifyTransport(t *testing.T) {
	t.Parallel()
	known := &model.Fault{Kind: annotator.Unsafe}
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	tests := []struct {
		fault string
		err   error
		want  annotator.Kind
	}{
		{"refused", dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)), annotator.Unreachable},
		{"dial timeout", dial(os.ErrDeadlineExceeded), annotator.Unreachable},
		{"no host", dial(&net.DNSError{Err: "no such host", Name: "nowhere", IsNotFound: true}), annotator.Unreachable},
		{"reset", &net.OpError{Op: "read", Err: syscall.ECONNRESET}, annotator.Transient},
		{"EOF", io.EOF, annotator.Transient},
		{"cut", io.ErrUnexpectedEOF, annotator.Transient},
		{"cancelled", fmt.Errorf("read: %w", context.Canceled), annotator.Interrupted},
		{"caller's deadline", context.DeadlineExceeded, annotator.Transient},
		{"no descriptors", dial(os.NewSyscallError("socket", syscall.EMFILE)), annotator.Misconfigured},
		{"a fault", fmt.Errorf("wrapped: %w", known), annotator.Unsafe},
	}
	for _, test := range tests {
		if f := model.ClassifyTransport(test.err); f.Kind != test.want || f != known && !errors.Is(f, test.err) {
			t.Errorf("%s: %v is %q, want %q", test.fault, test.err, f.Kind, test.want)
		}
	}
}

// TestFaultInPlainWords: the message of a broken connection does not have Go's word EOF.
func TestFaultInPlainWords(t *testing.T) {
	t.Parallel()
	elsewhere := http.Header{"Location": {"https://other.test/v1/chat?key=canary"}}
	for want, fault := range map[string]*model.Fault{
		"the connection was closed before an answer came": model.ClassifyTransport(io.EOF),
		"the connection broke off in the middle of the answer": model.ClassifyTransport(
			fmt.Errorf("body: %w", io.ErrUnexpectedEOF)),
		"the endpoint answered 307: it redirects to another address at other.test": model.Classify(307, elsewhere, nil),
		"the endpoint answered 307: it redirects to another address":               model.Classify(307, nil, nil),
	} {
		if got := fault.Error(); got != want {
			t.Errorf("%q, not %q", got, want)
		}
	}
}

// TestClassifyTransportTLS classifies errors of net/http.
func TestClassifyTransportTLS(t *testing.T) {
	t.Parallel()
	secure, plain := httptest.NewUnstartedServer(nil), httptest.NewUnstartedServer(nil)
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.StartTLS()
	defer secure.Close()
	plain.Start()
	defer plain.Close()
	for _, url := range []string{secure.URL, strings.Replace(plain.URL, "http:", "https:", 1)} {
		req, _ := http.NewRequest(http.MethodGet, url, nil)
		resp, err := new(http.Transport).RoundTrip(req)
		if err == nil {
			resp.Body.Close()
			t.Fatalf("%s: no error", url)
		}
		if f := model.ClassifyTransport(err); f.Kind != annotator.Misconfigured || f.Advice == "" {
			t.Errorf("%v is %q with advice %q, want %q", err, f.Kind, f.Advice, annotator.Misconfigured)
		}
	}
}

func FuzzClassify(f *testing.F) {
	f.Add(400, "text/plain", []byte("nope"))
	f.Add(200, "application/json", []byte(`{"error":{"message":["a","b"],"code":1e400,"n_ctx":-1}}`))
	f.Add(500, "text/html", []byte("<html>"))
	f.Add(429, "", []byte(`[{"error":{"code":"x","message":{"a":1}}}]`))
	f.Add(302, "", []byte("\xff\xfe\x00"))
	f.Fuzz(func(t *testing.T, status int, media string, body []byte) {
		header := http.Header{"Content-Type": {media}, "Retry-After": {string(body)}, "Location": {string(body)}}
		fault := model.Classify(status, header, body)
		if fault.Kind == "" || fault.Error() == "" {
			t.Errorf("no kind or no text: %+v", fault)
		}
		if fault.RetryAfter < 0 || fault.MaxContext < 0 {
			t.Errorf("below zero: %+v", fault)
		}
		if line := fault.Error(); !utf8.ValidString(line) || strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("not printable: %q", line)
		}
	})
}

// TestClassifyFindsTheLimitOfReplies: a refusal of the reply's limit is about that, in the words of several servers. It
// says nothing of the context.
func TestClassifyFindsTheLimitOfReplies(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens for claude-3-5-haiku-20241022",
		"max_tokens is too large: 30000. This model supports at most 16384 completion tokens, whereas you provided " +
			"30000.",
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]",
		"`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than the " +
			"`context_window` for this model",
		"Range of max_tokens should be [1, 8192]",
		"Unable to submit request because it has a maxOutputTokens value of 16384 but the supported range is from 1 " +
			"(inclusive) to 8193 (exclusive).",
	} {
		body := fmt.Appendf(nil, `{"error":{"message":%q}}`, message)
		f := model.Classify(400, nil, body)
		if f.Kind != annotator.PromptTooLong || f.Param != "max_tokens" || f.MaxContext != 0 {
			t.Errorf("%s: %s about %q, with a context of %d", message, f.Kind, f.Param, f.MaxContext)
		}
	}
}
