package main

import (
	"cmp"
	"io"
	"os"
	"strings"

	"annotator"
)

// keySetting is the API key among the settings. It is no flag: other users see a command line.
const keySetting = "api-key"

// apiKey is the key with where it comes from. Nothing prints it.
type apiKey struct {
	value   string
	origin  string
	warning string // a word to the user about the file it lies in
}

// readKey finds the key: in the file that a flag names, else in the environment, else in the file that the configuration
// names.
func (a *app) readKey(c *Config, fileOrigin string) (apiKey, error) {
	if !strings.HasPrefix(fileOrigin, "flag") {
		for _, name := range keyVariables(c.wire()) {
			if value := a.getenv(name); value != "" {
				return apiKey{value: value, origin: "environment " + name}, nil
			}
		}
	}
	if c.APIKeyFile == "" {
		return apiKey{}, nil
	}
	return readKeyFile(c.APIKeyFile)
}

// keyVariables are the variables that may hold the key. One that was made for OpenAI is not shown to another vendor.
func keyVariables(wire string) []string {
	names := environment(keySetting)
	if wire == wireAnthropic || wire == wireGemini {
		return names[:1]
	}
	return names
}

// maxKey bounds what is read of a file that is said to hold a key, in bytes.
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
	key := apiKey{value: strings.TrimSpace(string(text)), origin: "file " + path}
	if key.value == "" {
		return apiKey{}, annotator.Errorf(annotator.Misused, "the API key file %s is empty", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		key.warning = path + " can be read by other users; `chmod 600 " + quoted(path) + "` keeps the key yours"
	}
	return key, nil
}
