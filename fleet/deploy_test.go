package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
	batch "k8s.io/api/batch/v1"
	"sigs.k8s.io/yaml"
)

const deployed = "../deploy/fleet"

// again says which statuses a supervisor answers with another start. Any other is for a person, or the end.
var again = map[int]bool{exitDone: false, exitMisuse: false, exitHalted: true, exitFailed: false, exitAgain: true}

// graceOf is how long a worker may take to end.
func graceOf(t *testing.T) time.Duration {
	t.Helper()
	var o options
	o.flags("worker")
	if o.work.grace == 0 {
		t.Fatal("a worker has no grace")
	}
	return o.work.grace
}

func readDeployed(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployed, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestJob decodes the Job by the types of Kubernetes, and asks its policy about each exit status.
func TestJob(t *testing.T) {
	var job batch.Job
	if err := yaml.UnmarshalStrict(readDeployed(t, "job.yaml"), &job); err != nil {
		t.Fatal(err)
	}
	spec, pod := job.Spec, job.Spec.Template.Spec
	if job.APIVersion != "batch/v1" || *spec.CompletionMode != batch.IndexedCompletion || pod.RestartPolicy != "Never" {
		t.Error("it is no Indexed Job whose pods the policy decides on")
	}
	if *pod.TerminationGracePeriodSeconds <= int64(graceOf(t).Seconds()) {
		t.Error("a pod is killed before its worker may have ended")
	}
	const counted batch.PodFailurePolicyAction = "Count"
	want := map[int]batch.PodFailurePolicyAction{
		exitMisuse: batch.PodFailurePolicyActionFailJob, exitFailed: batch.PodFailurePolicyActionFailIndex,
		exitHalted: counted, exitAgain: batch.PodFailurePolicyActionIgnore, 137: counted,
	}
	for status, action := range want {
		got := counted
		for _, rule := range spec.PodFailurePolicy.Rules { // the first that fits decides
			on := rule.OnExitCodes
			if on == nil {
				continue
			}
			if *on.ContainerName != pod.Containers[0].Name || on.Operator != batch.PodFailurePolicyOnExitCodesOpIn {
				t.Fatalf("%+v", on)
			}
			if slices.Contains(on.Values, int32(status)) {
				got = rule.Action
				break
			}
		}
		if got != action {
			t.Errorf("a pod that ends with %d: %s, not %s", status, got, action)
		}
	}
	if *spec.BackoffLimitPerIndex <= 5 {
		t.Error("an index fails before the store gives its story up")
	}
	checkArguments(t, pod.Containers[0].Args)
}

// checkArguments parses the arguments of a worker as the program does.
func checkArguments(t *testing.T, args []string) {
	t.Helper()
	var o options
	if len(args) == 0 || args[0] != "worker" {
		t.Fatalf("%q is no worker", args)
	}
	if err := o.flags("worker").Parse(args[1:]); err != nil {
		t.Error(err)
	}
}

// TestCompose loads the file as Compose does, which checks it by the schema.
func TestCompose(t *testing.T) {
	project, err := loader.LoadWithContext(t.Context(), types.ConfigDetails{
		WorkingDir:  deployed,
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: readDeployed(t, "compose.yaml")}},
	}, func(o *loader.Options) { o.SetProjectName("fleet", true) })
	if err != nil {
		t.Fatal(err)
	}
	worker := project.Services["worker"]
	if time.Duration(*worker.StopGracePeriod) <= graceOf(t) {
		t.Error("a container is killed before its worker may have ended")
	}
	if !strings.HasPrefix(worker.Restart, "on-failure:") {
		t.Errorf("a worker that has read all, or can read none, is started again: %s", worker.Restart)
	}
	checkArguments(t, worker.Command)
}

// TestUnit has systemd check the unit, and compares the statuses that it names.
func TestUnit(t *testing.T) {
	unit := string(readDeployed(t, "annotator-fleet@.service"))
	settings := map[string]string{}
	for line := range strings.Lines(unit) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), "="); ok && line[0] != '#' {
			settings[name] = value
		}
	}
	for status, starts := range again {
		text := strconv.Itoa(status)
		prevented := slices.Contains(strings.Fields(settings["RestartPreventExitStatus"]), text)
		clean := status == 0 || slices.Contains(strings.Fields(settings["SuccessExitStatus"]), text)
		forced := slices.Contains(strings.Fields(settings["RestartForceExitStatus"]), text)
		if restarts := forced || !clean && !prevented; restarts != starts || settings["Restart"] != "on-failure" {
			t.Errorf("a worker that ends with %d is started again: %t", status, restarts)
		}
	}
	if limit, err := time.ParseDuration(strings.TrimSuffix(settings["TimeoutStopSec"], "in")); err != nil ||
		limit <= graceOf(t) {
		t.Errorf("a worker is killed before it may have ended: %v", err)
	}
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not installed")
	}
	path := filepath.Join(t.TempDir(), "annotator-fleet@.service")
	unit = strings.ReplaceAll(unit, "/usr/bin/annotator-fleet", filepath.Join(programs, "annotator-fleet"))
	if err := os.WriteFile(path, []byte(unit), 0o600); err != nil {
		t.Fatal(err)
	}
	instance := strings.Replace(path, "@", "@1", 1)
	if out, err := exec.Command(program, "verify", instance).CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v: %s", err, out)
	}
}

// TestBatchScript runs the script of Slurm with a worker that ends with each status. The commands that Slurm would have
// are scripts that write down their arguments.
func TestBatchScript(t *testing.T) {
	script, err := filepath.Abs(filepath.Join(deployed, "worker.sbatch"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(t *testing.T, worker string, signal bool) (status int, requeued string) {
		t.Helper()
		dir := t.TempDir()
		for name, text := range map[string]string{
			"annotator-fleet": worker, "scontrol": `echo "$@" >requeued`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/bash\n"+text+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command("bash", script, "--model", "two words")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_ARRAY_JOB_ID=40",
			"SLURM_ARRAY_TASK_ID=7")
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begun := time.Now(); signal && time.Since(begun) < 20*time.Second; time.Sleep(10 * time.Millisecond) {
			if _, err := os.Stat(filepath.Join(dir, "begun")); err == nil {
				_ = cmd.Process.Signal(syscall.SIGTERM)
				break
			}
		}
		if exit := (*exec.ExitError)(nil); !errors.As(cmd.Wait(), &exit) && cmd.ProcessState.ExitCode() != 0 {
			t.Fatal(out.String())
		}
		text, _ := os.ReadFile(filepath.Join(dir, "requeued"))
		if out.Len() > 0 {
			t.Error(out.String())
		}
		return cmd.ProcessState.ExitCode(), strings.TrimSpace(string(text))
	}
	for status, starts := range again {
		got, requeued := run(t, fmt.Sprintf(
			`[ "$1 $2 ${3##*/} $4 $5 $6" = "worker --dir 7 -- --model two words" ] || exit 1; exit %d`, status), false)
		if got != status || (requeued == "requeue 40_7") != starts {
			t.Errorf("a worker ends with %d: the script with %d, and then %q", status, got, requeued)
		}
	}
	got, requeued := run(t, `trap 'sleep 0.3; exit 75' TERM; touch begun; while :; do sleep 0.05; done`, true)
	if got != exitAgain || requeued == "" {
		t.Errorf("a task that is told to end: the script ends with %d, and then %q", got, requeued)
	}
}
