package main

import (
	"annotator/model/offline"
	"annotator/model/openai"
)

// offlineURL is where the embedded model is asked; no request to it leaves the process.
const offlineURL = "http://offline/v1"

// offlineHint says that nobody named a server.
const offlineHint = "offline model: an embedded baseline that finds names by rules; name a server with --endpoint for real annotation"

// connect returns a client of the endpoint. Nothing is asked of it yet.
func (c *Config) connect(key apiKey) (*openai.Client, error) {
	if c.Endpoint == offlineEndpoint {
		return openai.New(openai.Options{BaseURL: offlineURL, HTTP: offline.New(offline.Options{})})
	}
	return openai.New(openai.Options{BaseURL: c.Endpoint, Key: key.value})
}
