package endpoint

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"annotator"
)

// parseBase returns the base URL without the path of a method. Its errors do not contain the URL, which may hold a key.
func parseBase(raw string, api *API) (string, error) {
	u, err := url.Parse(strings.TrimSpace(raw))
	example := "give the base URL with its version, as in " + api.Example
	switch {
	case err != nil:
		return "", badAddress("the endpoint's address is no URL", example)
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", annotator.Errorf(annotator.Misused, "the endpoint's address holds more than scheme, host and path").
			WithReason(annotator.ReasonSecretInAddress)
	case u.Scheme != "http" && u.Scheme != "https":
		return "", badAddress("the endpoint's address does not begin with http:// or https://", example)
	case u.Hostname() == "":
		return "", badAddress("the endpoint's address names no host", example)
	case !isPort(u.Port()):
		return "", badAddress("the endpoint's address has a port that there is not", "ports go from 1 to 65535")
	}
	path := strings.TrimRight(u.EscapedPath(), "/")
	path = strings.TrimRight(strings.TrimSuffix(path, api.Suffix), "/")
	return u.Scheme + "://" + u.Host + cmp.Or(path, api.Version), nil
}

// isPort reports whether the port of a URL is valid; an empty one is.
func isPort(port string) bool {
	n, err := strconv.ParseUint(port, 10, 16)
	return port == "" || err == nil && n > 0
}

func badAddress(what, advice string) error {
	return annotator.Errorf(annotator.Misused, "%s", what).WithAdvice("%s", advice)
}
