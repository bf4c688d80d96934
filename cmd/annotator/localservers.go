package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"annotator/model/endpoint"
	"annotator/model/openai"
)

// localPorts are the usual ports of model servers: vLLM, llama.cpp, Ollama, LM Studio, SGLang.
var localPorts = [...]int{8000, 8080, 11434, 1234, 30000}

// localTimeout is the timeout for all servers on this machine together.
const localTimeout = 200 * time.Millisecond

// localServer is a model server on this machine.
type localServer struct {
	Endpoint string   `json:"endpoint"`
	Models   []string `json:"models"`
}

// findLocalServers lists the models of servers on the usual ports of this machine. No key is sent.
func findLocalServers(ctx context.Context) (found []localServer) {
	addresses := make([]string, len(localPorts))
	for i, port := range localPorts {
		addresses[i] = fmt.Sprintf("http://127.0.0.1:%d/v1", port)
	}
	return serversAt(ctx, addresses)
}

// serversAt returns the servers that list models within localTimeout, in the order of the addresses.
func serversAt(ctx context.Context, addresses []string) (found []localServer) {
	ctx, cancel := context.WithTimeout(ctx, localTimeout)
	defer cancel()
	models := make([][]string, len(addresses))
	var asked sync.WaitGroup
	for i, address := range addresses {
		asked.Go(func() { models[i] = listModels(ctx, address) })
	}
	asked.Wait()
	for i, address := range addresses {
		if len(models[i]) > 0 {
			found = append(found, localServer{address, models[i]})
		}
	}
	return found
}

// listModels returns the models of a server; none if there is no server.
func listModels(ctx context.Context, address string) (names []string) {
	transport := &http.Transport{DisableKeepAlives: true} // and without a proxy
	client, err := openai.New(endpoint.Options{BaseURL: address, HTTP: transport})
	if err != nil {
		return nil
	}
	served, _ := client.Models(ctx)
	for _, model := range served {
		names = append(names, model.ID)
	}
	return names
}

// printServers prints the servers on this machine, and how to use one.
func printServers(w io.Writer, servers []localServer) {
	if len(servers) == 0 {
		return
	}
	rows := [][]string{{"servers on this machine"}}
	for _, server := range servers {
		rows = append(rows, []string{"  " + server.Endpoint, shorten(strings.Join(server.Models, ", "), 300)})
	}
	printTable(w, rows)
	fmt.Fprintf(w, "check one with: annotator doctor --endpoint %s\n\n", servers[0].Endpoint)
}
