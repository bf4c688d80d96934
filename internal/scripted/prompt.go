package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"

	"annotator"
	"annotator/model/chatwire"
)

// prompt is the body of a request, decoded and rendered. Each request of a conversation extends the one before. So a
// prompt is built from an earlier one with a common prefix, and only the new tail is decoded.
type prompt struct {
	body     []byte
	head     map[string]json.RawMessage // the fields before the messages
	fields   map[string]json.RawMessage // all fields but the messages
	messages []Message
	ends     []int // offset in body behind each message
	tools    []annotator.ToolDefinition

	places []chain  // in the rendered prompt, behind each message
	end    chain    // of the rendered prompt, where the model continues
	shared int      // blocks that an earlier prompt has too
	fresh  []uint64 // keys of the blocks after those

	refused error // by the template

	replaces *prompt // the earlier prompt, if this one contains all of it; nil once this one is stored
}

// newPrompt decodes and renders a body. It reuses the common prefix with an earlier prompt, which may be empty.
func newPrompt(body []byte, earlier *prompt) (*prompt, error) {
	p := &prompt{body: body, fields: map[string]json.RawMessage{}}
	shared := earlier.sharedMessages(body)
	if shared == len(earlier.messages) {
		p.replaces = earlier
	}
	if err := p.decode(earlier, shared); err != nil {
		return nil, err
	}
	if p.same(earlier, "tools") && p.same(earlier, saltField) {
		p.tools = earlier.tools
		p.render(earlier.places[:shared:shared])
		return p, nil
	}
	var err error
	if p.tools, err = chatwire.DecodeTools(p.fields["tools"]); err != nil {
		return nil, fmt.Errorf("field \"tools\": %w", err)
	}
	p.render(nil)
	return p, nil
}

func (p *prompt) same(earlier *prompt, field string) bool {
	return bytes.Equal(p.fields[field], earlier.fields[field])
}

// saltField separates prompts in the cache that differ only in this field. vLLM has it, too.
const saltField = "cache_salt"

// sharedMessages counts the messages within the common prefix of both bodies.
func (p *prompt) sharedMessages(body []byte) int {
	n := commonPrefix(p.body, body)
	count := 0
	for count < len(p.ends) && p.ends[count] <= n {
		count++
	}
	return count
}

func commonPrefix(a, b []byte) int {
	const step = 4096
	n, limit := 0, min(len(a), len(b))
	for n+step <= limit && bytes.Equal(a[n:n+step], b[n:n+step]) {
		n += step
	}
	for n < limit && a[n] == b[n] {
		n++
	}
	return n
}

// resumed sets a JSON decoder to the state after an element of an array in an object. The element is a string, which no
// following byte can continue.
const (
	resumed       = `{"":[""`
	resumedTokens = 4
)

func (p *prompt) decode(earlier *prompt, shared int) error {
	if shared == 0 {
		d := bodyDecoder{prompt: p, json: json.NewDecoder(bytes.NewReader(p.body))}
		if err := d.expect('{'); err != nil {
			return err
		}
		return d.object()
	}
	p.head, p.fields = earlier.head, maps.Clone(earlier.head)
	p.messages, p.ends = earlier.messages[:shared:shared], earlier.ends[:shared:shared]
	start := p.ends[shared-1]
	tail := io.MultiReader(strings.NewReader(resumed), bytes.NewReader(p.body[start:]))
	d := bodyDecoder{prompt: p, json: json.NewDecoder(tail), shift: start - len(resumed)}
	for range resumedTokens {
		if _, err := d.json.Token(); err != nil {
			return err
		}
	}
	if err := d.list(); err != nil {
		return err
	}
	return d.object()
}

// bodyDecoder decodes the body of a request, which is an object, into a prompt.
type bodyDecoder struct {
	*prompt
	json  *json.Decoder
	shift int // offset in the body minus offset in the decoder's input
}

func (d *bodyDecoder) expect(want json.Delim) error {
	got, err := d.json.Token()
	if err == nil && got != want {
		err = fmt.Errorf("%v where %v belongs", got, want)
	}
	return err
}

// object reads fields up to the end of the object, which is also the end of the body.
func (d *bodyDecoder) object() error {
	for d.json.More() {
		key, err := d.json.Token()
		if err != nil {
			return err
		}
		if err := d.field(key.(string)); err != nil {
			return err
		}
	}
	if err := d.expect('}'); err != nil {
		return err
	}
	return onlyValue(d.json)
}

func onlyValue(d *json.Decoder) error {
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the body's object")
	}
	return nil
}

func (d *bodyDecoder) field(name string) error {
	if name != "messages" {
		var raw json.RawMessage
		err := d.json.Decode(&raw)
		d.fields[name] = raw
		return err
	}
	if d.head != nil {
		return errors.New("messages are given twice")
	}
	d.head = maps.Clone(d.fields)
	if err := d.expect('['); err != nil {
		return err
	}
	return d.list()
}

// list reads messages up to the array's end.
func (d *bodyDecoder) list() error {
	for d.json.More() {
		var raw json.RawMessage
		if err := d.json.Decode(&raw); err != nil {
			return err
		}
		m, err := decodeMessage(raw)
		if err != nil {
			return fmt.Errorf("messages[%d]: %w", len(d.messages), err)
		}
		d.messages = append(d.messages, m)
		d.ends = append(d.ends, d.shift+int(d.json.InputOffset()))
	}
	return d.expect(']')
}

// render continues after the last known place. Tools come first, as in most templates: a change in them changes the
// whole prompt.
func (p *prompt) render(places []chain) {
	var r renderer
	if len(places) == 0 {
		r.piece(string(p.fields["tools"]))
		r.salt(p.fields[saltField])
	} else {
		r.chain = places[len(places)-1]
		p.shared = r.tokens / blockTokens
	}
	for i := len(places); i < len(p.messages); i++ {
		r.message(&p.messages[i].Message)
		places = append(places, r.chain)
	}
	r.open(annotator.RoleAssistant)
	p.places, p.end, p.fresh = places, r.chain, r.blocks
}
