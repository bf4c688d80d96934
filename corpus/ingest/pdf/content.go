package pdf

import (
	"bytes"
	"math"
	"strings"
)

// matrix maps points as PDF has it: x' = a x + c y + e, y' = b x + d y + f.
type matrix [6]float64

// times applies m first, then n.
func (m matrix) times(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3], m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

var unit = matrix{1, 0, 0, 1, 0, 0}

// turned are pages that are shown turned by quarters.
var turned = map[float64]matrix{90: {0, -1, 1, 0, 0, 0}, 180: {-1, 0, 0, -1, 0, 0}, 270: {0, 1, -1, 0, 0, 0}}

// chunk is text that was shown at once.
type chunk struct {
	text      string
	x, y, end float64 // where it begins and ends
	size      float64
	font      *font
}

// state is what text is shown with.
type state struct {
	ctm                              matrix
	font                             *font
	size, char, word, scale, leading float64
	rise                             float64
}

// painter runs the operators of a page.
type painter struct {
	*document
	fonts  map[ref]*font
	chunks []chunk
	// parts that are being run: none runs itself
	running map[ref]bool
	state
	saved      []state
	text, line matrix
}

// Limits of parts that a page refers to: how deep they lie in each other, and what a use takes off the budget.
const (
	maxForms   = 16
	chargeForm = 64 << 10
)

// maxChunks is how many pieces of text a page may have.
const maxChunks = 200_000

func (p *painter) page(l leaf) []chunk {
	p.chunks, p.saved = nil, nil
	p.state = state{ctm: unit, scale: 1}
	if m, ok := turned[math.Mod(l.rotate+360, 360)]; ok {
		p.ctm = m
	}
	parts, ok := p.get(l.dict["Contents"]).(array)
	if !ok {
		parts = array{l.dict["Contents"]}
	}
	var content bytes.Buffer
	for _, part := range parts {
		if s, ok := p.get(part).(stream); ok && p.budget > 0 {
			content.Write(p.unpack(s))
			content.WriteByte('\n')
		}
	}
	p.run(content.Bytes(), l.resources, 0)
	return p.chunks
}

func (p *painter) run(content []byte, resources dict, depth int) {
	l := &lexer{data: content}
	var a array
	for len(p.chunks) < maxChunks {
		v, ok := l.next(0)
		if !ok {
			return
		}
		op, ok := v.(operator)
		if !ok {
			if a = append(a, v); len(a) > 64 {
				a = a[1:]
			}
			continue
		}
		if op == "ID" {
			skipPicture(l)
		}
		p.apply(op, a, resources, depth)
		a = nil
	}
}

// skipPicture passes over the bytes of a picture in the content.
func skipPicture(l *lexer) {
	for {
		i := bytes.Index(l.data[l.at:], []byte("EI"))
		if i < 0 {
			l.at = len(l.data)
			return
		}
		l.at += i + 2
		if isSpace(l.data[l.at-3]) && (l.at == len(l.data) || isSpace(l.data[l.at])) {
			return
		}
	}
}

func (p *painter) apply(op operator, a array, resources dict, depth int) {
	n := func(i int) float64 { return p.number(at(a, i), 0) }
	six := func() matrix { return matrix{n(0), n(1), n(2), n(3), n(4), n(5)} }
	move := func(x, y float64) {
		p.line = matrix{1, 0, 0, 1, x, y}.times(p.line)
		p.text = p.line
	}
	last, _ := at(a, len(a)-1).([]byte)
	switch op {
	case "q":
		p.save()
	case "Q":
		p.restore()
	case "cm":
		p.ctm = six().times(p.ctm)
	case "BT":
		p.text, p.line = unit, unit
	case "Tf":
		p.size = n(1)
		p.font = p.find(p.dict(resources["Font"]), at(a, 0))
	case "Td":
		move(n(0), n(1))
	case "TD":
		p.leading = -n(1)
		move(n(0), n(1))
	case "Tm":
		p.line, p.text = six(), six()
	case "T*":
		move(0, -p.leading)
	case "Tj":
		p.show(last)
	case "'", "\"":
		if op == "\"" {
			p.word, p.char = n(0), n(1)
		}
		move(0, -p.leading)
		p.show(last)
	case "TJ":
		list, _ := at(a, 0).(array)
		p.showAll(list)
	case "Do":
		p.use(at(a, 0), resources, depth)
	default:
		p.set(op, n(0))
	}
}

