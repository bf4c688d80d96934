package main

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"

	"annotator"
)

// keySetting names the API key among the settings. It has no flag: other users of the machine can read command lines.
const keySetting = "api-key"

// apiKey is the API key and where it comes from. The key itself is never printed.
type apiKey struct {
	value   string
	source  string
	warning string // about an insecure connection, or why the key is not sent; may be empty
}

// loadKey reads the key. It withholds it from an endpoint that the user has not named.
func (s *settings) loadKey(a *app) error {
	key, err := a.readKey(&s.Config, s.sources["api-key-file"])
	if err != nil || key.value == "" || s.Endpoint == offlineEndpoint {
		s.key = key
		return err
	}
	switch source := s.sources["endpoint"]; {
	case s.fromLocal["endpoint"]:
		s.key.warning = "no API key is sent to " + withoutSecrets(s.Endpoint) + ": only " + defaultConfigFile +
			" in this folder names it; --config " + defaultConfigFile + " allows it"
	case source == defaultSource:
		s.key.warning = "no API key is sent to " + withoutSecrets(s.Endpoint) + ": only the database names it; " +
			"--endpoint allows it"
	default:
		key.warning = unencrypted(s.Endpoint)
		s.key = key
	}
	return nil
}

// unencrypted returns a warning if the connection to an endpoint is not encrypted; else "".
func unencrypted(address string) string {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.Scheme != "http" {
		return "" // the client of the endpoint reports an invalid address
	}
	proxy, err := http.ProxyFromEnvironment(&http.Request{URL: u})
	if err == nil && proxy != nil {
		return fmt.Sprintf("the API key is sent to %s unencrypted, through the proxy %s; https protects it",
			u.Host, proxy.Host)
	}
	if host := u.Hostname(); host == "localhost" || strings.HasSuffix(host, ".localhost") || net.ParseIP(host).
		IsLoopback() {
		return ""
	}
	return fmt.Sprintf("the API key is sent to %s unencrypted; https protects it", u.Host)
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
	return readKeyFile(c.APIKeyFile, c.SharedKeyFile)
}

// keyVariables returns the variables that may hold the key. An OpenAI key is not sent to another vendor.
func keyVariables(wire string) []string {
	names := environment(keySetting)
	if wire == wireAnthropic || wire == wireGemini {
		return names[:1]
	}
	return names
}

// maxKey is the maximum number of bytes that are read from a key file.
const maxKey = 64 << 10

// readKeyFile reads a file that holds a key. It refuses a file that other users can read, unless it may be shared.
func readKeyFile(path string, shared bool) (apiKey, error) {
	value, err := readSecret(path, "API key", "--api-key-file", ", or use this file with --shared-key-file", shared)
	return apiKey{value: value, source: "file " + path}, err
}

// readSecret reads a file that holds a secret and that a flag names. It refuses a file that other users can read,
// unless shared. The advice ends the error's own.
func readSecret(path, what, flag, advice string, shared bool) (string, error) {
	text, mode, err := readPrefix(path, maxKey)
	if err != nil {
		return "", annotator.Errorf(annotator.Misused, "read the %s: %w", what, err).
			WithAdvice("name the file that holds it with %s", flag)
	}
	if mode.IsRegular() && mode.Perm()&0o077 != 0 && runtime.GOOS != "windows" && !shared {
		return "", annotator.Errorf(annotator.Misused, "other users can read the %s file %s", what, path).
			WithAdvice("keep it in a file that only you can read%s", advice)
	}
	value := strings.TrimSpace(string(text))
	if value == "" {
		return "", annotator.Errorf(annotator.Misused, "the %s file %s is empty", what, path)
	}
	return value, nil
}

// readPrefix returns the first bytes of a file, up to a limit, and its mode.
func readPrefix(path string, limit int64) ([]byte, fs.FileMode, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	text, err := io.ReadAll(io.LimitReader(file, limit))
	return text, info.Mode(), err
}
