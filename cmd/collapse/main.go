// Command collapse is a laboratory for neural collapse: it measures it, solves its models
// exactly, trains the networks in which it happens and re-runs the experiments on it.
package main

import (
	"os"

	"collapse/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdout, os.Stderr)) }
