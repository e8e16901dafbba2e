package situations

import (
	"fmt"
	"sync"
	"testing"
)

func all() []situation {
	var list []situation
	for _, part := range [][]situation{
		argumentSituations(), optionSituations(), internalSituations(), stateSituations(), cursorSituations(), decodingSituations(), clientSituations(),
		streamSituations(),
	} {
		list = append(list, part...)
	}
	return list
}

// linePrefix is at the start of each line that TestPrint prints.
const linePrefix = "situation: "

// TestPrint prints all situations. It is also run with our import, see TestOurImportPrintsTheSame.
func TestPrint(t *testing.T) {
	if missing := uncovered(); len(missing) > 0 {
		t.Errorf("options without values: %v", missing)
	}
	if !testing.Verbose() {
		t.Skip("nobody reads the output")
	}
	for _, line := range allLines(t) {
		fmt.Println(linePrefix + line)
	}
}

var (
	playAll sync.Once
	played  []string
)

// allLines returns the lines of all situations. They are played once: the client may change arguments that situations share.
func allLines(t *testing.T) []string {
	playAll.Do(func() {
		for _, s := range all() {
			played = append(played, s.lines(t)...)
		}
	})
	return played
}
