// Package programs has five programs, each with a mistake that one failure at one message shows, and with its mended
// twin, which keeps its promise whatever fails: in Go, one package each, and in the folders node and python. README.md
// describes them. The package itself has only tests.
package programs
