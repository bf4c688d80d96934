package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"annotator"
	"annotator/corpus"
	"annotator/corpus/ingest"
	"annotator/internal/longtest"

	"github.com/google/go-cmp/cmp"
)

// posts renders every post of a corpus: "thread/id@time name!trip [tags] body".
func (m *imported) posts(t testing.TB) []string {
	t.Helper()
	threads, err := m.db.Threads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, thread := range threads {
		posts, err := m.db.Range(t.Context(), thread.ID, 0, 0, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, "= "+thread.Title)
		for _, p := range posts {
			all = append(all, fmt.Sprintf("%d/%d@%d %s!%s %v %s", p.Thread, p.ID, p.Time, p.Name, p.Trip, p.Tags,
				p.Body))
		}
	}
	return all
}

func wantPosts(t testing.TB, m *imported, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, m.posts(t)); diff != "" {
		t.Error(diff)
	}
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ lines, want string }{
		"all fields": {
			`{"thread":7,"id":7,"title":"T","name":"QM","trip":"!x","subject":"s","time":100,"body":"b","tags":["qm_post","x"],"links":[5,6],"color":"red"}`,
			"= T|7/7@100 QM!!x [qm_post x] b",
		},
		"other names": {
			`{"thread_id":"7","no":7,"trip_code":"!x","sub":"S","time":"2020-01-02T03:04:05Z","text":"b","tags":["qm_post"]}` + "\n" +
				`{"thread_id":7,"post_id":8,"time":1577934245000,"content":"c"}`,
			"= S|7/7@1577934245 !!x [qm_post] b|7/8@1577934245 ! [] c",
		},
		"nothing but text": {
			`{"body":"a","tags":["qm_post"]}` + "\n\n" + `{"body":"b"}`,
			"= |1/1@1 ! [qm_post] a|1/3@2 ! [] b",
		},
		"threads by name": {
			`{"thread":"One","body":"a","tags":["qm_post"]}` + "\n" + `{"thread":"Two","body":"b"}` + "\n" +
				`{"thread":"One","body":"c"}`,
			"= One|1/1@1 ! [qm_post] a|1/3@3 ! [] c|= Two|2/2@2 ! [] b",
		},
		"threads by name and by number": {
			`{"thread":"Prologue","body":"a","tags":["qm_post"]}` + "\n" + `{"thread":1,"body":"b"}` + "\n" +
				`{"thread":5,"body":"c"}` + "\n" +
				`{"thread":1,"body":"d"}` + "\n" + `{"thread":"Epilogue","body":"e"}` + "\n" +
				`{"thread":"Prologue","body":"f"}`,
			"= Prologue|1/1@1 ! [qm_post] a|1/6@6 ! [] f|= 1|1099511627777/2@2 ! [] b|1099511627777/4@4 ! [] d|= " +
				"|5/3@3 ! [] c|= Epilogue|1099511627781/5@5 ! [] e",
		},
		"an opening post without a thread": {
			`{"id":7,"body":"a","tags":["qm_post"]}` + "\n" + `{"thread":7,"id":8,"body":"b"}`,
			"= |7/7@1 ! [qm_post] a|7/8@2 ! [] b",
		},
		"ids here and there": {
			`{"thread":1,"id":1,"body":"a","tags":["qm_post"]}` + "\n" + `{"thread":1,"body":"b"}`,
			"= |1/1@1 ! [qm_post] a|1/1099511627778@2 ! [] b",
		},
		"storyteller by trip": {
			`{"thread":1,"id":1,"name":"QM","trip":"!a","body":"a"}` + "\n" +
				`{"thread":1,"id":2,"name":"QM","body":"b"}` + "\n" +
				`{"thread":1,"id":3,"name":"New","trip":"!a","body":"c"}`,
			"= |1/1@1 QM!!a [qm_post] a|1/2@2 QM! [] b|1/3@3 New!!a [qm_post] c",
		},
		"storyteller by name": {
			`{"thread":1,"id":1,"name":"QM","body":"a"}` + "\n" + `{"thread":1,"id":2,"name":"QM","body":"b"}` + "\n" +
				`{"thread":1,"id":3,"name":"QM","trip":"!a","body":"c"}`,
			"= |1/1@1 QM! [qm_post] a|1/2@2 QM! [qm_post] b|1/3@3 QM!!a [] c",
		},
		"nobody known": {
			`{"thread":1,"id":1,"name":"Anonymous","body":"a"}` + "\n" +
				`{"thread":1,"id":2,"name":"Anonymous","body":"b"}`,
			"= |1/1@1 Anonymous! [qm_post] a|1/2@2 Anonymous! [] b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantPosts(t, importFile(t, "posts.jsonl", c.lines), strings.Split(c.want, "|")...)
		})
	}
}

