// Package spec runs the published suites of the unified test format against our test server, with one of two clients:
//
//	go -C interop test ./mongo/spec                        # the official driver
//	go -C interop test -tags spec_holdfast ./mongo/spec    # our client
//
// It has only tests. The cases that fail are listed with their reasons in expected.json and expected_ours.json; a listed case that
// passes, or fails for another reason, fails the test. unsupported.json counts the cases that need a method or an option that our
// client does not have yet; these are neither passed nor failed.
//
// Only one file of internal/devtools/spectest/unified names the client under test, and a build tag chooses this file:
// internal/devtools/spectest/unified/bind_official.go, or the one for our client beside it with -tags spec_holdfast. Each case runs on every version that its file permits, on a
// set, a standalone, a sharded cluster and behind a load balancer, with a login if it asks for one; those that a standalone
// without sessions can run also run on MongoDB's own engine (expected_engine.json).
//
// With the official driver, what a mongos may be asked also runs through two routers in front of a replica set. The fail point failCommand
// stands before the router there, where a mongos has its own: behind it, retries would hide what the case wants to see. Other fail points are the
// members'. A case counts if it passes through the router or at mongotest's own mongos; those that pass at the latter only are in
// expected_router.json. docs/PROSE.md lists the tests that the
// specifications describe in words, and ours for each of them.
package spec