func (p *painter) save() {
	if len(p.saved) < 1<<10 {
		p.saved = append(p.saved, p.state)
	}
}

func (p *painter) restore() {
	if k := len(p.saved); k > 0 {
		p.state, p.saved = p.saved[k-1], p.saved[:k-1]
	}
}

// set sets what text is shown with.
func (p *painter) set(op operator, value float64) {
	switch op {
	case "Tc":
		p.char = value
	case "Tw":
		p.word = value
	case "Tz":
		p.scale = value / 100
	case "TL":
		p.leading = value
	case "Ts":
		p.rise = value
	}
}

// showAll shows strings with distances between them.
func (p *painter) showAll(list array) {
	for _, v := range list {
		switch v := v.(type) {
		case []byte:
			p.show(v)
		case float64:
			p.text = matrix{1, 0, 0, 1, -v / 1000 * p.size * p.scale, 0}.times(p.text)
		}
	}
}

// use runs a part, unless it is being run.
func (p *painter) use(part any, resources dict, depth int) {
	key, _ := part.(name)
	v := p.dict(resources["XObject"])[key]
	r, _ := v.(ref)
	if s, ok := p.get(v).(stream); ok && !p.running[r] {
		p.running[r] = true
		p.form(s, resources, depth)
		delete(p.running, r)
	}
}

// form runs the content of a part that a page, or another part, refers to.
func (p *painter) form(s stream, resources dict, depth int) {
	if s.dict["Subtype"] != name("Form") || depth >= maxForms || p.budget <= 0 {
		return
	}
	p.budget -= chargeForm
	former, saved := p.state, p.saved
	if m := p.array(s.dict["Matrix"]); len(m) == 6 {
		var by matrix
		for i := range by {
			by[i] = p.number(m[i], 0)
		}
		p.ctm = by.times(p.ctm)
	}
	if own := p.dict(s.dict["Resources"]); own != nil {
		resources = own
	}
	p.run(p.unpack(s), resources, depth+1)
	p.state, p.saved = former, saved
}

func (p *painter) find(fonts dict, v any) *font {
	key, _ := v.(name)
	r, shared := fonts[key].(ref)
	if f := p.fonts[r]; shared && f != nil {
		return f
	}
	if p.budget <= 0 {
		return nil
	}
	p.budget -= chargeUse
	f := p.readFont(fonts[key])
	if shared {
		p.fonts[r] = f
	}
	return f
}

func (p *painter) show(s []byte) {
	if p.font == nil {
		return
	}
	var b strings.Builder
	start := p.place()
	for _, g := range p.font.signs(s) {
		b.WriteString(g.text)
		advance := g.width*p.size + p.char
		if g.space {
			advance += p.word
		}
		p.text = matrix{1, 0, 0, 1, advance * p.scale, 0}.times(p.text)
	}
	end := p.place()
	size := math.Abs(p.size) * math.Hypot(start[2], start[3])
	if b.Len() == 0 || !sane(start) || !sane(end) || size == 0 {
		return
	}
	p.chunks = append(p.chunks, chunk{b.String(), start[4], start[5], end[4], size, p.font})
}

// place is where text goes, on the page.
func (p *painter) place() matrix {
	return matrix{1, 0, 0, 1, 0, p.rise}.times(p.text).times(p.ctm)
}

func sane(m matrix) bool {
	for _, v := range m {
		if math.IsNaN(v) || math.Abs(v) > 1e6 {
			return false
		}
	}
	return true
}
