package mcpserver

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// FuzzLines forwards any lines and then a message. Only messages are forwarded, each other line has an answer, and the
// last message arrives.
func FuzzLines(f *testing.F) {
	for _, text := range []string{
		"hello", "[]", "{}", "null", `"x"`, `{"jsonrpc":"1.0","id":3,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping"} {"jsonrpc":"2.0","id":2,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":"a","method":5}`,
		"\r\n \n", "{\n", "\x00", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, `{"jsonrpc":"2.0","id":3,"result":{}} `,
		strings.Repeat("[", 20_000),
	} {
		f.Add([]byte(text))
	}
	const last = `{"jsonrpc":"2.0","id":99,"method":"ping"}`
	f.Fuzz(func(t *testing.T, text []byte) {
		var messages, answers bytes.Buffer
		_ = forward(bytes.NewReader(append(append([]byte{}, text...), "\n"+last...)), &messages, &answers)
		forwarded := strings.Split(strings.TrimSuffix(messages.String(), "\n"), "\n")
		if forwarded[len(forwarded)-1] != last {
			t.Errorf("the message does not arrive: %q", forwarded)
		}
		for _, line := range forwarded {
			if _, err := jsonrpc.DecodeMessage([]byte(line)); err != nil || line[0] != '{' {
				t.Errorf("%q is forwarded: %v", line, err)
			}
		}
		refused := strings.Count(answers.String(), "\n")
		for _, answer := range strings.Split(answers.String(), "\n")[:refused] {
			if !json.Valid([]byte(answer)) {
				t.Errorf("%q is answered", answer)
			}
		}
		lines := 0
		for line := range bytes.SplitSeq(text, []byte("\n")) {
			if len(bytes.TrimSpace(line)) > 0 {
				lines++
			}
		}
		if len(forwarded)-1+refused != lines {
			t.Errorf("%d lines, of which %d are forwarded and %d answered", lines, len(forwarded)-1, refused)
		}
	})
}

// TestLongLinesAreAnswered: a line that is too long gets an answer, and the next line is read.
func TestLongLinesAreAnswered(t *testing.T) {
	t.Parallel()
	const message = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for _, length := range []int{MaxRequest - 1, MaxRequest, MaxRequest + 1, 3*MaxRequest + 5} {
		var messages, answers bytes.Buffer
		_ = forward(strings.NewReader(strings.Repeat("x", length)+"\n"+message+"\n"), &messages, &answers)
		var answer struct{ Error jsonrpc.Error }
		if err := json.Unmarshal(answers.Bytes(), &answer); err != nil || answer.Error.Code != jsonrpc.CodeParseError ||
			messages.String() != message+"\n" {
			t.Errorf("%d bytes: answered %q, forwarded %q", length, answers.String(), messages.String())
		}
	}
}
