package model

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"annotator"
)

// Classify returns the meaning of a response without a reply, from its status, its headers, and its body or the
// beginning of it. It also classifies the error frame of a stream, with the status of the stream.
//
// Servers differ, so the most specific information counts: a code, then a few well-known phrases, then the status. A
// status in the body takes precedence over that of the response, which a proxy may have changed.
//
// Fault.Header is the header given, not a copy. A Retry-After date is relative to the header's Date.
func Classify(status int, header http.Header, body []byte) *Fault {
	c := readErrorBody(body)
	f := &Fault{Status: status, Param: c.param, Message: c.message, MaxContext: c.context, Header: header}
	if len(c.codes) > 0 {
		f.Code = c.codes[0]
	}
	f.Raw = bytes.Clone(body[:min(len(body), RawLimit)])
	f.RetryAfter = retryAfter(header, c.retry)
	switch {
	case redirects(status):
		f.Message = "it redirects to another address" + redirectHost(header)
	case c.status != 0:
		f.Status = c.status
	}
	m, byBody := classify(f.Status, &c)
	f.Kind, f.Filtered, f.ServerFailed, f.Template = cmp.Or(m.kind, annotator.Transient), m.filtered, m.failed,
		m.template
	f.Advice, f.Reason, f.Param = m.advice, m.reason, cmp.Or(m.param, f.Param)
	if !byBody && isNotAnAPI(f.Status, &c) {
		f.NotAnAPI, f.Code, f.Advice, f.Reason = true, "", "", annotator.ReasonNotAnAPI
		if f.Status == http.StatusForbidden {
			f.Reason = annotator.ReasonForbidden
		}
	}
	// the policy treats a length refusal without a message differently
	if f.Message == "" && f.Kind != annotator.PromptTooLong && isPage(body) {
		f.Message = "a web page came in place of a reply" + pageTitle(body)
	}
	return f
}

// isNotAnAPI reports whether a response is not from the API. A model server answers a missing or forbidden path with a
// JSON error.
func isNotAnAPI(status int, c *errorBody) bool {
	switch status {
	case http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone:
		return !c.isObject
	}
	return status/100 == 2 && !c.isError
}

// redirectHost returns only the host of the URL: the rest may contain secrets.
func redirectHost(header http.Header) string {
	u, err := url.Parse(header.Get("Location"))
	if err != nil || u.Host == "" {
		return ""
	}
	return " at " + clip(u.Host)
}

// CarriesError reports whether a body or a frame of a stream is an error, whatever its status. Some servers answer 200
// with an error.
func CarriesError(body []byte) bool { return readErrorBody(body).isError }

// isPage reports whether a body is a web page. The headers do not count: some proxies label everything as HTML.
func isPage(body []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(body[:min(len(body), 512)], " \t\r\n\ufeff"), []byte("<"))
}

var title = regexp.MustCompile(`(?is)<title[^>]*>([^<]{1,200})`)

// pageTitle returns the title of a web page, which is where a proxy gives its reason.
func pageTitle(body []byte) string {
	found := title.FindSubmatch(body[:min(len(body), textLimit)])
	if found == nil {
		return ""
	}
	return fmt.Sprintf(": %q", clip(string(found[1])))
}

// retryAfter returns the longest of the delays in headers and body. OpenAI's services also have a header in
// milliseconds.
func retryAfter(header http.Header, body string) time.Duration {
	now, err := http.ParseTime(header.Get("Date"))
	if err != nil {
		// Without the server's time, a date cannot be used.
		now = endOfTime
	}
	milliseconds := header.Get("Retry-After-Ms") + "ms"
	return max(ParseRetryAfter(header.Get("Retry-After"), now), ParseRetryAfter(milliseconds, now),
		ParseRetryAfter(body, now))
}

// endOfTime is later than every date in a header.
var endOfTime = time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)

