package endpoint_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"annotator"
	"annotator/internal/wiretest"
	"annotator/model/endpoint"
)

// outOfFiles is the variable that makes a process the one whose files run out.
const outOfFiles = "ANNOTATOR_TEST_OUT_OF_FILES"

// TestOutOfFiles: a process without a free file descriptor reports that, for an address and for a name.
func TestOutOfFiles(t *testing.T) {
	t.Parallel()
	if os.Getenv(outOfFiles) != "" {
		connectWithoutFiles(t)
		return
	}
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestOutOfFiles$", "-test.v")
	child.Env = append(os.Environ(), outOfFiles+"=1")
	out, err := child.CombinedOutput()
	if err != nil || strings.Count(string(out), "no connection can be made") != 2 ||
		strings.Count(string(out), "ulimit -n") != 2 {
		t.Errorf("%v: %s", err, out)
	}
}

func connectWithoutFiles(t *testing.T) {
	var clients []*endpoint.Client
	for _, host := range []string{"127.0.0.1", "nowhere.test"} {
		clients = append(clients, newClient(t, endpoint.Options{BaseURL: "http://" + host + ":1/v1"}))
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: 64, Max: 64}); err != nil {
		t.Fatal(err)
	}
	for {
		file, err := os.Open(os.DevNull)
		if errors.Is(err, syscall.EMFILE) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
	}
	for _, c := range clients {
		_, err := c.Models(t.Context())
		f := wiretest.Fault(t, nil, err)
		if f.Kind != annotator.Misconfigured {
			t.Errorf("%v is %q", f, f.Kind)
		}
		fmt.Println(f, f.Advice)
	}
}
