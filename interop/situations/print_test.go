package situations

import (
	"fmt"
	"testing"
)

func all() []situation {
	var list []situation
	for _, part := range [][]situation{
		argumentSituations(), optionSituations(), stateSituations(), cursorSituations(), decodingSituations(), clientSituations(),
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
	for _, s := range all() {
		for _, line := range s.lines(t) {
			fmt.Println(linePrefix + line)
		}
	}
}
