package estimate

import (
	"math"

	"annotator"
)

// Probe is what a run has used for its first scenes.
type Probe struct {
	Scenes  []Scene
	Calls   []annotator.Call // that brought a reply, in order
	Entries int              // that the scenes made
}

// Rates are what probes say of a run.
type Rates struct {
	Prefix   float64 `json:"prefix_tokens"`    // of the system prompt and the tools
	Server   float64 `json:"tokens_by_server"` // for each that is estimated
	Growth   float64 `json:"window_growth"`    // tokens that stay in the window for each of a scene's text
	Calls    float64 `json:"calls_a_scene"`
	Out      float64 `json:"reply_tokens"`      // for each of the first scene's text
	Cached   float64 `json:"cached_share"`      // of the prefixes that a server could have cached
	Entries  float64 `json:"entries_factor"`    // new ones of the first scene
	Question float64 `json:"question_tokens"`   // of the curator, for each entry
	Answer   float64 `json:"answer_tokens"`     // of the curator, for each entry
	Prefill  float64 `json:"seconds_a_prefill"` // for a token that is not cached
	Decode   float64 `json:"seconds_a_decode"`  // for a token of a reply
}

// probeScene is what was used for a scene.
type probeScene struct {
	text, calls, first, last, out float64
	grown, grownOf                float64 // tokens that stay in the window, and those of the text; 0: not known
}

// Rates returns the rates of all probes.
func (p *Probe) Rates() Rates { return p.ratesOf(p.perScene(), -1) }

// Without returns the rates as they are if each scene in turn is left out. Nothing is known of the spread of one scene.
func (p *Probe) Without() (all []Rates) {
	scenes := p.perScene()
	for i := range scenes {
		if len(scenes) > 1 {
			all = append(all, p.ratesOf(scenes, i))
		}
	}
	return all
}

// server returns how many tokens the server counts for each that is estimated.
func (p *Probe) server() float64 {
	var told, estimated float64
	for i := range p.Calls {
		told, estimated = told+float64(p.Calls[i].Usage.Prompt), estimated+float64(p.Calls[i].Estimate)
	}
	return ratio(told, estimated, 1)
}

func (p *Probe) perScene() []probeScene {
	scenes := make([]probeScene, len(p.Scenes))
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Purpose != annotator.PurposeAnnotate || c.Scene < 1 || c.Scene > len(scenes) {
			continue
		}
		s := &scenes[c.Scene-1]
		if s.calls == 0 {
			s.first = float64(c.Usage.Prompt)
		}
		s.calls, s.last, s.out = s.calls+1, float64(c.Usage.Prompt), s.out+float64(c.Usage.Completion)
	}
	server := p.server()
	for i := range scenes {
		s := &scenes[i]
		s.text = float64(p.Scenes[i].Tokens)
		end := s.last + ratio(s.out, s.calls, 0) + s.text*server // thinking in it may leave the window
		if i+1 < len(scenes) && scenes[i+1].first > s.first {
			end = scenes[i+1].first - float64(p.Scenes[i+1].Tokens)*server + s.text*server
		} else if i > 0 {
			continue
		}
		s.grown, s.grownOf = max(0, end-s.first), s.text
	}
	return scenes
}

// ratesOf returns the rates of all scenes but one.
func (p *Probe) ratesOf(scenes []probeScene, left int) Rates {
	var sum probeScene
	count, fresh := 0.0, 0.0 // fresh: of the text, weighted by the share of new entries
	for i, s := range scenes {
		if i == left || s.calls == 0 { // a scene that was refused has none
			continue
		}
		count++
		sum.text, sum.calls, sum.out = sum.text+s.text, sum.calls+s.calls, sum.out+s.out
		fresh += s.text * newIn(i)
		sum.grown, sum.grownOf = sum.grown+s.grown, sum.grownOf+s.grownOf
	}
	r := Rates{Server: p.server(), Calls: max(1, ratio(sum.calls, count, 1)), Out: ratio(sum.out, fresh, 0)}
	r.Growth = ratio(sum.grown, sum.grownOf, r.Server+ratio(sum.out, sum.text, 0))
	if len(scenes) > 0 {
		r.Prefix = max(0, scenes[0].first-scenes[0].text*r.Server)
		r.Entries = float64(p.Entries) / math.Pow(float64(len(scenes)), newEntries)
	}
	p.addCalls(&r)
	return r
}

