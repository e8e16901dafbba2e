// Package shop is a service of ordinary size that keeps its data in Couchbase: products with prices and stock, carts, and orders that
// take from the stock with durable writes, behind an HTTP API. It is written against gocb. Its tests run with gocb's import, and
// once more with ours: see swap_test.go.
package shop
