// Package datetext reads dates and times as people write them, with a format or without one, as $dateFromString of MongoDB does.
package datetext

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// Civil is a date and time as it is written, its parts as far as they are there.
type Civil struct {
	Year, Month, Day    int
	HasYear, HasMonth   bool
	HasDay              bool
	DayOfYear           int
	IsoYear, Week, Wday int
	Hour, Minute        int
	Second, Nano        int
	Zone                *time.Location
	relative
}

func (c *Civil) validTime() bool { return c.Hour <= 23 && c.Minute <= 59 && c.Second <= 59 }

func (c *Civil) validDay() bool {
	return c.Month >= 1 && c.Month <= 12 && c.Day >= 1 && c.Day <= DaysIn(c.Year, time.Month(c.Month))
}

// problems collects the mistakes in a text, in order.
type problems struct {
	text  string
	found []string
}

func (p *problems) add(at int, what string) {
	near := "\x00"
	if at < len(p.text) {
		near = characterAt(p.text, at)
	}
	p.found = append(p.found, fmt.Sprintf("%d: %s '%s'", at, what, near))
}

// characterAt returns the whole character that a byte of a text is part of.
func characterAt(text string, at int) string {
	for at > 0 && !utf8.RuneStart(text[at]) {
		at--
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return text[at : at+size]
}

func (p *problems) err() error {
	if len(p.found) == 0 {
		return nil
	}
	return mongoerr.Errorf(mongoerr.ConversionFailure, "Error parsing date string '%s'; %s", p.text, strings.Join(p.found, "; "))
}
