package endpoint

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

// newTransport returns a transport for one endpoint. It asks for no compression: a proxy that compresses a stream holds
// pieces back, and the limits of a response count bytes received. Only http.Client follows redirects.
func newTransport() *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dial(&dialer),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         16 << 10,

		// All requests share one HTTP/2 connection. Without pings, each would time out after the connection broke.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// dial connects with a dialer. If no file can be opened either, the error says so. Without file descriptors, the
// look-up of a name reports that there is no such host.
func dial(dialer *net.Dialer) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dialer.DialContext(ctx, network, address)
		if err == nil {
			return conn, nil
		}
		file, unopened := os.Open(os.DevNull)
		if unopened != nil {
			return nil, fmt.Errorf("%w (%w)", err, unopened)
		}
		_ = file.Close()
		return nil, err
	}
}
