// Package speed measures the router beside a floor, a program that only frames messages and keeps a pool, or only copies bytes, in front of the same canned
// server. It has only tests.
package speed
