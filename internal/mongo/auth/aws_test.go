package auth

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// keyring signs everything.
type keyring struct {
	asked     []IdentityRequest
	forgotten int
	err       error
}

func (k *keyring) Sign(_ context.Context, r IdentityRequest) (SignedRequest, error) {
	k.asked = append(k.asked, r)
	return SignedRequest{Authorization: "signed", Date: "today", SessionToken: "token"}, k.err
}

func (k *keyring) Forget() { k.forgotten++ }

// awsServer is the server's side: change may replace the nonce and the host of its first message.
func awsServer(change func(nonce []byte, host string) ([]byte, string), last bson.D) RoundTrip {
	messages := 0
	return func(_ context.Context, _ string, command []byte) ([]byte, error) {
		messages++
		if messages == 2 {
			return document(last), nil
		}
		_, payload := commandDocument(command).Lookup("payload").Binary()
		_, nonce := bson.Raw(payload).Lookup("r").Binary()
		full, host := append(bytes.Clone(nonce), make([]byte, 32)...), "sts.amazonaws.com"
		if change != nil {
			full, host = change(full, host)
		}
		first := document(bson.D{{Key: "s", Value: full}, {Key: "h", Value: host}})
		return reply{payload: string(first)}.document(), nil
	}
}

// Source: Driver Authentication, "MONGODB-AWS", "Conversation" and "Region Calculation".
func TestTheAWSConversation(t *testing.T) {
	host := func(h string) func([]byte, string) ([]byte, string) {
		return func(nonce []byte, _ string) ([]byte, string) { return nonce, h }
	}
	done := bson.D{{Key: "conversationId", Value: int32(1)}, {Key: "done", Value: true}, {Key: "payload", Value: []byte{}}}
	for _, c := range []struct {
		name   string
		change func([]byte, string) ([]byte, string)
		last   bson.D
		region string // empty: an error
		signs  bool   // also if it is an error
	}{
		{"as it should be", nil, done, "us-east-1", true},
		{"a region", host("sts.us-west-2.amazonaws.com"), done, "us-west-2", true},
		{"a region and a longer host", host("sts.us-west-2.amazonaws.com.ch"), done, "us-west-2", true},
		{"two labels", host("example.com"), done, "com", true},
		{"one label", host("localhost"), done, "us-east-1", true},
		{"the other name", host("aws.amazonaws.com"), done, "us-east-1", true},
		{"255 bytes", host(strings.Repeat("a", 255)), done, "us-east-1", true},
		{"256 bytes", host(strings.Repeat("a", 256)), done, "", false},
		{"no host", host(""), done, "", false},
		{"an empty label", host("sts..com"), done, "", false},
		{"a period before", host(".amazonaws.com"), done, "", false},
		{"a period behind", host("sts.amazonaws."), done, "", false},
		{"a short nonce", func(n []byte, h string) ([]byte, string) { return n[:63], h }, done, "", false},
		{"a long nonce", func(n []byte, h string) ([]byte, string) { return append(n, 0), h }, done, "", false},
		{"another's nonce", func(n []byte, h string) ([]byte, string) { n[31]++; return n, h }, done, "", false},
		{"no end", nil, append(bson.D{{Key: "done", Value: false}}, done[2:]...), "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			keys := &keyring{}
			a, err := New(Credential{Mechanism: AWS, AWS: keys})
			if err != nil {
				t.Fatal(err)
			}
			err = a.Begin("h").Finish(t.Context(), nil, nil, awsServer(c.change, c.last))
			if (err == nil) != (c.region != "") || c.region != "" && keys.asked[0].Region != c.region || (len(keys.asked) > 0) != c.signs {
				t.Errorf("%v; signed %+v, want the region %q", err, keys.asked, c.region)
			}
			if want := 0; err == nil && keys.forgotten != want || err != nil && keys.forgotten != 1 {
				t.Errorf("the keys were forgotten %d times, after %v", keys.forgotten, err)
			}
		})
	}
}

func TestAnErrorOfTheKeysIsTheErrorOfTheLogin(t *testing.T) {
	mine := errors.New("mine")
	a, err := New(Credential{Mechanism: AWS, AWS: &keyring{err: mine}})
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Begin("h").Finish(t.Context(), nil, nil, awsServer(nil, nil)); !errors.Is(err, mine) {
		t.Errorf("error %v", err)
	}
}

// Each login has a nonce of its own.
func TestANonceIsUsedOnce(t *testing.T) {
	seen := map[string]bool{}
	for range 2 {
		command, err := (&aws{}).Begin("h").Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		_, payload := commandDocument(command).Lookup("payload").Binary()
		_, nonce := bson.Raw(payload).Lookup("r").Binary()
		if flag := bson.Raw(payload).Lookup("p").AsInt64(); flag != 110 || len(nonce) != 32 || seen[string(nonce)] {
			t.Errorf("the flag is %d, the nonce %x", flag, nonce)
		}
		seen[string(nonce)] = true
	}
}

// Keys of a login that has expired are of no use either.
func TestARenewalForgetsTheKeys(t *testing.T) {
	keys := &keyring{}
	a, err := New(Credential{Mechanism: AWS, AWS: keys})
	if err != nil {
		t.Fatal(err)
	}
	done := bson.D{{Key: "conversationId", Value: int32(1)}, {Key: "done", Value: true}, {Key: "payload", Value: []byte{}}}
	l := a.Begin("h")
	if err := l.Finish(t.Context(), nil, nil, awsServer(nil, done)); err != nil {
		t.Fatal(err)
	}
	if err := l.Again(t.Context(), awsServer(nil, done)); err != nil || keys.forgotten != 1 || len(keys.asked) != 2 {
		t.Errorf("%v; the keys were forgotten %d times, and %d requests were signed", err, keys.forgotten, len(keys.asked))
	}
}