// ParseRetryAfter parses the value of a Retry-After header: whole or fractional seconds, seconds with a unit ("5s"), or
// an HTTP date. It returns 0 if the value is empty, invalid or in the past.
func ParseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseFloat(value, 64); err == nil || math.IsInf(seconds, 1) {
		switch d := seconds * float64(time.Second); {
		case d >= math.MaxInt64:
			return math.MaxInt64
		case d > 0: // and a number
			return time.Duration(d)
		}
		return 0
	}
	if d, err := time.ParseDuration(value); err == nil {
		return max(d, 0)
	}
	if date, err := http.ParseTime(value); err == nil {
		return max(date.Sub(now), 0)
	}
	return 0
}

// ClassifyTransport returns the fault of a missing or incomplete response. A fault among the causes of err is returned
// unchanged.
func ClassifyTransport(err error) *Fault {
	if f, ok := errors.AsType[*Fault](err); ok {
		return f
	}
	f := &Fault{Kind: annotator.Transient, Message: clip(err.Error()), Err: err}
	switch {
	case errors.Is(err, context.Canceled):
		f.Kind, f.Message = annotator.Interrupted, "the call was cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		f.Code, f.Message = CodeSilent, "the call took longer than it may"
	case errors.Is(err, io.ErrUnexpectedEOF):
		f.Message = "the connection broke off in the middle of the answer"
	case errors.Is(err, io.EOF):
		f.Message = "the connection was closed before an answer came"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		f.Kind, f.Message = annotator.Misconfigured,
			"this machine allows no more open files, so no connection can be made: "+f.Message
		f.Advice = "close other programs, or raise the limit on open files (ulimit -n)"
	case isProtocolError(err):
		f.Kind, f.NotAnAPI = annotator.Misconfigured, isNoHTTP(err)
		f.Advice = "check http or https in the endpoint's address, and that its certificate is trusted on this machine"
	case isUnreachable(err):
		f.Kind, f.Reason = annotator.Unreachable, annotator.ReasonUnreachable
	}
	return f
}

// isProtocolError reports whether the server was reached and has another protocol: an untrusted certificate, TLS to a
// plain port, HTTP to another service.
func isProtocolError(err error) bool {
	return is[*tls.CertificateVerificationError](err) || is[x509.UnknownAuthorityError](err) ||
		is[x509.HostnameError](err) ||
		is[x509.CertificateInvalidError](err) || is[tls.RecordHeaderError](err) || is[tls.AlertError](err) ||
		isNoHTTP(err)
}

// is reports whether an error of a type is among the causes of err.
func is[T error](err error) bool {
	_, found := errors.AsType[T](err)
	return found
}

// isNoHTTP reports whether the response is not HTTP; net/http has no type for that.
func isNoHTTP(err error) bool { return strings.Contains(err.Error(), "malformed HTTP") }

func isUnreachable(err error) bool {
	op, _ := errors.AsType[*net.OpError](err)
	return is[*net.DNSError](err) || errors.Is(err, syscall.ECONNREFUSED) || op != nil && op.Op == "dial"
}

// Error returns status, code and message on one line.
func (f *Fault) Error() string {
	what := cmp.Or(f.Message, "no reason is given")
	if f.Message == "" && f.Status/100 >= 4 {
		what = cmp.Or(http.StatusText(f.Status), what)
	}
	switch {
	case f.Status == 0:
		return what
	case f.Code == "":
		return fmt.Sprintf("the endpoint answered %d: %s", f.Status, what)
	}
	return fmt.Sprintf("the endpoint answered %d (%s): %s", f.Status, f.Code, what)
}

// mayHaveCrashed reports whether the request may have crashed the server: its engine has ended, or the connection
// broke. vLLM's engine for the CPU ends if a long prompt has a seed.
func (f *Fault) mayHaveCrashed() bool {
	return f.Kind == annotator.Unreachable || f.Kind == annotator.Transient && f.Err != nil && f.Code == ""
}

// Unwrap returns the kind and the cause.
func (f *Fault) Unwrap() []error {
	if f.Err == nil {
		return []error{f.Kind}
	}
	return []error{f.Kind, f.Err}
}
