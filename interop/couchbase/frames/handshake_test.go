package frames

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// handshake returns the requests of the first connection that selects a bucket, up to its first map.
func handshake(all []Sent) string {
	for _, selected := range all {
		if memd.Opcode(selected.Bytes[1]) != memd.OpSelectBucket {
			continue
		}
		var texts []string
		for _, s := range all {
			if s.Conn != selected.Conn {
				continue
			}
			texts = append(texts, handshakeText(s))
			if memd.Opcode(s.Bytes[1]) == memd.OpGetClusterConfig {
				break
			}
		}
		return strings.Join(texts, "\n")
	}
	return "no bucket was selected"
}

// handshakeText is the text of a packet of the handshake. HELLO has the names and the ids of the client as its key; its features are
// compared without those of the table. The nonces of SCRAM, and what follows from them, are not the same in two runs.
func handshakeText(s Sent) string {
	p, err := memd.Parse(s.Bytes)
	switch {
	case err != nil:
		return err.Error()
	case p.Opcode == memd.OpHello:
		var features []string
		for f := range slices.Chunk(p.Value, 2) {
			if name := hex.EncodeToString(f); featureDifferences[name] == "" {
				features = append(features, name)
			}
		}
		return fmt.Sprintf("HELLO %s extras %x features %v", hex.EncodeToString(s.Bytes[:2]), p.Extras, features)
	case strings.HasPrefix(string(p.Key), "SCRAM"):
		length := len(s.Bytes) - 24 - len(p.Value)
		return fmt.Sprintf("%v %x, %d bytes before the value, %s %q", p.Opcode, s.Bytes[:8], length, p.Key, random.ReplaceAll(p.Value, []byte("$1=(random)")))
	}
	return text(s)
}

// random matches the parts of a message of SCRAM that are not the same in two runs.
var random = regexp.MustCompile(`\b([rp])=[^,]+`)
