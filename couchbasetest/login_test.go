package couchbasetest_test

import (
	"testing"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// scramLogin logs in by SCRAM, and returns the status of the last step.
func scramLogin(t *testing.T, cl *client, mechanism string, hash scram.HashGeneratorFcn, user, password string) memd.Status {
	t.Helper()
	client, err := hash.NewClient(user, password, "")
	if err != nil {
		t.Fatal(err)
	}
	talk := client.NewConversation()
	text, err := talk.Step("")
	if err != nil {
		t.Fatal(err)
	}
	first := cl.do(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte(mechanism), Value: []byte(text)})
	if first.Status != memd.StatusAuthContinue {
		return first.Status
	}
	if text, err = talk.Step(string(first.Value)); err != nil {
		t.Fatal(err)
	}
	last := cl.do(memd.Packet{Opcode: memd.OpSASLStep, Key: []byte(mechanism), Value: []byte(text)})
	if last.Status == 0 {
		if _, err := talk.Step(string(last.Value)); err != nil || !talk.Valid() {
			t.Errorf("the server's proof is wrong: %v", err)
		}
	}
	return last.Status
}

func TestSCRAM(t *testing.T) {
	const user, password = "user=1,x=2C", "p,ässword="
	for _, m := range []struct {
		name string
		hash scram.HashGeneratorFcn
	}{{"SCRAM-SHA1", scram.SHA1}, {"SCRAM-SHA256", scram.SHA256}, {"SCRAM-SHA512", scram.SHA512}} {
		t.Run(m.name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
				cl := dial(t, c, 0)
				if status := scramLogin(t, cl, m.name, m.hash, user, "wrong"); status != memd.StatusAuthError {
					t.Errorf("a wrong password is answered with %v", status)
				}
				if status := scramLogin(t, cl, m.name, m.hash, "nobody", password); status != memd.StatusAuthError {
					t.Errorf("a wrong user is answered with %v", status)
				}
				cl.status(memd.Packet{Opcode: memd.OpSASLStep, Key: []byte(m.name), Value: []byte("x")}, memd.StatusInvalidArguments)
				cl.status(memd.Packet{Opcode: memd.OpGetClusterConfig}, memd.StatusAccess)
				if status := scramLogin(t, cl, m.name, m.hash, user, password); status != 0 {
					t.Errorf("the login is answered with %v", status)
				}
				cl.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
			}, couchbasetest.Credentials(user, password))
		})
	}
}
