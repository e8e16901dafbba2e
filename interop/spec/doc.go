// Package spec runs the published suites of the unified test format: other people's clients against our servers, and our client.
// It has only tests. expected.json lists what does not pass, by reason; a listed case that passes fails the test too.
package spec
