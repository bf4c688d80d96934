package textcalls

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"annotator/internal/laxjson"
)

// form is a form in which models write calls into the text of a reply.
type form struct {
	source string // whose form it is: model families, chat templates
	mark   string // a regular expression for its beginning
	reader reader
	sure   bool // the mark has no other meaning: calls must follow
}

// reader selects the function that reads a form.
type reader int

const (
	enclosed reader = iota // calls of any kind behind the mark
	channel                // the mark begins a message to a tool, which may not be named
	tagged                 // the mark begins a tag with the name of the tool
	fenced
	plain  // the call has no mark, and begins a line
	named  // as plain, with the name of the tool before its arguments
	listed // the mark is the bullet of a list that is the whole reply
)

// A call without a mark of its own begins a line, or follows a token of the chat template.
const (
	leaked    = `<\|(?:im_start|im_end|start_header_id|end_header_id|eot_id)\|>`
	lineStart = `(?:` + leaked + `|(?m:^))[ \t]*`
)

// forms lists the forms in order: the first that matches is read.
var forms = []form{
	{
		"NousResearch Hermes, Qwen 2.5 and 3, GLM 4.5, xLAM 2, Granite, Jamba, Hunyuan, MiniMax, Nemotron, OLMo 3, " +
			"Seed-OSS, LongCat, FunctionGemma, DeepSeek V3.2",
		`<` + namespace + `(?i:(?:\w+_)?(?:tool_?|function_)calls?)\s*>`, enclosed, true,
	},
	{
		"Qwen 3 Coder, Llama 3.1, MiniMax M2, Claude, Step 3, MiniCPM, DeepSeek V3.2",
		`<` + namespace + `(?:function\s*\(|(?:function|(?:invoke|function|tool_call|tool)\s+name\s*)=)`, tagged, true,
	},
	{
		"Granite 3, DeepSeek V3 and R1, Step 3, Kimi K2, Llama 3 and 4, LFM2, InternLM 2, " +
			"Command R7B, Apertus, Gemma 4",
		`<[|｜](?:tool_call|tools_prefix|python_tag|plugin|START_ACTION|` +
			`(?:tool|python|action)[\w▁]*(?:begin|start))[|｜]?>`, enclosed, true,
	},
	{"Mistral", `\[TOOL_CALLS\]`, enclosed, true},
	{"models without a form of their own on LM Studio", `\[TOOL_REQUEST\]`, enclosed, true},
	{"Phi 4 mini", `\bfunctools\b`, enclosed, false},
	{
		"gpt-oss", `(?:<\|start\|>assistant)?(?:<\|channel\|>\w+)?\s*(?:\b(?:commentary|analysis)\s+)?\bto=functions\.`,
		enclosed, true,
	},
	{"gpt-oss", `(?:<\|start\|>assistant)?<\|channel\|>commentary\b`, channel, false},
	{"Qwen 2", `✿FUNCTION✿:`, enclosed, true},
	{"ReAct, Command R", `(?m:^Action:)`, enclosed, false},
	{"Functionary 3.2", `>>>`, enclosed, false},
	{"Gemma 3", "<tool_code>|```tool_code", enclosed, true},
	{
		"Qwen 2.5 Coder, DeepSeek on the web, and others",
		`<(?:[|｜]\s*)?[\w▁:-]{0,20}(?:tool|func|action|plugin)[\w▁:-]{0,20}(?:\s*[|｜])?>`, enclosed, false,
	},
	{"any", "(?m:^[ \t]*```)", fenced, false},
	{"Llama 3, xLAM, DBRX", lineStart + "`?(?:\\{|\\[\\s*\\{)", plain, false},
	{"Gorilla, Raven, Llama 4", lineStart + "`?(?:\\[\\s*)?(?:print\\(\\s*)?(?:\\w+\\.)*[\\w\\\\]+\\(", plain, false},
	{"Cline, Roo Code", `(?m:^)<[a-z]\w{1,63}\s*/?>`, plain, false},
	{"GPT 3.5", `(?m:^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+)`, listed, false},
	{"GLM 4, Mistral without its mark", lineStart + `[\w.\\:-]+(?:\s*\n\s*|\[ARGS\])?[ \t]*\{`, named, false},
}

