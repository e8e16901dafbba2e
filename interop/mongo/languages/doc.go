// Package languages plays one scenario with other people's drivers, in their own languages, against a set of three
// members with authentication. README.md describes the scenario; clients_test.go lists the drivers. It has only tests.
package languages
