package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime/pprof"
)

func main() {
	ctx := context.Background()
	show := func(w walked) {
		fmt.Printf("%+v\n", w)
		if w.Scenes > 0 {
		fmt.Println("per scene", float64(w.Processor.Microseconds())/float64(w.Scenes), "us", w.Objects/uint64(w.Scenes), "objs", w.Allocated/uint64(w.Scenes), "B")
		}
	}
	prof := func(f string) func() {
		if f == "" { return func(){} }
			o, _ := os.Create(f)
			pprof.StartCPUProfile(o)
			return pprof.StopCPUProfile
	}
	switch os.Args[1] {
	case "story":
		var n int
		fmt.Sscan(os.Args[3], &n)
		if err := writeStory(ctx, os.Args[2], n); err != nil { panic(err) }
	case "serve":
		if err := serve(os.Args[2]); err != nil { panic(err) }
	case "walk":
		var j walkJob
		if err := json.Unmarshal([]byte(os.Args[2]), &j); err != nil { panic(err) }
		end := prof(j.Profile)
		w, err := walk(ctx, j)
		end()
		if err != nil { panic(err) }
		show(w)
	case "bare":
		var j bareJob
		if err := json.Unmarshal([]byte(os.Args[2]), &j); err != nil { panic(err) }
		end := prof(os.Getenv("PROF"))
		w, err := bare(ctx, j)
		end()
		if err != nil { panic(err) }
		show(w)
	}
}
