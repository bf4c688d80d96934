package faults_test

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// wrongWay is a network address where no model answers. It uses real connections for effects that a pipe does not have.
type wrongWay int

const (
	_ wrongWay = iota
	// nobody listens: a port that the system never assigns, since it may assign a port that was free a moment ago
	refused
	unknown    // the host has no address
	reset      // the connection is reset after the request
	untrusted  // a certificate of unknown authority
	plainToTLS // http to a port that speaks https
	tlsToPlain // https to a port that speaks http
)

// ways has the transports of the wrong ways.
type ways map[wrongWay]detour

func openWays(t *testing.T) ways {
	t.Helper()
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0) // the handshakes fail by design
	secure.Listener = lingering{secure.Listener}
	secure.StartTLS()
	t.Cleanup(secure.Close)
	return ways{
		refused:    leadsTo("http", "127.0.0.1:1"),
		unknown:    detour{"http", &http.Transport{DisableKeepAlives: true, DialContext: dialUnknown}},
		reset:      leadsTo("http", resettingPort(t)),
		untrusted:  leadsTo("https", secure.Listener.Addr().String()),
		plainToTLS: leadsTo("http", secure.Listener.Addr().String()),
		tlsToPlain: leadsTo("https", plain.Listener.Addr().String()),
	}
}

// lingering accepts connections and closes them after the other side has sent all. If a request was only half read, the
// system would reset the connection, and the answer might be lost.
type lingering struct{ net.Listener }

func (l lingering) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return drained{c.(*net.TCPConn)}, nil
}

type drained struct{ *net.TCPConn }

func (c drained) Close() error {
	_ = c.CloseWrite()
	_ = c.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = io.Copy(io.Discard, c.TCPConn)
	return c.TCPConn.Close()
}

// detour sends requests over its own transport, by http or https.
type detour struct {
	scheme    string
	transport *http.Transport
}

// RoundTrip sends a request by the detour.
func (d detour) RoundTrip(req *http.Request) (*http.Response, error) {
	req.URL.Scheme = d.scheme
	return d.transport.RoundTrip(req)
}

func leadsTo(scheme, address string) detour {
	return detour{scheme, &http.Transport{DisableKeepAlives: true, DialContext: func(ctx context.Context, _,
		_ string,
	) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}}}
}

func dialUnknown(_ context.Context, network, address string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: network, Err: &net.DNSError{
		Err: "no such host", Name: address,
		IsNotFound: true,
	}}
}

// resettingPort reads the beginning of each request, and resets the connection.
func resettingPort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Read(make([]byte, 100))
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}()
	return l.Addr().String()
}
