package differential

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// oddRequest is one or several messages that no driver sends, sent one after the other.
type oddRequest struct {
	name     string
	messages []oddMessage
	answer   string // the router's to the last message, in short; only if it differs from the real server's
	reason   string // why it differs; empty if it must not
}

// oddMessage returns a message to a server, for its database. A nil function stands for a new connection.
type oddMessage func(s *server, db string) ([]byte, error)

// TestOddRequestsThroughARouter: the answer to what no driver sends is the same with a router and without. Where it is not, the file of
// commands or the table of messages gives the reason.
func TestOddRequestsThroughARouter(t *testing.T) {
	p := newRoutedPair(t, "odd")
	all := append(oddCommands(t), oddMessages...)
	for i := range all {
		o := &all[i]
		wrong := o.compare(p)
		if wrong != "" {
			wrong = o.compare(p) // the real server may have ended, and been started anew
		}
		if wrong != "" {
			t.Errorf("%s: %s", o.name, wrong)
		}
	}
}

// compare sends a request through the router and without it, and returns what is wrong.
func (o *oddRequest) compare(p *pair) string {
	routed, err := o.ask(p.ours, p.db)
	if err != nil {
		return "through the router: " + err.Error()
	}
	direct, err := o.ask(p.theirs, p.db)
	if err != nil {
		return err.Error()
	}
	return o.wrong(routed, direct)
}

func (o *oddRequest) wrong(routed, direct oddAnswers) string {
	same := routed.text() == direct.text()
	switch {
	case same && o.reason != "":
		return "it is no longer answered otherwise through the router: " + routed.text()
	case !same && o.reason == "":
		return fmt.Sprintf("\nrouter %s\ndirect %s", routed.text(), direct.text())
	case o.reason != "" && routed.last() != o.answer:
		return fmt.Sprintf("the router's answer is %s, want %s: %s", routed.last(), o.answer, routed.text())
	}
	return ""
}

// oddDocuments are the documents of the collection c before each request.
var oddDocuments = bson.A{bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 3}}}

// ask sends the messages to a server.
func (o *oddRequest) ask(s *server, db string) (all oddAnswers, err error) {
	everything := bson.A{bson.D{{Key: "q", Value: bson.D{}}, {Key: "limit", Value: 0}}}
	for _, c := range []bson.D{
		{{Key: "delete", Value: "c"}, {Key: "deletes", Value: everything}, {Key: "$db", Value: db}},
		{{Key: "insert", Value: "c"}, {Key: "documents", Value: oddDocuments}, {Key: "$db", Value: db}},
	} {
		if _, err := s.run(c); err != nil {
			return nil, err
		}
	}
	var conn *oddConnection
	for _, message := range o.messages {
		if conn == nil || message == nil {
			conn.close()
			if conn, err = dialOdd(s, db); err != nil {
				return nil, err
			}
		}
		if message == nil {
			continue
		}
		b, err := message(s, cmp.Or(s.as, db))
		if err != nil {
			return nil, err
		}
		all = append(all, conn.exchange(b)...)
	}
	conn.close()
	return all, nil
}

// oddAnswer is one reply.
type oddAnswer struct {
	text  string // all of it
	short string // "ok", or the code of an error
}

// oddAnswers are the replies to the messages of a request. That the connection was closed counts as a reply.
type oddAnswers []oddAnswer

var closedAnswer = oddAnswer{"the connection is closed", "closed"}

func (a oddAnswers) text() string {
	var b strings.Builder
	for _, one := range a {
		b.WriteString(" | " + one.text)
	}
	return b.String()
}

// last returns the short form of the last reply, or "none".
func (a oddAnswers) last() string {
	if len(a) == 0 {
		return "none"
	}
	return a[len(a)-1].short
}

