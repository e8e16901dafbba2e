//go:build race

package couchbasetest

const raceEnabled = true
