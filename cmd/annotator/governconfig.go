package main

import (
	"io"
	"os"
	"slices"

	"annotator"
	"annotator/policy"
	"annotator/tools"
)

// readMatrix reads the policy of the tools: the file that is named, else the default one.
func (c *Config) readMatrix() (*policy.Policy, error) {
	if !slices.Contains(policy.Levels(), policy.Level(c.Governance)) {
		return nil, outOfRange("governance", "off, observe or enforce", c.Governance)
	}
	if c.GovernancePolicy == "" {
		return policy.Default(), nil
	}
	file, err := os.Open(c.GovernancePolicy)
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the policy: %w", err).WithAdvice("name a file with --governance-policy")
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, policy.MaxBytes+1))
	if err != nil {
		return nil, annotator.Errorf(annotator.Misused, "read the policy %s: %w", c.GovernancePolicy, err)
	}
	var known []string
	for _, tool := range tools.All() {
		known = append(known, tool.Name)
	}
	matrix, err := policy.Parse(c.GovernancePolicy, text, known)
	if err != nil {
		return nil, err
	}
	writes := func(t tools.Tool) bool {
		return t.Permission == tools.Writes && matrix.Permits(policy.Annotate, t.Name)
	}
	if !slices.ContainsFunc(c.allTools(), writes) {
		return nil, annotator.Errorf(annotator.Misused, "%s permits no tool that writes, so nothing could ever be noted", c.GovernancePolicy).
			WithAdvice("list %s under an intent of the mode annotate; `annotator tools --policy` prints a policy to begin with", tools.CreateName)
	}
	return matrix, nil
}

// tools are those that the model is given.
func (c *Config) tools() []tools.Tool {
	if policy.Level(c.Governance) == policy.Off {
		return c.allTools()
	}
	return tools.WithPolicy(c.matrix, c.allTools())
}

func (c *Config) allTools() []tools.Tool {
	if c.SnapshotTools {
		return tools.All()
	}
	return tools.Standard()
}

// withheld names the tools that no intent permits, and that the model is therefore not given.
func (c *Config) withheld() []string {
	var names []string
	for _, tool := range c.allTools() {
		if policy.Level(c.Governance) != policy.Off && !c.matrix.Permits(policy.Annotate, tool.Name) {
			names = append(names, tool.Name)
		}
	}
	return names
}
