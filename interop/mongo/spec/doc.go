// Package spec runs the published suites of the unified test format against our test server, with one of two clients:
//
//	go -C interop test ./mongo/spec                        # the official driver
//	go -C interop test -tags spec_holdfast ./mongo/spec    # our client
//
// It has only tests. The cases that fail are listed with their reasons in expected.json and expected_ours.json; a listed case that
// passes, or fails for another reason, fails the test. unsupported.json counts the cases that need a method or an option that our
// client does not have yet; these are neither passed nor failed.
package spec
