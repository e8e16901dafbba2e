// Package storm simulates many clients of one server that loses half its capacity for a while, on the fake clock: what load
// they offer it, and how soon all is well again, depending on how they retry. It has only tests.
package storm
