package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"annotator/model/doctor"
)

// TestDoctorViewSkipped: skipped checks with the same reason share a line.
func TestDoctorViewSkipped(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	v := &doctorView{out: &out}
	skipped := func(check, why string) { v.finding(&doctor.Finding{Check: check, State: doctor.Skipped, Seen: why}) }
	skipped("authenticates", "no list")
	v.finding(&doctor.Finding{Check: "answers", State: doctor.Failed, Seen: "refused"})
	skipped("streams", "nothing answers")
	skipped("reports usage", "nothing answers")
	skipped("keeps roles", "nothing answers")
	skipped("honours json_schema", "not on this wire")
	skipped("keeps thoughts apart", "not on this wire")
	v.flush()
	want := `
skipped  authenticates                    no list
failed   answers                          refused
skipped  3 checks                         nothing answers
skipped  honours json_schema              not on this wire
skipped  keeps thoughts apart             not on this wire
`
	if diff := cmp.Diff(want, "\n"+out.String()); diff != "" {
		t.Error(diff)
	}
}

// TestDoctorView prints findings on terminals of several widths. Control sequences of the server are not printed.
func TestDoctorView(t *testing.T) {
	t.Parallel()
	found := []doctor.Finding{
		{Check: "reaches", State: doctor.OK, Seen: "vLLM", Took: 2300 * time.Millisecond},
		{Check: "reports cached tokens", State: doctor.Missing, Seen: "none of 3017,\n\x1b[2J for a prompt that was " +
			"sent before", Took: time.Microsecond},
	}
	tests := []struct {
		name   string
		width  int
		colour bool
		want   string
	}{
		{"a pipe", 0, false, `
ok       reaches                    2.3s  vLLM
missing  reports cached tokens            none of 3017, [2J for a prompt that was sent before
`},
		{"a terminal", 78, true, `
<32mok<0m       reaches                    2.3s  vLLM
<33mmissing<0m  reports cached tokens            none of 3017, [2J for a prompt that
                                          was sent before
`},
		{"a narrow terminal", 50, false, `
ok       reaches                    2.3s  vLLM
missing  reports cached tokens
    none of 3017, [2J for a prompt that was sent
    before
`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			out.WriteString("\n")
			v := &doctorView{out: &out, width: test.width, colour: test.colour}
			for i := range found {
				v.finding(&found[i])
			}
			if diff := cmp.Diff(test.want, strings.NewReplacer("\x1b[", "<").Replace(out.String())); diff != "" {
				t.Error(diff)
			}
		})
	}
}
