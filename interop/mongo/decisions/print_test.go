package decisions

import (
	"fmt"
	"testing"
)

const linePrefix = "decision | "

// TestPrint prints all decisions.
func TestPrint(t *testing.T) {
	eachScenario(t, func(name string, err error) {
		for _, line := range decide(err) {
			fmt.Printf("%s%s | %s\n", linePrefix, name, line)
		}
		fmt.Printf("text | %s | %v\n", name, err)
	})
}
