package scripted_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"annotator/internal/scripted"
)

// dispatch sends a request over a connection, and returns the response before its body is complete.
func dispatch(ctx context.Context, s *scripted.Server, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint()+"/chat/completions",
		strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(request)
}

// send sends a request over a connection, and returns the response, its body and the error.
func send(ctx context.Context, s *scripted.Server, body string) (*http.Response, string, error) {
	response, err := dispatch(ctx, s, body)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	b, err := io.ReadAll(response.Body)
	return response, string(b), err
}

const (
	plainBody  = `{"messages":[{"role":"user","content":"x"}]}`
	streamBody = `{"stream":true,"messages":[{"role":"user","content":"x"}]}`
)

func startFaulty(t *testing.T, f *scripted.Fault) *scripted.Server {
	t.Helper()
	return scripted.Start(t, scripted.Options{Fault: func(call int, r scripted.Request) *scripted.Fault {
		if call != r.Call {
			t.Errorf("call %d of request %d", call, r.Call)
		}
		if call > 1 {
			return nil
		}
		return f
	}})
}

func TestFaultInPlaceOfAnAnswer(t *testing.T) {
	t.Parallel()
	s := startFaulty(t, &scripted.Fault{
		Status: 429, Header: http.Header{"Retry-After": {"5"}},
		Body: `{"error":"slow down"}`,
	})
	response, body, err := send(t.Context(), s, plainBody)
	if err != nil || response.StatusCode != 429 || response.Header.Get("Retry-After") != "5" ||
		body != `{"error":"slow down"}` {
		t.Errorf("%v: %s, %v", response, body, err)
	}
	if response, body, err := send(t.Context(), s, plainBody); err != nil || response.StatusCode != 200 {
		t.Errorf("the second call: %s, %v", body, err)
	}
	if s.Usage().Prompt != 7 {
		t.Errorf("%d tokens of the one call that was answered", s.Usage().Prompt)
	}
}

func TestFaultAsRawStream(t *testing.T) {
	t.Parallel()
	s := startFaulty(t, &scripted.Fault{Body: ": ping\n\ndata: {\"error\":{}}\n\n"})
	response, body, err := send(t.Context(), s, streamBody)
	if err != nil || response.Header.Get("Content-Type") != "text/event-stream; charset=utf-8" ||
		!strings.HasPrefix(body, ": ping") {
		t.Errorf("%v: %s, %v", response, body, err)
	}
}

func TestFaultServesWhateverItLikes(t *testing.T) {
	t.Parallel()
	serve := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere",
			http.StatusTeapot)
	})
	response, _, err := send(t.Context(), startFaulty(t, &scripted.Fault{Serve: serve}), plainBody)
	if err != nil || response.StatusCode != http.StatusTeapot {
		t.Errorf("%v, %v", response, err)
	}
}

func TestCutAnswerEndsTheConnection(t *testing.T) {
	t.Parallel()
	whole := serve(scripted.New(scripted.Options{}), []byte(streamBody)).Body.String()
	for _, n := range []int{1, 100, len(whole)} {
		response, body, err := send(t.Context(), startFaulty(t, &scripted.Fault{Cut: n}), streamBody)
		if !errors.Is(err, io.ErrUnexpectedEOF) || response.StatusCode != http.StatusOK || body != whole[:n] {
			t.Errorf("cut after %d bytes: %q, %v", n, body, err)
		}
	}
	if _, body, err := send(t.Context(), startFaulty(t, &scripted.Fault{Cut: len(whole) + 1}),
		streamBody); err != nil || body != whole {
		t.Errorf("cut behind the end: %q, %v", body, err)
	}
	if _, _, err := send(t.Context(), startFaulty(t, &scripted.Fault{Cut: -1}), streamBody); !errors.Is(err, io.EOF) {
		t.Errorf("cut before the headers: %v", err)
	}
}

func TestShortContentLength(t *testing.T) {
	t.Parallel()
	s := startFaulty(t, &scripted.Fault{Status: 200, Header: http.Header{"Content-Length": {"100"}}, Body: "{"})
	if _, body, err := send(t.Context(), s, plainBody); !errors.Is(err, io.ErrUnexpectedEOF) || body != "{" {
		t.Errorf("%q, %v", body, err)
	}
}

// TestSilenceEndsWithTheClient: a client disconnects before and within the answer. If the server remained silent, the
// test would not end.
func TestSilenceEndsWithTheClient(t *testing.T) {
	t.Parallel()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	silent := scripted.Start(t, scripted.Options{Fault: func(int, scripted.Request) *scripted.Fault {
		hangUp()
		return &scripted.Fault{Delay: time.Hour}
	}})
	if _, body, err := send(ctx, silent, streamBody); !errors.Is(err, context.Canceled) || body != "" {
		t.Errorf("before the answer: %q, %v", body, err)
	}
	ctx, hangUp = context.WithCancel(t.Context())
	defer hangUp()
	response, err := dispatch(ctx, startFaulty(t, &scripted.Fault{Cut: 10, Stall: time.Hour}), streamBody)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, err := io.ReadFull(response.Body, make([]byte, 10)); err != nil {
		t.Errorf("the beginning of the answer: %v", err)
	}
	hangUp()
	if rest, err := io.ReadAll(response.Body); !errors.Is(err, context.Canceled) || len(rest) > 0 {
		t.Errorf("within the answer: %q, %v", rest, err)
	}
}

func TestTruncatedRequestIsRefused(t *testing.T) {
	t.Parallel()
	request, err := http.NewRequest(http.MethodPost, "/v1/chat/completions", bytes.NewReader([]byte(plainBody)[:10]))
	if err != nil {
		t.Fatal(err)
	}
	request.ContentLength = int64(len(plainBody))
	w := newRecorder(scripted.New(scripted.Options{}), request)
	if w.Code != http.StatusBadRequest || !strings.Contains(w.Body.String(), "parsing the body") {
		t.Errorf("status %d: %s", w.Code, w.Body)
	}
}
