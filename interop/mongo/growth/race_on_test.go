//go:build race

package growth

const raceEnabled = true
