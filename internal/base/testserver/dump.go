package testserver

import (
	"fmt"
	"strings"
)

// dumpedEntries is how many entries of a journal a dump has. The log of a failed test must remain readable.
const dumpedEntries = 2000

// DumpEntries writes the newest entries of a journal, one line for each, and how many older ones it leaves out.
func DumpEntries[E any, P interface {
	*E
	fmt.Stringer
}](b *strings.Builder, journal []E) {
	if older := len(journal) - dumpedEntries; older > 0 {
		fmt.Fprintf(b, "%d older entries of the journal are left out\n", older)
		journal = journal[older:]
	}
	for i := range journal {
		b.WriteString(P(&journal[i]).String())
		b.WriteByte('\n')
	}
}
