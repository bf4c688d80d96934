package endpoint

import (
	"net"
	"net/http"
	"time"
)

// newTransport returns a transport for one endpoint. It asks for no compression: a proxy that compresses a stream holds
// pieces back, and the limits of a response count bytes received. Only http.Client follows redirects.
func newTransport() *http.Transport {
	dialer := net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
		WriteBufferSize:        64 << 10,
		ReadBufferSize:         16 << 10,

		// All requests share one connection of HTTP/2. Without pings, each would time out when it dies silently.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
}
