package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"annotator"
	"annotator/metrics"
	"annotator/storage"
	"annotator/web"

	"github.com/spf13/pflag"
)

// address says where a server listens, and to whom it answers.
type address struct {
	listen    string
	hosts     []string
	tokenFile string
}

func (a *address) addressFlags(flags *pflag.FlagSet, listen, usage string) {
	flags.StringVar(&a.listen, "listen", listen, usage)
	flags.StringVar(&a.tokenFile, "token-file", "",
		"`FILE` with the token that readers must know, at least 16 characters")
	flags.StringSliceVar(&a.hosts, "host", nil,
		"a `NAME` of this server, besides localhost and addresses, for example behind a proxy; may be repeated")
}

// names returns the host names of the server, in addition to localhost and addresses.
func (a *address) names() []string {
	var names []string
	host, _, _ := net.SplitHostPort(a.listen)
	for _, name := range append([]string{host}, a.hosts...) {
		if name != "" {
			names = append(names, strings.ToLower(strings.TrimSuffix(name, ".")))
		}
	}
	return names
}

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

// serveMetrics serves metrics and health while a run goes on, until stop is called. Without an address it does nothing.
func (o *runOptions) serveMetrics(ctx context.Context) (stop func(), err error) {
	if o.listen == "" {
		return func() {}, nil
	}
	token, err := readToken(o.listen, o.tokenFile)
	if err != nil {
		return nil, err
	}
	o.metrics = metrics.New(release, o.now)
	server, err := web.New(web.Options{
		Token: token, Hosts: o.names(), Now: o.now, Log: func(err error) { o.printError(err) }, Metrics: o.metrics,
	})
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- listenAndServe(ctx, o.listen, web.NewHTTP(ctx, server.MetricsHandler()), func(address string) {
			ready <- address
		})
	}()
	select {
	case err := <-ended:
		cancel()
		return nil, err
	case address := <-ready:
		if !o.quiet {
			o.say("metrics are at http://" + address + "/metrics")
		}
		return func() {
			cancel()
			if err := <-ended; err != nil {
				o.printError(err)
			}
		}, nil
	}
}

// watchDatabase adds a database to the metrics until the end that it returns is called.
func (o *runOptions) watchDatabase(ctx context.Context, db *storage.DB) (end func() error) {
	if o.metrics == nil {
		return func() error { return nil }
	}
	name := resolved(db.Path())
	o.metrics.Add(name, db)
	return func() error {
		o.metrics.Remove(context.WithoutCancel(ctx), name)
		return nil
	}
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
