package runner_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"annotator/corpus"
	"annotator/internal/scripted"
)

// joinParts reads each thread of a story as a part, and joins the parts.
func (s *stage) joinParts(threads int) {
	s.t.Helper()
	story, err := corpus.Open(s.t.Context(), s.corpus)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = story.Close() }()
	all, err := story.Threads(s.t.Context())
	if err != nil || len(all) != threads {
		s.t.Fatalf("%d threads, %v", len(all), err)
	}
	whole := s.corpus
	var paths []string
	for i := range all {
		name := fmt.Sprintf("part%d", i+1)
		s.corpus = filepath.Join(s.dir, name+".corpus.db")
		part := corpus.Part{Number: i + 1, Of: threads, Threads: []int64{all[i].ID}}
		if err := story.Extract(s.t.Context(), s.corpus, part); err != nil {
			s.t.Fatal(err)
		}
		if err := s.run(name); err != nil {
			s.t.Fatal(err)
		}
		paths = append(paths, s.db(name))
	}
	s.corpus = whole
	if err := s.runner("joined").Join(s.t.Context(), paths); err != nil {
		s.t.Fatal(err)
	}
}

// TestSeamSettlesGuesses: after a part is joined, a guess and a state of an earlier part are asked about once, with the
// quotations of both sides. A guess is settled only as the answer may settle one.
func TestSeamSettlesGuesses(t *testing.T) {
	t.Parallel()
	for answer, ended := range map[string]string{
		`<ended entry="1" fact="2" by="2:1" how="confirmed"/>`: "1:2 confirmed",
		`<ended entry="1" fact="2" how="refuted"/>`:            "1:2 refuted",
		`<ended entry="1" fact="2" by="2:2" how="confirmed"/>`: "", // by a guess
		`<ended entry="1" fact="2" by="1:1" how="confirmed"/>`: "", // by an older one
		`<ended entry="1" fact="2" by="2:1" how="over"/>`:      "",
		`<ended entry="1" fact="1" by="2:1" how="over"/>`:      "1:1 over",
		`<ended/>`: "",
	} {
		threads := [][]string{{"The Grey Key was with Orrin, and old."}, {"Orrin opened the chapel with the Grey Key."}}
		asked := []string{}
		s := newTale(t, threads, 32_768, scripted.Options{Script: func(r scripted.Request) scripted.Reply {
			question := r.Messages[len(r.Messages)-1].Content
			updates := `{"term":"Grey Key","status":"new","facts":[
				{"text":"The Grey Key is with [[Orrin]].","state":true,"quote":"The Grey Key was with Orrin"},
				{"text":"The Grey Key may open the chapel.","kind":"inferred","quote":"and old"}]}`
			if strings.Contains(question, "opened the chapel") {
				updates = `{"term":"Orrin","status":"new","facts":[
					{"text":"Orrin opened the chapel with the [[Grey Key]].","quote":"Orrin opened the chapel"},
					{"text":"The chapel may be of the [[Grey Key]].","kind":"inferred","quote":"the Grey Key"}]}`
			}
			if strings.HasPrefix(question, `<scene number="`) {
				return scripted.Reply{Text: "<codex_updates>[" + updates + "]</codex_updates>"}
			}
			reply := scripted.Annotate(r)
			if _, states, _ := strings.Cut(question, "\n<states now="); strings.Contains(states, "opened") {
				asked = append(asked, question)
				reply.Text = strings.Replace(reply.Text, "<ended/>", answer, 1)
			}
			return reply
		}})
		s.joinParts(2)
		s.lawful("joined")
		if len(asked) != 1 {
			t.Fatalf("%s: asked %d times: %q", answer, len(asked), asked)
		}
		for _, want := range []string{
			`2 (inferred): The Grey Key may open the chapel. [scene 1]`,
			`1 (state): The Grey Key is with [[Orrin]]. [scene 1]`, `The Grey Key was with Orrin, and old.</quote>`,
			`1: Orrin opened the chapel with the [[Grey Key]]. [scene 2]`,
			`Orrin opened the chapel with the Grey Key.</quote>`, `how="refuted"`,
		} {
			if !strings.Contains(asked[0], want) {
				t.Errorf("the question lacks %s: %s", want, asked[0])
			}
		}
		is := ""
		for e, err := range s.open("joined").Glossary.All(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for i := range e.Claims {
				if c := &e.Claims[i]; c.Until != 0 {
					is += fmt.Sprintf("%d:%d %s", e.ID, c.ID, c.Ended)
				}
			}
		}
		if is != ended {
			t.Errorf("%s: ended are %q, not %q", answer, is, ended)
		}
	}
}
