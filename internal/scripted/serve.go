package scripted

import (
	"cmp"
	"fmt"
	"io"
	"net/http"

	"annotator"
)

// serve answers requests for a reply, in a wire's form.
func (s *Server) serve(d dialect) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := readBody(r)
		if err != nil {
			badBody().write(w, d)
			return
		}
		request, p, err := s.read(d, r, body)
		if err != nil {
			badJSON(err).write(w, d)
			return
		}
		s.take(&request)
		ordinary := func(w http.ResponseWriter) { s.answer(w, d, &request, p) }
		if f := s.fault(&request); f != nil {
			f.serve(w, r, request.Stream, ordinary)
			return
		}
		ordinary(w)
	}
}

func (s *Server) read(d dialect, r *http.Request, body []byte) (Request, *prompt, error) {
	chat, err := d.chat(r, body)
	if err != nil {
		return Request{}, nil, err
	}
	var earlier []*prompt
	if s.options.Template == nil && s.pacer == nil { // otherwise a prompt need not extend the one before
		s.mu.Lock()
		earlier = s.cache.prompts
		s.mu.Unlock()
	}
	p, err := newPrompt(chat, nearest(earlier, chat))
	if err != nil {
		return Request{}, nil, err
	}
	if s.options.Template != nil {
		p.renderWith(s.options.Template)
	}
	request, err := newRequest(p)
	request.Path, request.Header, request.Body = r.URL.Path, r.Header, body
	return request, p, err
}

// readBody allocates the announced length immediately, since growing a buffer copies long prompts.
func readBody(r *http.Request) ([]byte, error) {
	const longest = 1 << 28
	if r.ContentLength <= 0 || r.ContentLength > longest {
		return io.ReadAll(io.LimitReader(r.Body, longest))
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}

func badBody() *refusal { return badRequest("There was an error parsing the body") }

func badJSON(err error) *refusal {
	return badRequest("[{'type': 'json_invalid', 'loc': ('body', 0), 'msg': 'JSON decode error', 'ctx': "+
		"{'error': %q}}]", err.Error())
}

// take numbers a request and passes it to OnRequest.
func (s *Server) take(r *Request) {
	s.mu.Lock()
	s.calls++
	r.Call = s.calls
	if s.options.Keep {
		s.kept = append(s.kept, *r)
	}
	s.mu.Unlock()
	if s.options.OnRequest != nil {
		s.options.OnRequest(*r)
	}
}

func (s *Server) fault(r *Request) *Fault {
	if s.options.Fault == nil {
		return nil
	}
	return s.options.Fault(r.Call, *r)
}

// answer refuses a request or calls the script. Only a prompt that is not refused enters the cache.
func (s *Server) answer(w http.ResponseWriter, d dialect, r *Request, p *prompt) {
	no := s.refuse(r)
	if no == nil && p.refused != nil {
		no = templateRefusal(p.refused.Error())
	}
	if no != nil {
		no.write(w, d)
		return
	}
	if s.pacer != nil {
		defer s.pacer.begin()()
	}
	cached := s.admit(p)
	reply := s.options.Script(*r)
	usage, generated := reply.finish(p, cmp.Or(r.MaxTokens, s.options.MaxModelLen-r.Tokens))
	usage.Cached = cached
	if s.pacer != nil {
		s.pacer.generate(usage.Completion, generated)
	}
	s.account(usage, generated)
	if reply.Usage == nil {
		reply.Usage = &usage
	}
	a := answer{
		Reply: &reply, id: fmt.Sprintf("%016x", p.end.hash), model: s.options.Model,
		includeUsage: r.includeUsage,
	}
	if r.Stream {
		writeStream(w, d, &a)
		return
	}
	writeJSON(w, http.StatusOK, d.plain(&a))
}

// admit processes a prompt, and returns how many of its tokens were cached.
func (s *Server) admit(p *prompt) (cached int) {
	if s.pacer != nil {
		return s.pacer.admit(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.cache.admit(p)
}

func (s *Server) account(usage annotator.Usage, generated []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pacer == nil {
		s.cache.add(generated)
	}
	s.usage.Prompt += usage.Prompt
	s.usage.Cached += usage.Cached
	s.usage.Completion += usage.Completion
	s.usage.Exact = true
}

// refuse returns the refusal of an invalid request, or nil.
func (s *Server) refuse(r *Request) *refusal {
	if r.Model != "" && r.Model != s.options.Model {
		no := badRequest("The model `%s` does not exist.", r.Model)
		no.Type, no.Code = "NotFoundError", http.StatusNotFound
		return no
	}
	if len(r.Messages) == 0 {
		return badRequest("[{'type': 'missing', 'loc': ('body', 'messages'), 'msg': 'Field required'}]")
	}
	if s.options.Strict {
		if no := s.refuseTemplate(r); no != nil {
			return no
		}
	}
	return s.refuseLength(r)
}

func (s *Server) refuseTemplate(r *Request) *refusal {
	found := checkTemplate(r.Messages)
	if len(found) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range found {
		found[i].Call = r.Call
	}
	s.violations = append(s.violations, found...)
	return badRequest("%s", found[0].Text)
}

// refuseLength refuses a prompt that leaves no space for a reply of one token.
func (s *Server) refuseLength(r *Request) *refusal {
	requested := max(r.MaxTokens, 1)
	room := s.options.MaxModelLen - requested
	if r.Tokens <= room {
		return nil
	}
	no := badRequest("You passed %d input tokens and requested %d output tokens. However, the model's context length "+
		"is only %d tokens, resulting in a maximum input length of %d tokens. Please reduce the length of the "+
		"input prompt. (parameter=input_tokens, value=%d)", r.Tokens, requested, s.options.MaxModelLen, room, r.Tokens)
	param := "input_tokens"
	no.Param, no.prompt, no.limit = &param, r.Tokens, room
	return no
}
