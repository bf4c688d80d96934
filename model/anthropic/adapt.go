package anthropic

import (
	"net/http"
	"strings"
	"sync/atomic"

	"annotator/model"
)

// want is what the model at hand wants otherwise.
type want struct {
	noTemperature bool // newer models sample as they like
	noForce       bool // models that think before they answer are not to be made to call a tool
}

// wants is what faults have told of the model so far.
type wants struct {
	noTemperature, noForce atomic.Bool
}

func (w *wants) now() want {
	return want{noTemperature: w.noTemperature.Load(), noForce: w.noForce.Load()}
}

// Adapt takes in what a fault says of the model. See model.Adapter.
func (c *Client) Adapt(f *model.Fault) string {
	if f.Status != http.StatusBadRequest {
		return ""
	}
	text := strings.ToLower(f.Message)
	switch {
	case strings.Contains(text, "temperature") && refuses(text) && c.wants.noTemperature.CompareAndSwap(false, true):
		return "the temperature is left to the model"
	case strings.Contains(text, "tool_choice") && strings.Contains(text, "thinking") && c.wants.noForce.CompareAndSwap(false, true):
		return "no tool call is required of the model"
	}
	return ""
}

func refuses(text string) bool {
	for _, word := range []string{"deprecated", "not supported", "unsupported", "not permitted", "only be set to 1"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
