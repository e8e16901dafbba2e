package mongotest_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// players are clients with a session each, by their names, and the numbers of their transactions.
type players struct {
	t       *testing.T
	rs      *mongotest.Deployment
	at      int // the member
	clients map[string]*rawClient
	numbers map[string]int
}

func newPlayers(t *testing.T, rs *mongotest.Deployment) *players {
	return &players{t: t, rs: rs, clients: make(map[string]*rawClient), numbers: make(map[string]int)}
}

// command completes one. Who is a player's name; with "+" it begins a transaction, with "." it is an ordinary command of the
// session, "-" has no session.
func (p *players) command(who, command string) (*rawClient, string) {
	name := strings.TrimRight(who, "+.")
	if p.clients[name] == nil {
		p.clients[name] = dial(p.t, p.rs, p.at)
	}
	c, more := p.clients[name], ""
	id := fmt.Sprintf(`, "lsid": {"id": {"$binary": {"base64": "%sAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`, name)
	switch {
	case name == "-":
	case strings.HasSuffix(who, "."):
		more = id
	default:
		if strings.HasSuffix(who, "+") {
			p.numbers[name]++
			more = `, "startTransaction": true`
		}
		more += id + fmt.Sprintf(`, "txnNumber": {"$numberLong": "%d"}, "autocommit": false`, p.numbers[name])
	}
	if !strings.Contains(command, `"$db"`) {
		more += `, "$db": "test"`
	}
	return c, strings.TrimSuffix(command, "}") + more + "}"
}

func (p *players) run(who, command string) bson.Raw {
	p.t.Helper()
	c, full := p.command(who, command)
	return c.run("%s", full)
}

// brief writes what matters of a reply: the error's code, with T for the label TransientTransactionError, the codes of write
// errors, the documents of a first batch, or n.
func brief(reply bson.Raw) string {
	if number(reply, "ok") != 1 {
		text := strconv.FormatInt(number(reply, "code"), 10)
		if labelled(reply, "TransientTransactionError") {
			text += " T"
		}
		return text
	}
	if code := number(reply, "writeErrors", "0", "code"); code >= 0 {
		return fmt.Sprintf("write error %d", code)
	}
	for _, batch := range []string{"firstBatch", "nextBatch"} {
		if docs, ok := reply.Lookup("cursor", batch).ArrayOK(); ok {
			values, _ := docs.Values()
			var list []string
			for _, v := range values {
				list = append(list, fmt.Sprint(number(v.Document(), "_id"))+":"+fmt.Sprint(number(v.Document(), "n")))
			}
			return strings.Join(list, " ")
		}
	}
	if n := number(reply, "n"); n >= 0 {
		return fmt.Sprint("n ", n)
	}
	return "ok"
}

// play runs a script: lines of who, the command and the reply, as [brief] writes it, between bars. In a command, FIND stands
// for a find of everything, SET i n for an update, PUT i n for an insert, DEL i for a delete, COMMIT and ABORT for the ends of
// a transaction.
func (p *players) play(script string) {
	p.t.Helper()
	for line := range strings.Lines(script) {
		parts := strings.SplitN(strings.TrimSpace(line), "|", 3)
		if len(parts) < 3 {
			continue
		}
		who, command, want := strings.TrimSpace(parts[0]), expand(parts[1]), strings.TrimSpace(parts[2])
		if got := brief(p.run(who, command)); got != want {
			p.t.Errorf("%s: %s is answered %q, want %q", who, command, got, want)
		}
	}
}

func expand(text string) string {
	words := strings.Fields(text)
	value := func(i int) string { return words[i] }
	switch words[0] {
	case "FIND":
		return `{"find": "c", "sort": {"_id": 1}}`
	case "PUT":
		return fmt.Sprintf(`{"insert": "c", "documents": [{"_id": %s, "n": %s}]}`, value(1), value(2))
	case "SET":
		return fmt.Sprintf(`{"update": "c", "updates": [{"q": {"_id": %s}, "u": {"$set": {"n": %s}}}]}`, value(1), value(2))
	case "DEL":
		return fmt.Sprintf(`{"delete": "c", "deletes": [{"q": {"_id": %s}, "limit": 1}]}`, value(1))
	case "COMMIT":
		return `{"commitTransaction": 1, "$db": "admin"}`
	case "ABORT":
		return `{"abortTransaction": 1, "$db": "admin"}`
	}
	return strings.TrimSpace(text)
}
