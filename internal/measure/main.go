package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	ctx := context.Background()
	show := func(w *walked) {
		fmt.Printf("%+v\n", *w)
		if w.Scenes > 0 {
			fmt.Println("per scene", float64(w.Processor.Microseconds())/float64(w.Scenes), "us", w.Objects/uint64(w.Scenes), "objs", w.Allocated/uint64(w.Scenes), "B")
		}
	}
	switch os.Args[1] {
	case "story":
		var n int
		fmt.Sscan(os.Args[3], &n)
		if err := writeStory(ctx, os.Args[2], n); err != nil {
			panic(err)
		}
	case "serve":
		if err := serve(); err != nil {
			panic(err)
		}
	case "walk", "bare":
		var j walkJob
		if err := json.Unmarshal([]byte(os.Args[2]), &j); err != nil {
			panic(err)
		}
		do := walk
		if os.Args[1] == "bare" {
			do = bare
		}
		w, err := do(ctx, j)
		if err != nil {
			panic(err)
		}
		show(w)
	}
}
