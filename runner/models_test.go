package runner_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"annotator"
	"annotator/internal/scripted"
)

// unready is a network on which the list of models is not to be had at first, for ever where times is below 0.
type unready struct {
	times  int
	err    error // where nobody answers
	status int
	body   string
	asked  int
}

func (u *unready) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/models") || u.times >= 0 && u.asked == u.times {
		return http.DefaultTransport.RoundTrip(r)
	}
	u.asked++
	if u.err != nil {
		return nil, u.err
	}
	header := http.Header{"Content-Type": {http.DetectContentType([]byte(u.body))}}
	return &http.Response{
		StatusCode: u.status, Header: header, Body: io.NopCloser(strings.NewReader(u.body)),
		Request: r,
	}, nil
}

// TestModelsOfAServerThatIsNotReady: where only the server can name the model, it is waited for as it is for a reply.
func TestModelsOfAServerThatIsNotReady(t *testing.T) {
	t.Parallel()
	refused := fmt.Errorf("dial: %w", syscall.ECONNREFUSED)
	loading := `{"error":{"message":"Loading model","code":503}}`
	for name, test := range map[string]struct {
		network unready
		model   string
		reason  annotator.Reason // of the halt; empty: there is none
	}{
		"refused":            {unready{times: 3, err: refused}, "", ""},
		"loading":            {unready{times: 3, status: 503, body: loading}, "", ""},
		"a bad gateway":      {unready{times: 3, status: 502}, "", ""},
		"refused, but named": {unready{times: -1, err: refused}, "scripted", ""},
		"no list, but named": {unready{times: -1, status: 404}, "scripted", ""},
		"no list":            {unready{times: -1, status: 404}, "", annotator.ReasonNoModelList},
		"no key":             {unready{times: -1, status: 401}, "", annotator.ReasonKeyRefused},
		"refused for ever":   {unready{times: -1, err: refused}, "", annotator.ReasonNeverReached},
		"a web page for a list": {
			unready{times: -1, status: 200, body: "<html>hotel"},
			"",
			annotator.ReasonWrongModelList,
		},
		"another wire's list": {
			unready{times: -1, status: 200, body: `{"models":[]}`},
			"",
			annotator.ReasonWrongModelList,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{})
			s.transport, s.config.Model = &test.network, test.model
			if s.config.Retry.Max = time.Millisecond; test.network.times < 0 {
				s.config.Retry.Patience = 100 * time.Millisecond
			}
			waits := 0
			s.bus.Subscribe(func(n annotator.Notice) {
				if n.Kind == annotator.NoticeWait {
					waits++
				}
			})
			s.config.Advise = withReason
			err := s.run("run")
			if test.reason == "" {
				if err != nil || s.state("run").Recorded != 2 || s.state("run").Model != "scripted" {
					t.Error(err)
				}
				if waits != max(test.network.times, 0) {
					t.Errorf("it waited %d times", waits)
				}
				return
			}
			if !errors.Is(err, annotator.Halted) || !strings.Contains(err.Error(), string(test.reason)) {
				t.Error(err)
			}
		})
	}
}

// hanging is a server, in this process, that never lists its models.
type hanging struct{ http.Handler }

func (h hanging) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasSuffix(r.URL.Path, "/models") {
		<-r.Context().Done()
		return nil, r.Context().Err()
	}
	answer := httptest.NewRecorder()
	h.ServeHTTP(answer, r)
	return answer.Result(), nil
}

// TestModelsThatNeverCome tests a list of models that never arrives. It costs a run that knows its model half a minute.
// A run that does not know it gets a message about what it waits for.
func TestModelsThatNeverCome(t *testing.T) {
	t.Parallel()
	s := newStage(t, story{threads: 1, scenes: 2}, scripted.Options{})
	synctest.Test(t, func(t *testing.T) {
		s.transport = hanging{scripted.New(scripted.Options{})}
		s.config.Model = "scripted"
		began := time.Now()
		if err := s.run("named"); err != nil || time.Since(began) > time.Minute {
			t.Errorf("it took %s (%v)", time.Since(began), err)
		}
		// the patience is asked for
		s.config.Model, s.config.Retry.Patience, s.config.Retry.FirstContact = "", 5*time.Minute, 0
		err := s.run("nameless")
		if !errors.Is(err, annotator.Halted) ||
			!strings.Contains(err.Error(), "for its models: the call took longer than it may, and 5m") {
			t.Error(err)
		}
		if took := time.Since(began); took > 10*time.Minute {
			t.Errorf("it took %s to halt", took)
		}
	})
}
