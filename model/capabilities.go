package model

// Capabilities are what is known of the server behind an endpoint.
type Capabilities struct {
	Answered bool // a model has answered
}
