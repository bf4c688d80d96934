// Package scripted is a model server without a model: a function in Go, the script, decides what it answers. Everything that
// talks to an endpoint is tested against it, over real HTTP.
//
// It serves every wire, by path. It works on chat completions, as vLLM has them: the dialect of another wire converts requests to
// them, and answers from them. So scripts, faults and rules are written once, and a conversation is the same prompt over every
// wire.
//
// What surrounds the model is simulated, so that a client's measurements are meaningful:
//
//   - A tokenizer: four bytes of each rendered piece are a token, and the template adds its own. See Tokens.
//   - A context limit: a prompt that does not fit is refused with vLLM's message.
//   - A prefix cache: blocks of 16 tokens under chained hashes, never evicted. What a reply generated is cached too, as a
//     real server caches it, so a conversation that only grows at its end costs what is new.
//   - A strict template, on request: the rules of the pickiest chat templates at once, each breach recorded.
//   - Faults, on request: any status, body, delay or broken connection in place of an answer.
//
// There is no clock and no randomness: the same requests in the same order get the same bytes. Identifiers derive from the
// prompt, so that a prompt asked again gets the same ones and two prompts never share one.
package scripted