// readForm reads the calls of a form, and returns where they end. The text begins with the mark if the reader is
// tagged, plain or named, otherwise after the mark. The error is errNoCall if no call follows. With another error, n is
// its offset.
func (s *scanner) readForm(f *form, text string) (calls []writtenCall, n int, err error) {
	switch f.reader {
	case fenced:
		return s.fenced(text)
	case channel:
		return s.message(text)
	case plain, named:
		return s.plain(text)
	case listed:
		return s.listed(text)
	}
	return s.enclosed(text)
}

var (
	beginning = regexp.MustCompile(`^(?:\s|function<[|｜]tool[▁_]sep[|｜]>|` +
		marksOf(func(f *form) bool { return f.sure && f.reader == enclosed }) + "|```\\w*)*")
	opening  = regexp.MustCompile(`^` + lineStart + "[\\s`]*")
	pythonic = regexp.MustCompile(`^\[?\s*(?:print\(\s*)?((?:[\w\\]+\.)*[\w\\]+)\(`)
	endings  = regexp.MustCompile("^(?:\\s*(?:```|`|✿RESULT✿|\\[END_TOOL_REQUEST\\]|" +
		"<tool_call\\|>|<end_function_call>|</\\w{1,20}$|" +
		`</\s*[|｜\w:▁ -]{0,30}(?:tool|func|invoke|action|plugin|TOOL|python)[\w:▁ |｜-]{0,20}>|` +
		`<[|｜][\w▁]{0,30}(?i:end|suffix|eom|eot|eos)[\w▁]{0,10}[|｜]>|<\|(?:call|return)\|>))+`)
)

// marksOf joins the marks of forms.
func marksOf(which func(*form) bool) string {
	var all []string
	for i := range forms {
		if which(&forms[i]) {
			all = append(all, forms[i].mark)
		}
	}
	return strings.Join(all, "|")
}

// body reads calls of any kind.
func (s *scanner) body(text string) (calls []writtenCall, n int, err error) {
	start := laxjson.Space(text)
	text = text[start:]
	switch name, tag := pythonic.FindStringSubmatch(text), ownTag.FindStringSubmatch(text); {
	case functionTag.MatchString(text):
		calls, n, err = s.function(text)
	case name != nil && s.tools.Known(CleanName(name[1])):
		calls, n, err = s.python(text)
	case strings.HasPrefix(text, "{") || strings.HasPrefix(text, "["):
		calls, n, err = s.values(text)
	case pairsName.MatchString(text):
		calls, n, err = pairs(text)
	case nameTag.MatchString(text):
		calls, n, err = s.nameInTag(text)
	case tag != nil && s.tools.Known(CleanName(tag[1]+tag[3])):
		calls, n, err = s.own(text)
	default:
		calls, n, err = s.named(text)
	}
	return calls, start + n, err
}

// maxName is the size limit, in bytes, of a tool's name with everything between it and the arguments.
const maxName = 300

// nameBefore matches the name of a tool with everything between it and the arguments.
var nameBefore = regexp.MustCompile("^(?:call:)?([\\w.\\\\:-]+?)" +
	"(?:\\s|<[|｜]?[\\w▁]{1,40}[|｜]?>|analysis|commentary|json|\\[ARGS\\]|\\[CALL_ID\\][\\w-]+|```\\w*|Action " +
	"Input:|✿ARGS✿:?|:)*\\{")

// named reads the name of a tool and its arguments as a JSON object.
func (s *scanner) named(text string) (calls []writtenCall, n int, err error) {
	found := nameBefore.FindStringSubmatch(text[:min(len(text), maxName)])
	if found == nil {
		return nil, 0, errNoCall
	}
	arguments, n, err := s.arguments(CleanName(found[1]), text, len(found[0])-1)
	if err != nil {
		return nil, n, err
	}
	return oneCall(found[1], arguments, text[:n]), n, nil
}

// header matches the text between the mark of a channel and its message.
var header = regexp.MustCompile(`^\s*(?:to=([\w.]+)\s*)?(?:<\|constrain\|>)?\s*(?:json\s*)?<\|message\|>\s*`)

