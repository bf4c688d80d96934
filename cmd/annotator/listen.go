package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"annotator"
)

// readToken reads the token that clients must send. An address that other machines can reach requires one.
func readToken(listen, file string) (string, error) {
	if _, _, err := net.SplitHostPort(listen); err != nil {
		return "", annotator.Errorf(annotator.Misused, "--listen takes an address and a port, not %q", listen).
			WithAdvice("write both: 127.0.0.1:8420; port 0 is a free one")
	}
	if file == "" {
		if !isLocal(listen) {
			return "", annotator.Errorf(annotator.Misused,
				"%s can be reached from other machines, and there is no token", listen).
				WithAdvice("name a file that holds one with --token-file: `openssl rand -hex 16 > token.txt && chmod " +
					"600 token.txt`")
		}
		return "", nil
	}
	token, err := readSecret(file, "token", "--token-file", "", false)
	const least = 16
	if err == nil && len(token) < least {
		err = annotator.Errorf(annotator.Misused, "the token in %s has less than %d characters", file, least).
			WithAdvice("make a longer one: `openssl rand -hex 16`")
	}
	return token, err
}

// isLocal reports whether an address can be reached from this machine only.
func isLocal(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if address, err := netip.ParseAddr(host); err == nil {
		return address.IsLoopback()
	}
	return host == "localhost"
}

// addressInUse is WSAEADDRINUSE, the value of EADDRINUSE on Windows. No other system has an error with this value.
const addressInUse = syscall.Errno(10048)

// listenAndServe serves until the context ends, and then closes open connections after a second. It calls ready with
// the address when clients can connect.
func listenAndServe(ctx context.Context, listen string, server *http.Server, ready func(address string)) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
	if errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, addressInUse) {
		return annotator.Errorf(annotator.Misused, "listen on %s: another program does, perhaps another `annotator`",
			listen).
			WithAdvice("stop that, or choose another address with --listen; port 0 is a free one")
	}
	if err != nil {
		return annotator.Errorf(annotator.Misused, "listen on %s: %w", listen, err).
			WithAdvice("choose another address with --listen; port 0 is a free one")
	}
	ready(listener.Addr().String())
	context.AfterFunc(ctx, func() {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if server.Shutdown(ending) != nil {
			_ = server.Close()
		}
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return annotator.Errorf(annotator.Storage, "serve %s: %w", listener.Addr(), err)
	}
	return nil
}