// TestJSONLinesOfSeveralFiles: the posts of a folder need no ids either, and one chapter to a file is a thread to a
// file.
func TestJSONLinesOfSeveralFiles(t *testing.T) {
	t.Parallel()
	m := mustImport(t, ingest.Options{Sources: files(t, map[string]string{
		"1.jsonl": `{"thread":"One","body":"a","tags":["qm_post"]}` + "\n" + `{"thread":"One","body":"b"}`,
		"2.jsonl": `{"thread":"One","body":"c"}` + "\n" + `{"thread":"Two","body":"d"}`,
		"3.jsonl": `{"body":"e"}`, "4.jsonl": `{"body":"f"}`,
	})})
	wantPosts(t, m, "= One", "1/1@1 ! [qm_post] a", "1/2@2 ! [] b", "= One", "3/3@3 ! [] c", "= Two", "4/4@4 ! [] d",
		"= ", "5/5@5 ! [] e", "= ", "6/6@6 ! [] f")
}

func TestBadLinesAreLeftOut(t *testing.T) {
	t.Parallel()
	m := importFile(t, "posts.jsonl", strings.Join([]string{
		`{"id":1,"body":"a\u0007","name":"QM"}`, `{"id":1,"body":"again"}`, `{"id":2`, `[1]`, `{"id":"x","body":"b"}`,
		`{"id":3}`,
		`{"id":4,"body":"b","tags":"qm_post"}`, `{"id":5,"body":{}}`, `{"id":6,"body":"b","time":"noon"}`,
		`{"body":"` + strings.Repeat("x", 17<<20) + `"}`, `{"id":7,"body":"last"}`,
	}, "\n"))
	wantPosts(t, m, "= ", "1/1@1 QM! [qm_post] a", "1/7@3 ! [] last")
	wantLeftOut(t, m,
		"left out: control characters (1): posts.jsonl line 1",
		"left out: posts with the id of an earlier one (1): posts.jsonl line 2",
		"left out: lines with no JSON object (2): posts.jsonl line 3, posts.jsonl line 4",
		"left out: lines with an id that is no whole number (1): posts.jsonl line 5",
		"left out: lines with no body (1): posts.jsonl line 6",
		"left out: lines with a field of the wrong type (1): posts.jsonl line 7",
		"left out: lines with a list or an object where a value belongs (1): posts.jsonl line 8",
		"left out: lines with a time that is neither seconds nor a date (1): posts.jsonl line 9",
		"left out: lines with more than 16 MiB (1): posts.jsonl line 10")
	_, err := tryImport(t, ingest.Options{Sources: files(t, map[string]string{"bad.jsonl": "{\n[\n"})})
	wantRefused(t, err, annotator.Misused, "no line that is a post")
}

const boardThread = `{"posts":[
	{"no":100,"resto":0,"time":1000,"name":"Q &amp; M","trip":"!a","sub":"The Quest","com":"It <i>begins<\/i>.<br><br>What do<wbr>?","filename":"map","ext":".png","tim":17},
	{"no":101,"resto":100,"time":1001,"name":"Anonymous","id":"AbC","com":"<a href=\"#p100\" class=\"quotelink\">&gt;&gt;100<\/a><br><span class=\"quote\">&gt;run<\/span> <s>hide<\/s>"},
	{"no":102,"resto":100,"time":1002,"name":"Q &amp; M","trip":"!a","com":"It ends."},
	{"no":103,"resto":100,"time":1003,"name":"Anonymous"}]}`

func TestBoard(t *testing.T) {
	t.Parallel()
	want := []string{
		"= The Quest",
		"100/100@1000 Q & M!!a [qm_post] It begins.\n\nWhat do?",
		"100/101@1001 Anonymous!ID:AbC [] >>100\n>run hide",
		"100/102@1002 Q & M!!a [qm_post] It ends.",
		"100/103@1003 Anonymous! [] ",
	}
	for name, source := range map[string]string{
		"a thread": boardThread, "a list": "[" + boardThread + "]",
		"an object": `{"site":{"x":[1,{"y":2}]},"threads":[` + boardThread + "]}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := importFile(t, "100.json", source)
			wantPosts(t, m, want...)
			if m.report.Format != ingest.Board || m.report.Title != "The Quest" {
				t.Errorf("%+v", m.report)
			}
		})
	}
}

