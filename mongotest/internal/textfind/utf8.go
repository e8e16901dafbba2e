// Package textfind finds things in texts: characters, also where the bytes are no UTF-8, and the matches of regular expressions.
package textfind

import (
	"strconv"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Text may be no UTF-8: between its bytes others may have been put, or it was cut there. The real server looks only where it needs
// to know, and then only at the bytes that begin a character.

// PointLength returns how many bytes the character has that a byte begins; ok is false for one that begins none.
func PointLength(first byte) (n int, ok bool) {
	switch {
	case first < 0x80:
		return 1, true
	case first < 0xc0:
		return 0, false
	case first < 0xe0:
		return 2, true
	case first < 0xf0:
		return 3, true
	}
	return 4, true
}

// SkipPoints returns the rest behind the first characters of a string; ok is false if a byte that should begin one does not.
func SkipPoints[T string | []byte](s T, count int) (rest T, ok bool) {
	for ; count > 0 && len(s) > 0; count-- {
		n, ok := PointLength(s[0])
		if !ok {
			return s, false
		}
		s = s[min(n, len(s)):]
	}
	return s, true
}

// CountPoints returns how many characters a string has; the last may not be whole. ok is false if a byte that should begin one does not,
// and the string ends there.
func CountPoints(w *query.Work, s []byte) (count int, ok bool, err error) {
	for asked := len(s); len(s) > 0; count++ {
		if asked-len(s) >= query.Unasked {
			if err := w.Bytes(asked - len(s)); err != nil {
				return count, false, err
			}
			asked = len(s)
		}
		n, ok := PointLength(s[0])
		if !ok {
			return count, false, nil
		}
		s = s[min(n, len(s)):]
	}
	return count, true, nil
}

// SplitPoints returns the characters of a string, each as it is written; the last may not be whole. ok is false if a byte that
// should begin one does not.
func SplitPoints(s string) (points []string, ok bool) {
	for len(s) > 0 {
		n, ok := PointLength(s[0])
		if !ok {
			return points, false
		}
		n = min(n, len(s))
		points, s = append(points, s[:n]), s[n:]
	}
	return points, true
}

// Utf8Fault is what PCRE says of text that is no UTF-8, "" if it is.
func Utf8Fault(s string) string {
	if utf8.ValidString(s) {
		return ""
	}
	for at := 0; at < len(s); {
		n, ok := PointLength(s[at])
		left := len(s) - at
		switch {
		case !ok:
			return "UTF-8 error: isolated byte with 0x80 bit set"
		case n == left+1:
			return "UTF-8 error: 1 byte missing at end"
		case n > left:
			return "UTF-8 error: " + strconv.Itoa(n-left) + " bytes missing at end"
		}
		for i := 1; i < n; i++ {
			if utf8.RuneStart(s[at+i]) {
				return "UTF-8 error: byte " + strconv.Itoa(i+1) + " top bits not 0x80"
			}
		}
		at += n
	}
	return ""
}

// CheckSubject refuses text that no regular expression is matched against.
func CheckSubject(name, s string) error {
	if fault := Utf8Fault(s); fault != "" {
		return mongoerr.Errorf(51156, "Error occurred while executing the regular expression in %s. Result code: %s", name, fault)
	}
	return nil
}
