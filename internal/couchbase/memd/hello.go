package memd

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Feature is something that a client asks for in HELLO and that a server accepts or not.
type Feature uint16

// The features.
const (
	FeatureTLS                  Feature = 0x02
	FeatureTCPNoDelay           Feature = 0x03
	FeatureMutationTokens       Feature = 0x04
	FeatureXattr                Feature = 0x06
	FeatureXerror               Feature = 0x07
	FeatureSelectBucket         Feature = 0x08
	FeatureSnappy               Feature = 0x0a
	FeatureJSON                 Feature = 0x0b
	FeatureDuplex               Feature = 0x0c
	FeatureFullMapPush          Feature = 0x0d
	FeatureUnorderedExecution   Feature = 0x0e
	FeatureServerDurations      Feature = 0x0f
	FeatureFlexibleRequests     Feature = 0x10
	FeatureDurability           Feature = 0x11
	FeatureCollections          Feature = 0x12
	FeatureSnappyEverywhere     Feature = 0x13
	FeaturePreserveExpiry       Feature = 0x14
	FeatureVirtualXattrs        Feature = 0x15
	FeatureCreateAsDeleted      Feature = 0x17
	FeatureDocumentMacros       Feature = 0x18
	FeatureReplaceBodyWithXattr Feature = 0x19
	FeatureResourceUnits        Feature = 0x1a
	FeatureReplicaLookup        Feature = 0x1c
	FeatureKnownMapVersion      Feature = 0x1d
	FeatureDedupeMaps           Feature = 0x1e // a refusal 07 has no map that the connection was told already
	FeatureBriefMapPush         Feature = 0x1f
	FeatureManyXattrs           Feature = 0x20 // parts of one command may be about several extended attributes
	FeatureBinaryXattrs         Feature = 0x21
)

// AppendFeatures writes the features as the value of HELLO, of a client or of a server.
func AppendFeatures(dst []byte, features ...Feature) []byte {
	for _, f := range features {
		dst = binary.BigEndian.AppendUint16(dst, uint16(f))
	}
	return dst
}

// Features is a set of features. Those that this package names are below 64.
type Features uint64

// ParseFeatures reads the value of HELLO. Features that this package does not name are ignored.
func ParseFeatures(value []byte) (Features, error) {
	var set Features
	if len(value)%2 != 0 {
		return set, malformed("features in %d bytes; the number must be even", len(value))
	}
	for ; len(value) > 0; value = value[2:] {
		set.Add(Feature(binary.BigEndian.Uint16(value)))
	}
	return set, nil
}

// Add adds a feature.
func (s *Features) Add(f Feature) {
	if f < 64 {
		*s |= 1 << f
	}
}

// Has reports whether the set has a feature.
func (s Features) Has(f Feature) bool { return f < 64 && s&(1<<f) != 0 }

// MaxAgentLength is the size in bytes of the longest agent in HELLO.
const MaxAgentLength = 200

// HelloKey returns the key of HELLO: the client's name, cut to [MaxAgentLength], and the ids of the client and the connection.
func HelloKey(agent string, client, connection uint64) []byte {
	if len(agent) > MaxAgentLength {
		agent = agent[:MaxAgentLength]
		for !utf8.ValidString(agent) && agent != "" {
			agent = agent[:len(agent)-1]
		}
	}
	key, _ := json.Marshal(struct {
		Agent string `json:"a"`
		ID    string `json:"i"`
	}{agent, fmt.Sprintf("%016x/%016x", client, connection)})
	return key
}
