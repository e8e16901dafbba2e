package auth

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// FuzzReply gives arbitrary replies to a conversation of every mechanism: no reply but an honest one may complete SCRAM.
func FuzzReply(f *testing.F) {
	f.Add(reply{payload: "r=x,s=c2FsdA==,i=4096"}.document(), reply{done: true, payload: "v=AAAA"}.document())
	f.Add(reply{done: true}.document(), reply{done: true}.document())
	f.Add(document(bson.D{{Key: "payload", Value: "text"}, {Key: "done", Value: 1}}), []byte{})
	f.Add(document(bson.D{{Key: "code", Value: 18}, {Key: "payload", Value: []byte{}}}), []byte{5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		for _, mechanism := range []string{SCRAMSHA1, SCRAMSHA256, X509, Plain} {
			conversation := authenticator(t, mechanism).first.Begin("db.example")
			if _, err := conversation.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			done := false
			for _, reply := range [][]byte{first, second} {
				command, err := conversation.Next(t.Context(), reply)
				if err != nil || command == nil {
					done = err == nil
					break
				}
			}
			if done && (mechanism == SCRAMSHA1 || mechanism == SCRAMSHA256) {
				t.Fatalf("%s accepts %x, %x", mechanism, first, second)
			}
		}
	})
}
