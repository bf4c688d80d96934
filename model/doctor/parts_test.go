package doctor_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"annotator/internal/scripted"
	"annotator/model"
	"annotator/model/doctor"
)

// families has the finding about each family of templates, and its workarounds.
var families = map[string]struct {
	check       string
	state       doctor.State
	seen        string
	workarounds string
}{
	"whole": {"renders all parts", doctor.OK, "by counts of tokens", ""},
	"Llama 3.1": {
		"replays a call", doctor.OK, "adapted: each of several calls goes as a message of its own",
		"pair_calls",
	},
	"gpt-oss": {
		"renders all parts", doctor.OK,
		"adapted: each of several calls goes as a message of its own, with its result, text beside calls is not sent",
		"pair_calls no_text_beside_calls",
	},
	"GigaChat 3": {"renders all parts", doctor.OK, "adapted: each of several calls", "pair_calls"},
	"Mistral Nemo": {
		"renders all parts", doctor.OK, "adapted: the system prompt goes into the first message",
		"system_in_user",
	},
	"Phi-3.5": {
		"renders all parts", doctor.Missing,
		"drops the tools, the model's calls, the results of tools: the model has to write blocks", "loose_count",
	},
	"LFM2": {"renders all parts", doctor.Missing, "drops the model's calls", "loose_count"},
	"DeepSeek-V3.1": {
		"renders all parts", doctor.Missing, "drops the tools: the model has to write blocks",
		"loose_count",
	},
	"drops results": {
		"renders all parts", doctor.Failed, "drops the results of tools: the model never learns",
		"loose_count",
	},
	"drops system": {
		"renders all parts", doctor.OK, "adapted: the system prompt goes into the first message",
		"system_in_user",
	},
	"no tools, loud": {"replays a call", doctor.Failed, "cannot render this conversation", ""},
}

// TestOmissionsOfTemplatesAreFound: parts that a template omits are found by token counts, and worked around if
// possible.
func TestOmissionsOfTemplatesAreFound(t *testing.T) {
	t.Parallel()
	templates := scripted.Families()
	if !slices.Equal(slices.Sorted(maps.Keys(templates)), slices.Sorted(maps.Keys(families))) {
		t.Fatal("not each family has a finding")
	}
	for name, want := range families {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report, found := examine(t,
				newEndpoint(t, scripted.Start(t, scripted.Options{Script: healthy, Template: templates[name]}).URL))
			if f := found[want.check]; f.State != want.state || !strings.Contains(f.Seen, want.seen) {
				t.Errorf("%s is %s: %s", want.check, f.State, f.Seen)
			}
			strict := model.StrictTools
			if got := (report.Capabilities.Workarounds &^ strict).Rendering(); got != want.workarounds {
				t.Errorf("worked around by %q", got)
			}
			if want.state != doctor.OK && !cures(report, want.check, "--chat-template FILE") {
				t.Errorf("the remedies are %+v", report.Remedies)
			}
			if want.state != doctor.Failed && !report.Works() {
				t.Errorf("a run would not work: %+v", report.Findings)
			}
		})
	}
}