// message reads the message of a channel, which is JSON: a call, or the arguments of the tool that the header names.
// Without a name, they are those of the only tool that takes them.
func (s *scanner) message(text string) (calls []writtenCall, n int, err error) {
	found := header.FindStringSubmatch(text)
	if found == nil || !strings.HasPrefix(text[len(found[0]):], "{") {
		return nil, 0, errNoCall
	}
	calls, n, err = s.value(text[len(found[0]):], func(strict string) ([]writtenCall, error) {
		calls, err := s.callsIn(strict)
		switch {
		case found[1] != "":
			return oneCall(found[1], strict, ""), nil
		case errors.Is(err, errNoCall):
			return s.unnamed(strict)
		}
		return calls, err
	})
	if n += len(found[0]); err != nil {
		return nil, n, err
	}
	withSource(calls, text[:n])
	return calls, n + len(endings.FindString(text[n:])), nil
}

// enclosed reads the calls after a mark, up to the end mark, which models and servers may omit.
func (s *scanner) enclosed(text string) (calls []writtenCall, n int, err error) {
	n = len(beginning.FindString(text))
	calls, size, err := s.body(text[n:])
	if n += size; err != nil {
		return nil, n, err
	}
	end := endings.FindString(text[n:])
	if at := strings.Index(end, "```"); at >= 0 && !strings.Contains(text[:n], "```") {
		end = strings.TrimRight(end[:at], space)
	}
	if end != "" {
		return calls, n + len(end), nil
	}
	between := text[n:]
	if next := marks.FindStringIndex(between); next != nil {
		if between = between[:next[0]]; strings.HasPrefix(text[n+next[0]:], "</") && strings.TrimSpace(between) != "" {
			return nil, n, fmt.Errorf("words follow before %s", text[n+next[0]:n+next[1]])
		}
	}
	return calls, n, nil
}

// info matches what may follow an opening fence.
var info = regexp.MustCompile(`^([\w-]*)[ \t]*\n?`)

// fenced reads calls up to the end of a fence. If the info string of the fence is a tool, the content may be its
// arguments.
func (s *scanner) fenced(text string) (calls []writtenCall, n int, err error) {
	word := info.FindStringSubmatch(text)
	start := len(word[0])
	calls, n, err = s.plain(text[start:])
	if n += start; err != nil && s.tools.Known(word[1]) {
		var arguments string
		arguments, n, err = s.within(word[1], text, start, "```")
		if err == nil && !strings.HasPrefix(text[n:], "```") {
			err = fmt.Errorf("%s: ``` does not follow where its arguments end", word[1])
		}
		if err == nil {
			n += len("```")
			calls = oneCall(word[1], arguments, text[:n])
		}
	}
	if err != nil {
		return nil, n, err
	}
	if rest := strings.TrimSpace(text[n:]); rest != "" && !strings.HasSuffix(text[:n], "```") {
		return nil, n, errors.New("``` does not follow where it ends")
	}
	return calls, n, nil
}

// plain reads calls without a mark of their own: all must be of known tools.
func (s *scanner) plain(text string) (calls []writtenCall, n int, err error) {
	start := len(opening.FindString(text))
	if name := nameBefore.FindStringSubmatch(text[start:min(len(text), start+maxName)]); name != nil &&
		!s.tools.Known(CleanName(name[1])) {
		return nil, 0, errNoCall
	}
	calls, n, err = s.body(text[start:])
	if n += start; err == nil {
		n += len(endings.FindString(text[n:]))
	}
	return calls, n, err
}

// wholeList matches a reply that is a list of one-line items and nothing else.
var wholeList = regexp.MustCompile(`^\s*(?:(?:[-*•]|\d{1,2}[.)])[ \t]+\S.*(?:\n\s*|$))+$`)

// restOfLine matches the rest of a line without text after a call.
var restOfLine = regexp.MustCompile("^[`;,.]*[ \t\r]*(?:\n|$)")

// listed reads the calls of a list item, in a reply that has only such items. In any other reply they are a plan or an
// explanation.
func (s *scanner) listed(text string) (calls []writtenCall, n int, err error) {
	if !s.list {
		return nil, 0, errNoCall
	}
	calls, n, err = s.plain(text)
	if err == nil && !restOfLine.MatchString(text[n:]) {
		err = errors.New("words follow in its line")
	}
	return calls, n, err
}