// oddCommands reads the file of commands. Each line is a request: commands with ";;" between them. A command goes to the database DB; one that
// begins with "!" is sent as it stands. NEW stands for a new connection. A line that begins with "#" is the reason why the router answers the
// requests below it otherwise; each of these begins with the router's answer.
func oddCommands(t *testing.T) []oddRequest {
	t.Helper()
	text, err := os.ReadFile("testdata/odd.txt")
	if err != nil {
		t.Fatal(err)
	}
	all, err := parseOddCommands(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func parseOddCommands(text string) (all []oddRequest, err error) {
	var wrong []error
	seen, reason := make(map[string]bool), ""
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if about, is := strings.CutPrefix(line, "# "); is {
			reason = about
		}
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		o := oddRequest{name: line, reason: reason}
		commands := line
		if reason != "" {
			o.answer, commands, _ = strings.Cut(line, " ")
		}
		if seen[commands] || !strings.HasPrefix(strings.TrimPrefix(commands, "!"), "{") {
			wrong = append(wrong, fmt.Errorf("%s: is no command, or there twice", line))
		}
		seen[commands] = true
		for command := range strings.SplitSeq(commands, " ;; ") {
			o.messages = append(o.messages, oddCommand(command))
		}
		all = append(all, o)
	}
	return all, errors.Join(wrong...)
}

func oddCommand(text string) oddMessage {
	if text == "NEW" {
		return nil
	}
	return func(s *server, db string) ([]byte, error) {
		command, err := parseOdd(text, db)
		if err != nil {
			return nil, err
		}
		document, err := bson.Marshal(s.withCursor(command))
		return opMsg(0, append([]byte{0}, document...)), err
	}
}

func parseOdd(text, db string) (bson.D, error) {
	raw, is := strings.CutPrefix(text, "!")
	if !is {
		return parseCommand(text, db)
	}
	var d bson.D
	err := bson.UnmarshalExtJSON([]byte(database.ReplaceAllString(raw, db+"$1")), false, &d)
	return d, err
}

func TestLinesOfOddCommands(t *testing.T) {
	all, err := parseOddCommands("{\"a\": 1} ;; NEW ;; !{}\n\n# why\n59 {\"b\": 1}\nclosed !{}\n")
	if err != nil || len(all) != 3 || len(all[0].messages) != 3 || all[0].messages[1] != nil || all[0].reason != "" {
		t.Fatalf("%v, %v", all, err)
	}
	if all[1].reason != "why" || all[1].answer != "59" || all[2].answer != "closed" {
		t.Errorf("%v", all)
	}
	for _, text := range []string{"find\n", "59 {}\n", "# why\n{}\n", "{}\n{}\n", "{}\n# why\n59 {}\n"} {
		if _, err := parseOddCommands(text); err == nil {
			t.Errorf("%q is passed over", text)
		}
	}
}

func TestWhatIsWrongWithAnOddRequest(t *testing.T) {
	ok, refused := oddAnswers{{"{ok: 1}", "ok"}}, oddAnswers{{"{code: 59}", "59"}}
	for _, c := range []struct {
		rule           string
		o              oddRequest
		routed, direct oddAnswers
		wrong          bool
	}{
		{"the same answer", oddRequest{}, ok, ok, false},
		{"no answer, twice", oddRequest{}, nil, nil, false},
		{"another answer", oddRequest{}, ok, refused, true},
		{"another answer, with its reason", oddRequest{reason: "why", answer: "ok"}, ok, refused, false},
		{"another answer than the one with a reason", oddRequest{reason: "why", answer: "ok"}, oddAnswers{closedAnswer}, refused, true},
		{"a reason for nothing", oddRequest{reason: "why", answer: "ok"}, ok, ok, true},
		{"one answer is missing", oddRequest{}, append(ok, ok...), ok, true},
	} {
		if wrong := c.o.wrong(c.routed, c.direct); (wrong != "") != c.wrong {
			t.Errorf("%s: %q", c.rule, wrong)
		}
	}
}
