// Package shop is a service of ordinary size that keeps its data in MongoDB: products with a catalogue, orders that take
// from the stock in a transaction, a report, an import and a feed of changes, behind an HTTP API. It is written against
// the official driver. Its tests run with the official import, and once more with ours: see swap_test.go.
package shop