func TestBoardFolderWithFaults(t *testing.T) {
	t.Parallel()
	m := mustImport(t, ingest.Options{Format: ingest.Board, Sources: files(t, map[string]string{
		"1.json": `{"posts":[{"no":1,"name":"QM","trip":"!a","com":"a"},{"no":2,"name":"QM","trip":"!a","com":"b"}]}`,
		"2.json": `{"posts":[{"no":9,"name":"QM","trip":"!a","com":"c"},{"no":10,"com":`,
		"3.json": `{"error":"gone"}`,
		"4.json": `{"posts":[{"no":"x","com":"d"},{"no":11,"com":{}},{"no":1,"com":"e"}]}`,
		"5.json": strings.Repeat("[", 600),
	})})
	wantPosts(t, m, "= ", "1/1@0 QM!!a [qm_post] a", "1/2@0 QM!!a [qm_post] b", "= ", "9/9@0 QM!!a [qm_post] c")
	got := strings.Join(m.leftOut(), "\n")
	for _, says := range []string{
		"rest of files with broken JSON (2): 2.json", "files without posts (2): 3.json",
		"whole number (1): 4.json post x", "a value belongs (1): 4.json post 11", "earlier one (1): 4.json post 1",
	} {
		if !strings.Contains(got, says) {
			t.Errorf("%s\ndoes not say %q", got, says)
		}
	}
}

func TestCommentQuotes(t *testing.T) {
	t.Parallel()
	text, quotes := ingest.CommentText(
		`<a href="/qst/thread/1#p12" class="quotelink">&gt;&gt;12</a> <a class="quotelink" href="#p12">x</a><a href="#p5">5</a>` +
			`<p>one</p><p>two</p><script>evil()</script>a &lt; b`)
	if diff := cmp.Diff(">>12 x5one\ntwo\na < b", text); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int64{12}, quotes); diff != "" {
		t.Error(diff)
	}
}

func TestManyLines(t *testing.T) {
	t.Parallel()
	posts := longtest.Pick(1_000, 20_000)
	var b strings.Builder
	for i := range posts {
		fmt.Fprintf(&b, `{"thread":%d,"id":%d,"name":"QM","trip":"!a","time":%d,"body":"post %d"}`+"\n", i/100*100+1,
			i+1, i, i)
	}
	m := importFile(t, "posts.jsonl", b.String())
	want := corpus.Stats{Threads: posts / 100, Scenes: posts / 100, Posts: posts, StoryPosts: posts, Words: 2 * posts}
	if diff := cmp.Diff(want, m.report.Stats); diff != "" {
		t.Error(diff)
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"thread":1,"id":"2","time":"2020-01-02T03:04:05Z","body":"x","tags":["a"],"links":[1]}`))
	f.Add([]byte(`{"body":null,"text":1.5,"id":1e3}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		if p, err := ingest.LinePost(line); (p == nil) == (err == nil) {
			t.Errorf("%v, %v", p, err)
		}
	})
}

func FuzzComment(f *testing.F) {
	f.Add(`<a href="#p1" class="quotelink">&gt;&gt;1</a><br><s>x</s><script>`)
	f.Add(`&#0;<p><wbr><br/>`)
	f.Fuzz(func(t *testing.T, source string) {
		text, _ := ingest.CommentText(ingest.CleanPage(source))
		if strings.Count(text, "") > len(source)+8 {
			t.Errorf("%q became %q", source, text)
		}
	})
}

// TestStoryTitle imports threads with titles, and expects what the titles of most have in common.
func TestStoryTitle(t *testing.T) {
	t.Parallel()
	for want, titles := range map[string][]string{
		"The Long Quest":   {"The Long Quest #1", "The Long Quest #2 - Finale", "Side Story: Moths"},
		"The Moth (again)": {"The Moth (again)", "The Moth (again), 2"},
		"posts":            {"Book One, Chapter 1", "Book One, Chapter 2", "One title", "Another title"},
	} {
		var lines strings.Builder
		for i, title := range titles {
			fmt.Fprintf(&lines, `{"thread":%d,"id":%d,"title":%q,"body":"It is told."}`+"\n", 10*i+1, 10*i+1, title)
		}
		if got := importFile(t, "posts.jsonl", lines.String()).report.Title; got != want {
			t.Errorf("%q are called %q, not %q", titles, got, want)
		}
	}
}
