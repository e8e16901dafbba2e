//go:build !race

package couchbasetest

const raceEnabled = false
