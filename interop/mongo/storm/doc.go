// Package storm simulates many clients of one server that loses half its capacity for a while, on the fake clock. It
// measures, for each way to retry, the load that they offer the server and the time until it has recovered. It has only tests.
package storm
