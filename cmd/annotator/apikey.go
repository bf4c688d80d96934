package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"annotator"
)

// keySetting names the API key among the settings. It has no flag: other users of the machine can read command lines.
const keySetting = "api-key"

// apiKey is the API key and where it comes from. The key itself is never printed.
type apiKey struct {
	value   string
	source  string
	warning string // about the permissions of its file
}

// readKey reads the key from the file that --api-key-file names, else from the environment, else from the configured
// file.
func (a *app) readKey(c *Config, fileSource string) (apiKey, error) {
	if !strings.HasPrefix(fileSource, "flag") {
		for _, name := range keyVariables(c.wire()) {
			if value := a.getenv(name); value != "" {
				return apiKey{value: value, source: "environment " + name}, nil
			}
		}
	}
	if c.APIKeyFile == "" {
		return apiKey{}, nil
	}
	return readKeyFile(c.APIKeyFile)
}

// keyVariables returns the variables that may hold the key. An OpenAI key is not sent to another vendor.
func keyVariables(wire string) []string {
	names := environment(keySetting)
	if wire == wireAnthropic || wire == wireGemini {
		return names[:1]
	}
	return names
}

// maxKey is the most that is read of a key file, in bytes.
const maxKey = 64 << 10

func readKeyFile(path string) (apiKey, error) {
	file, err := os.Open(path)
	if err != nil {
		return apiKey{}, annotator.Errorf(annotator.Misused, "read the API key: %w", err).WithAdvice("name the file that holds it with --api-key-file")
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxKey))
	info, statErr := file.Stat()
	if err := cmp.Or(err, statErr); err != nil {
		return apiKey{}, annotator.Errorf(annotator.Misused, "read the API key: %w", err)
	}
	key := apiKey{value: strings.TrimSpace(string(text)), source: "file " + path}
	if key.value == "" {
		return apiKey{}, annotator.Errorf(annotator.Misused, "the API key file %s is empty", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		key.warning = "other users can read " + path + "; `chmod 600 " + quoted(path) + "` makes it private"
	}
	return key, nil
}
