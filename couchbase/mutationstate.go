package couchbase

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// MutationState is a set of writes that a query must see. It is not safe for concurrent use.
type MutationState struct {
	tokens []MutationToken
}

// NewMutationState returns a set of writes. Tokens of no write are left out.
func NewMutationState(tokens ...MutationToken) *MutationState {
	s := &MutationState{}
	s.Add(tokens...)
	return s
}

// Add adds writes. Tokens of no write are left out.
func (mt *MutationState) Add(tokens ...MutationToken) {
	for _, token := range tokens {
		if token.bucket != "" {
			mt.tokens = append(mt.tokens, token)
		}
	}
}

// Internal returns access to the tokens.
func (mt *MutationState) Internal() *MutationStateInternal { return &MutationStateInternal{mt} }

// MutationStateInternal has access to the tokens of a [MutationState].
type MutationStateInternal struct {
	state *MutationState
}

// Tokens returns the tokens.
func (mti *MutationStateInternal) Tokens() []MutationToken { return mti.state.tokens }

// vbucketSeqno is a write of one vbucket as JSON: its place, and the id of the history in decimals.
type vbucketSeqno struct {
	seqno uint64
	uuid  uint64
}

func (v vbucketSeqno) MarshalJSON() ([]byte, error) {
	return json.Marshal([2]any{v.seqno, strconv.FormatUint(v.uuid, 10)})
}

func (v *vbucketSeqno) UnmarshalJSON(b []byte) error {
	var parts []json.RawMessage
	if err := json.Unmarshal(b, &parts); err != nil {
		return err
	}
	if len(parts) != 2 {
		return fmt.Errorf("couchbase: a token of a mutation state has %d parts, not 2", len(parts))
	}
	var uuid string
	if err := json.Unmarshal(parts[0], &v.seqno); err != nil {
		return err
	}
	if err := json.Unmarshal(parts[1], &uuid); err != nil {
		return err
	}
	var err error
	v.uuid, err = strconv.ParseUint(uuid, 10, 64)
	return err
}

// newest returns the newest write of each vbucket of each bucket, or nil if there is none.
func (mt *MutationState) newest() map[string]map[uint16]vbucketSeqno {
	var all map[string]map[uint16]vbucketSeqno
	for _, token := range mt.tokens {
		if all == nil {
			all = make(map[string]map[uint16]vbucketSeqno)
		}
		bucket := all[token.bucket]
		if bucket == nil {
			bucket = make(map[uint16]vbucketSeqno)
			all[token.bucket] = bucket
		}
		if old, ok := bucket[token.vbucket]; !ok || old.seqno < token.token.Seqno {
			bucket[token.vbucket] = vbucketSeqno{token.token.Seqno, token.token.VBucketUUID}
		}
	}
	return all
}

// MarshalJSON returns the newest write of each vbucket, by bucket: the form that the query service takes, and that UnmarshalJSON reads.
func (mt *MutationState) MarshalJSON() ([]byte, error) { return json.Marshal(mt.newest()) }

// UnmarshalJSON adds the writes that MarshalJSON wrote. After an error the state is as it was.
func (mt *MutationState) UnmarshalJSON(data []byte) error {
	var all map[string]map[string]vbucketSeqno
	if err := json.Unmarshal(data, &all); err != nil {
		return fmt.Errorf("couchbase: reading a mutation state: %w", err)
	}
	var tokens []MutationToken
	for bucket, vbuckets := range all {
		for id, v := range vbuckets {
			vbucket, err := strconv.ParseUint(id, 10, 16)
			if err != nil {
				return fmt.Errorf("couchbase: reading a mutation state: vbucket %q: %w", id, err)
			}
			tokens = append(tokens, MutationToken{uint16(vbucket), memd.MutationToken{VBucketUUID: v.uuid, Seqno: v.seqno}, bucket})
		}
	}
	mt.Add(tokens...)
	return nil
}
