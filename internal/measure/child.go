package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// roles are the jobs of child processes, by the first argument.
var roles = map[string]func(context.Context, walkJob) (*walked, error){
	"serve": func(context.Context, walkJob) (*walked, error) { return nil, serve() },
	"walk":  walk,
	"bare":  bare,
}

// beChild runs the role that the first argument names, with the job that the second one encodes, and prints the result.
func beChild(ctx context.Context, args []string) error {
	var job walkJob
	if len(args) > 1 {
		if err := json.Unmarshal([]byte(args[1]), &job); err != nil {
			return fmt.Errorf("read the job: %w", err)
		}
	}
	result, err := roles[args[0]](ctx, job)
	if err != nil || result == nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

// child runs a job in another process.
func child(ctx context.Context, role string, job walkJob) (*walked, error) {
	encoded, err := json.Marshal(job)
	if err != nil {
		return nil, err
	}
	command, err := self(ctx, role, string(encoded))
	if err != nil {
		return nil, err
	}
	out, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("%s in another process: %w", role, err)
	}
	var result walked
	if err := json.Unmarshal(out, &result); err != nil {
		return nil, fmt.Errorf("%s in another process: %w", role, err)
	}
	return &result, nil
}

func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	command := exec.CommandContext(ctx, path, args...)
	command.Stderr = os.Stderr
	return command, nil
}

// modelServer is a process that serves the scripted model, with nothing in its cache.
type modelServer struct {
	base string // of its address, with /v1
	stop func() error
}

func startEndpoint(ctx context.Context) (*modelServer, error) {
	command, err := self(ctx, "serve")
	if err != nil {
		return nil, err
	}
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start the endpoint: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("start the endpoint: %w", err)
	}
	return &modelServer{base: strings.TrimSpace(line), stop: func() error {
		_ = in.Close()
		return command.Wait()
	}}, nil
}
