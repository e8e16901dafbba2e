//go:build !race

package cbsimulation

const raceEnabled = false