// addCalls adds what is known of calls whatever their scene: the curator's, the cache and the time.
func (p *Probe) addCalls(r *Rates) {
	var question, answer, cached, cacheable, computed, out, toFirst, after, held float64
	for i := range p.Calls {
		c := &p.Calls[i]
		u := c.Usage
		prompt := float64(u.Prompt)
		switch c.Purpose {
		case annotator.PurposeCurate:
			question, answer = question+max(0, prompt-held), answer+float64(u.Completion)
		case annotator.PurposeAnnotate:
			cached, cacheable = cached+float64(u.Cached), cacheable+min(held, prompt)
			held = prompt
		default:
			continue
		}
		computed, out = computed+prompt-float64(u.Cached), out+float64(u.Completion)
		toFirst += c.FirstByte.Seconds()
		after += (c.Duration - c.FirstByte).Seconds()
	}
	r.Cached = min(1, ratio(cached, cacheable, 0))
	r.Question, r.Answer = ratio(question, float64(p.Entries), 0), ratio(answer, float64(p.Entries), 0)
	if after < toFirst/10 { // replies come as a whole
		after, toFirst = after+toFirst, 0
	}
	r.Prefill, r.Decode = ratio(toFirst, computed, 0), ratio(after, out, 0)
}

func ratio(x, y, otherwise float64) float64 {
	if y <= 0 {
		return otherwise
	}
	return x / y
}

// Range is an estimate with its spread among the probes.
type Range struct {
	Figures
	Low, High Figures
}

// Spread returns an estimate of the whole and the range in which it is by two standard errors. It takes what the whole
// is by some rates. The errors are those of a jackknife over the scenes of the probes.
func Spread(p *Probe, whole func(Rates) Figures) Range {
	r := Range{Figures: whole(p.Rates())}
	var others []Figures
	for _, rates := range p.Without() {
		others = append(others, whole(rates))
	}
	bound := func(of func(*Figures) *float64) {
		mean, squares := 0.0, 0.0
		for i := range others {
			mean += *of(&others[i]) / float64(len(others))
		}
		for i := range others {
			squares += math.Pow(*of(&others[i])-mean, 2)
		}
		deviation := 0.0
		if n := float64(len(others)); n > 0 {
			deviation = 2 * math.Sqrt(squares*(n-1)/n)
		}
		*of(&r.Low), *of(&r.High) = max(0, *of(&r.Figures)-deviation), *of(&r.Figures)+deviation
	}
	bound(func(f *Figures) *float64 { return &f.Calls })
	bound(func(f *Figures) *float64 { return &f.Prompt })
	bound(func(f *Figures) *float64 { return &f.Cached })
	bound(func(f *Figures) *float64 { return &f.Out })
	bound(func(f *Figures) *float64 { return &f.Time })
	bound(func(f *Figures) *float64 { return &f.Cost })
	return r
}

// Plus adds up the estimates of two stories. Their errors have nothing to do with each other, but both have the same
// model: the bounds are added.
func (r Range) Plus(s Range) Range {
	return Range{r.Figures.Plus(s.Figures), r.Low.Plus(s.Low), r.High.Plus(s.High)}
}

// Used returns what the probes have used.
func (p *Probe) Used() (f Figures) {
	for i := range p.Calls {
		c := &p.Calls[i]
		f = f.Plus(Figures{
			Calls: 1, Prompt: float64(c.Usage.Prompt), Cached: float64(c.Usage.Cached),
			Out: float64(c.Usage.Completion), Time: c.Duration.Seconds(),
		})
	}
	return f
}
