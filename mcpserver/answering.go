package mcpserver

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// maxAnswerTime is the maximum wait for answers after the end of the input. An answer may require the model.
const maxAnswerTime = 10 * time.Minute

// answeringConnection is a connection whose input ends only after all requests are answered. Without it, the protocol
// cancels open requests at the end of the input.
type answeringConnection struct {
	mcp.Connection
	answered chan struct{} // holds a value after an answer

	mu   sync.Mutex
	open map[jsonrpc.ID]bool // requests without an answer
}

func newAnswering(c mcp.Connection) mcp.Connection {
	return &answeringConnection{Connection: c, answered: make(chan struct{}, 1), open: map[jsonrpc.ID]bool{}}
}

// Read implements mcp.Connection.
func (c *answeringConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.awaitAnswers(ctx)
		return message, err
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.mu.Lock()
		c.open[request.ID] = true
		c.mu.Unlock()
	}
	return message, nil
}

// Write implements mcp.Connection.
func (c *answeringConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, response.ID)
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

func (c *answeringConnection) awaitAnswers(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, maxAnswerTime)
	defer cancel()
	for {
		c.mu.Lock()
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-ctx.Done():
			return
		}
	}
}
