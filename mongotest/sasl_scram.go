package mongotest

import (
	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// scramDialogue is SCRAM-SHA-1 or SCRAM-SHA-256 (RFC 5802).
type scramDialogue struct {
	conversation *scram.ServerConversation
	db           string
	skipEmpty    bool // the client does not want the empty exchange at the end
	proved       bool // only that exchange is left
}

func newScramDialogue(x *exec, mechanism string, doc []byte, db string) dialogue {
	generator := scram.SHA1
	if mechanism == account.SCRAMSHA256 {
		generator = scram.SHA256
	}
	server, err := generator.NewServer(func(user string) (scram.StoredCredentials, error) {
		if a := x.conn.deployment.cluster.User(db, user); a != nil {
			if c, ok := a.Scram[mechanism]; ok {
				return c, nil
			}
		}
		return scram.StoredCredentials{}, errAuthentication
	})
	if err != nil {
		return nil // only without a function
	}
	d := &scramDialogue{conversation: server.NewConversation(), db: db}
	if opts := query.Lookup(doc, "options"); opts.IsDocument() {
		d.skipEmpty = query.Lookup(opts.Data, "skipEmptyExchange").True()
	}
	return d
}

func (d *scramDialogue) step(x *exec, payload []byte) error {
	if d.proved {
		appendSasl(x, true, nil)
		return nil
	}
	answer, err := d.conversation.Step(string(payload))
	if err != nil {
		return errAuthentication
	}
	if !d.conversation.Done() {
		x.conn.dialogue = d
		appendSasl(x, false, []byte(answer))
		return nil
	}
	x.conn.login(d.db, d.conversation.Username())
	if !d.skipEmpty {
		d.proved, x.conn.dialogue = true, d
	}
	appendSasl(x, d.skipEmpty, []byte(answer))
	return nil
}
