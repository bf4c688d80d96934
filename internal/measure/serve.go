package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"annotator/internal/scripted"
)

// serve is the process of the endpoint: it prints its address on standard output and ends with its standard input.
func serve() error {
	var config net.ListenConfig
	listener, err := config.Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("serve the scripted model: %w", err)
	}
	fmt.Printf("http://%s/v1\n", listener.Addr())
	server := http.Server{Handler: scripted.New(scripted.Options{Script: scripted.Style{Done: true}.Annotate})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve the scripted model: %w", err)
	}
	return nil
}
