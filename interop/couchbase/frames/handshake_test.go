package frames

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// handshake returns the requests of the first connection that selects a bucket, up to its first map. A client whose connection is there before
// the program opens the bucket selects it after the map; it is written before it all the same.
func handshake(all []Sent) string {
	i := slices.IndexFunc(all, func(s Sent) bool { return memd.Opcode(s.Bytes[1]) == memd.OpSelectBucket })
	if i < 0 {
		return "no bucket was selected"
	}
	var texts []string
	var asked string // for the map
	for j, s := range all {
		switch {
		case s.Conn != all[i].Conn || j > i && asked != "":
		case memd.Opcode(s.Bytes[1]) == memd.OpGetClusterConfig:
			asked = handshakeText(s)
		default:
			texts = append(texts, handshakeText(s))
		}
	}
	return strings.Join(append(texts, asked), "\n")
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
