package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"annotator/model/scripted"
)

// serve is the process of the endpoint: it tells its address on standard output and ends with its standard input. With a
// tape it keeps every request's body.
func serve(tape string) error {
	var options scripted.Options
	if tape != "" {
		w, err := createTape(tape)
		if err != nil {
			return err
		}
		defer w.Close()
		options.OnRequest = func(r scripted.Request) { w.add(r.Body) }
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the scripted model: %w", err)
	}
	fmt.Printf("http://%s/v1\n", listener.Addr())
	server := http.Server{Handler: scripted.New(options)}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the scripted model: %w", err)
	}
	return nil
}
