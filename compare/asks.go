//go:build ignore

// asks.go is a search of settings that another program answers: compare/search.py. It reads a search.Config, then, for each job that it
// prints, a value; larger is better. Each is one line of JSON.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"collapse.example/collapse/internal/search"
)

func main() {
	in, out := json.NewDecoder(bufio.NewReader(os.Stdin)), json.NewEncoder(os.Stdout)
	var cfg search.Config
	check(in.Decode(&cfg))
	s, err := search.New(cfg)
	check(err)
	s.Replay(func(j search.Job) (value float64, known bool) { // as a study does
		check(out.Encode(j))
		check(in.Decode(&value))
		return value, true
	})
	best, point, ok := s.Best()
	if !ok {
		check(fmt.Errorf("no value is a number"))
	}
	check(out.Encode(map[string]any{"Best": point, "Value": best.Value, "Spent": s.Spent()}))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
