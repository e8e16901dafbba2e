// Package collation compares strings as a language does, for commands with a collation: it puts sort keys instead of
// the strings of values, so that comparing those byte by byte compares the strings as the collation says.
//
// The rules of languages are those of golang.org/x/text/collate. A rule that it cannot express is refused by name with the code
// NotImplemented.
package collation
