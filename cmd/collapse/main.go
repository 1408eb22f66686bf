// Command collapse is a laboratory for neural collapse: it measures collapse, solves the models
// exactly, trains the networks that show it and repeats the papers' experiments.
package main

import (
	"os"

	"collapse.example/collapse/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
