// Package scripted is a model server without a model: a Go function, the script, makes the answers. Tests of all code
// that uses an endpoint run against it, over real HTTP.
//
// It serves every wire, by path. Internally it uses chat completions, in the form of vLLM. The dialect of another wire
// converts requests to them, and answers from them. So scripts, faults and rules apply to all wires, and a conversation
// is the same prompt over every wire.
//
// The environment of the model is simulated, so that a client's measurements are meaningful:
//
//   - A tokenizer: four bytes of each rendered piece are a token, and the template adds its own. See Tokens.
//   - A context limit: a prompt that does not fit is refused with vLLM's message.
//   - A prefix cache: blocks of 16 tokens under chained hashes, never evicted. It also has the generated replies, as
//     in a real server, so a conversation that grows at its end costs only its new part.
//   - A strict template, optional: the rules of the strictest chat templates together, each breach recorded.
//   - Faults, optional: any status, body, delay or broken connection instead of an answer.
//
// With a pace, it also has slots, times and a cache of bounded size. Else there is no clock and no randomness: the same
// requests in the same order get the same bytes. Identifiers are derived from the prompt, so that equal prompts get
// equal ones and different prompts do not.
package scripted
