package runner_test

import (
	"bytes"
	"strings"
	"testing"

	"annotator/internal/scripted"
)

// TestStrictToolsKeepTheirSchemas: whether tools are marked as strict is settled before the first scene, recorded, and
// the same in each later process. A server that refuses it is not asked again; a run that began without goes on
// without.
func TestStrictToolsKeepTheirSchemas(t *testing.T) {
	t.Parallel()
	strict := func(r *scripted.Request) bool { return bytes.Contains(r.Params["tools"], []byte(`"strict":true`)) }
	refuse := func(_ int, r scripted.Request) *scripted.Fault {
		if strict(&r) {
			return &scripted.Fault{
				Status: 400,
				Body:   `{"error":{"message":"Invalid schema for function 'glossary_search': In context=(), 'required' is required to be supplied.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`,
			}
		}
		return nil
	}
	for name, test := range map[string]struct {
		fault   func(int, scripted.Request) *scripted.Fault
		without bool // the run began without a preflight, as by an older version
		marked  bool
	}{
		"taken": {nil, false, true}, "refused": {refuse, false, false}, "begun without": {nil, true, false},
	} {
		s := newStage(t, story{threads: 1, scenes: 4}, scripted.Options{Strict: true, Keep: true, Fault: test.fault})
		s.config.Limit = 1
		for n := range 4 {
			s.config.Preflight = n > 0 || !test.without
			before := len(s.server.Requests())
			if err := s.run("run"); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			sent := s.server.Requests()[before:]
			if last := &sent[len(sent)-1]; strict(last) != test.marked {
				t.Errorf("%s: process %d sends strict tools: %v", name, n, strict(last))
			}
			for i := range sent {
				if n > 0 && len(sent[i].Messages) > 9 && strict(&sent[i]) != test.marked {
					t.Errorf("%s: request %d of process %d is not as those before", name, i, n)
				}
			}
		}
		s.verify("run")
		if n := s.count("run",
			`SELECT count(*) FROM snapshot_context WHERE workarounds LIKE 'strict_tools%'`); (n > 0) !=
			(test.marked || test.fault != nil) {
			t.Errorf("%s: %d prompts with strict tools", name, n)
		}
	}
}

// TestStrictToolsThatBlockTheModel tests a grammar that allows the model only white space. The run stops using it after
// such a reply, the scene is requested again, and nothing of it is lost. Later processes do without it, too.
func TestStrictToolsThatBlockTheModel(t *testing.T) {
	t.Parallel()
	strict := func(r *scripted.Request) bool { return bytes.Contains(r.Params["tools"], []byte(`"strict":true`)) }
	s := newStage(t, story{threads: 1, scenes: 4}, scripted.Options{Keep: true})
	s.serve(scripted.Options{Keep: true, Script: func(r scripted.Request) scripted.Reply {
		reply := scripted.Annotate(r)
		// not in the preflight
		if strict(&r) && len(reply.ToolCalls) > 0 && !strings.Contains(string(r.Body), "doctor0") {
			last := len(reply.ToolCalls) - 1
			reply.ToolCalls[last].Arguments = `{"term": "Ash", ` + strings.Repeat(" \n\t", 400)
			reply.FinishReason = "length"
		}
		return reply
	}})
	s.config.Preflight, s.config.Limit = true, 2
	for range 2 {
		if err := s.run("blanks"); err != nil {
			t.Fatal(err)
		}
	}
	s.verify("blanks")
	if n := s.count("blanks",
		`SELECT count(*) FROM call WHERE decision = 'adapt' AND fault LIKE '%white space%'`); n != 1 {
		t.Errorf("it was learned %d times", n)
	}
	sent := s.server.Requests()
	if strict(&sent[len(sent)-1]) || s.state("blanks").Quarantined > 0 {
		t.Error("the tools are still strict, or a scene was refused")
	}
}
