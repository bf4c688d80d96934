package runner_test

import (
	"bytes"
	"testing"

	"annotator/internal/scripted"
)

// TestStrictTools: whether tools are marked as strict is settled before the first scene, recorded, and the same in each later
// process. A server that refuses it is not asked again; a run that began without goes on without.
func TestStrictTools(t *testing.T) {
	t.Parallel()
	strict := func(r *scripted.Request) bool { return bytes.Contains(r.Params["tools"], []byte(`"strict":true`)) }
	refuse := func(_ int, r scripted.Request) *scripted.Fault {
		if strict(&r) {
			return &scripted.Fault{Status: 400, Body: `{"error":{"message":"Invalid schema for function 'glossary_search': In context=(), 'required' is required to be supplied.","type":"invalid_request_error","param":"tools[0].function.parameters","code":"invalid_function_parameters"}}`}
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
		if n := s.count("run", `SELECT count(*) FROM snapshot_context WHERE workarounds LIKE 'strict_tools%'`); (n > 0) != (test.marked || test.fault != nil) {
			t.Errorf("%s: %d prompts with strict tools", name, n)
		}
	}
}
