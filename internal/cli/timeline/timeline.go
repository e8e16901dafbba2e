// Package timeline draws what happened in a system as an image for an HTML page: a line for each part of the system, and on it a numbered
// mark for each event. It knows no experiment. Package webpage has the styles.
//
// Begin with timeline.go. Then draw.go.
package timeline

import (
	"fmt"
	"time"
)

// Chart is what is drawn. It has at least one event.
type Chart struct {
	Lanes  []string // the names of the parts, from above
	Events []Event  // in the order of their times
	Spans  []Span
}

// Event is one event. Its number is its place in the chart, from 1.
type Event struct {
	At   time.Duration
	Lane int // its place in Lanes
	Mark Mark
	// Way is the line of a message that came from the lane From.
	Way  Way
	From int
}

// Mark is the shape of an event.
type Mark uint8

// The marks.
const (
	Circle Mark = iota
	Filled      // a filled circle: it changed data
	Square      // a failure or an error
)

// Way is the line of a message.
type Way uint8

// The ways.
const (
	NoWay  Way = iota // the event is no message
	Solid             // it came, and its reply went back
	Dashed            // it was not executed, or its reply was lost
)

// Span is the time from an event to another, on the lane of the first. A page chooses its look by the lane: the first lane's spans have
// the class s0.
type Span struct {
	From int // the place of the event that begins it
	To   int // the place of the event that ends it; -1 if the chart ends before it does
}

// Seconds returns a time in the form of the charts.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
