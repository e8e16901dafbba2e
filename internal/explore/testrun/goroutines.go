package testrun

import (
	"bytes"
	"fmt"
	"regexp"
	"runtime"
	"runtime/pprof"
	"strings"
)

// bubbleOf matches what a dump says of a goroutine in a bubble.
var bubbleOf = regexp.MustCompile(`synctest bubble \d+`)

// ours matches the stacks of the goroutines that hold a bubble together.
var ours = regexp.MustCompile(`^(internal/synctest\.Run|testing/synctest\.testingSynctestTest|\S*/testrun\.\(\*bubble\)\.run)\(`)

// ownBubble returns how dumps name the bubble of the calling goroutine.
func ownBubble() string {
	var b [256]byte
	return string(bubbleOf.Find(b[:runtime.Stack(b[:], false)]))
}

// goroutinesOf returns the dump of the goroutines of a bubble.
func goroutinesOf(bubble string) string {
	var list []string
	for one := range strings.SplitSeq(string(allGoroutines()), "\n\n") {
		head, stack, _ := strings.Cut(one, "\n")
		if (strings.Contains(head, bubble+"]") || strings.Contains(head, bubble+",")) && !ours.MatchString(stack) {
			list = append(list, strings.TrimSpace(one))
		}
	}
	return strings.Join(list, "\n\n")
}

func allGoroutines() []byte {
	for size := 1 << 20; ; size *= 2 {
		b := make([]byte, size)
		if n := runtime.Stack(b, true); n < size || size >= 64<<20 {
			return b[:n]
		}
	}
}

// goroutinesLabelled returns the goroutines of a run over TCP, by their label.
func goroutinesLabelled(number string) string {
	var b bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&b, 1); err != nil {
		return ""
	}
	labels := fmt.Sprintf("%q:%q", label, number)
	var list []string
	for one := range strings.SplitSeq(b.String(), "\n\n") {
		if strings.Contains(one, labels) {
			list = append(list, strings.TrimSpace(one))
		}
	}
	return strings.Join(list, "\n\n")
}
