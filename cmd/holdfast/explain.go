package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/cli/paint"
	"github.com/holdfast-db/holdfast/internal/cli/rules"
)

type explainCommand struct {
	Operation      string `arg:"" optional:"" help:"The operation, for example insertOne or, with --backend couchbase, get. Without it all rules are printed."`
	Backend        string `enum:"mongodb,couchbase" default:"mongodb" help:"The kind of database: mongodb or couchbase."`
	Error          string `placeholder:"ERROR" help:"How the operation failed. MongoDB: a code or its name (10107, NotWritablePrimary), writeConcernError:CODE, writeErrors:CODE, handshake:CODE, network error, connection failed, pool cleared, no server, cancelled; labels follow with commas, or stand alone. Couchbase: a reason (KV_LOCKED), a status (0x86), or a service's code or HTTP status."`
	Server         string `default:"replica-set" placeholder:"KIND" help:"The kind of MongoDB deployment: replica-set, sharded, load-balanced, standalone or without-sessions."`
	ServerVersion  string `name:"server-version" default:"8.0" placeholder:"VERSION" help:"MongoDB's version. Before 4.4 the client labels errors, not the server."`
	NoRetry        bool   `name:"no-retry" help:"retryReads=false and retryWrites=false. Couchbase: a strategy that declines every retry."`
	InTransaction  bool   `name:"in-transaction" help:"The operation belongs to a transaction."`
	InRequest      bool   `name:"in-request" help:"The operation belongs to a request (mongo.WithRequest)."`
	Deadline       bool   `help:"The operation has a deadline."`
	Unacknowledged bool   `help:"The write concern is w: 0."`
	Text           string `placeholder:"TEXT" help:"The text of an error of this module, whose attempts are told in words: the text itself, a file, or - for the standard input."`
	JSON           bool   `name:"json" help:"Print JSON. Its fields are stable; others may be added."`

	stdin io.Reader // nil: the program's
}

// Run prints the rules, the verdict for a case, or the attempts of an error's text.
func (c *explainCommand) Run(s *session) error {
	p := printer{w: s.stdout, json: c.JSON, columns: min(terminalOf(s.stdout, s.getenv).columns, unknownColumns)}
	switch {
	case c.Text != "" && (c.Operation != "" || c.Error != ""):
		return usageError(errors.New("--text excludes an operation and --error"))
	case c.Text != "":
		return c.tell(&p)
	case c.Operation == "" && c.Error != "":
		return usageError(errors.New("--error needs the operation that failed, for example: holdfast explain insertOne --error 10107"))
	case c.Operation == "":
		return printed(p.rules(c.rules(s)))
	case c.Error == "":
		return usageError(fmt.Errorf("an operation needs the error with which it failed, for example: holdfast explain %s --error \"network error\"", c.Operation))
	}
	judge := c.mongo
	if c.Backend == string(rules.Couchbase) {
		judge = c.couchbase
	}
	e, err := judge()
	if err != nil {
		return usageError(err)
	}
	return printed(p.explanation(e))
}

// rules returns the rules of the backend that was given, of both if none was.
func (c *explainCommand) rules(s *session) []rules.Rule {
	all := rules.Of(rules.Backend(c.Backend))
	if !slices.ContainsFunc(s.given, func(f *kong.Flag) bool { return f.Name == "backend" }) {
		all = append(all, rules.Of(rules.Couchbase)...)
	}
	return all
}

func printed(err error) error {
	if err != nil {
		return cannotRun(err)
	}
	return nil
}

// explanation is the verdict for one case. Its JSON form is stable: fields may be added.
type explanation struct {
	Backend   string `json:"backend"`
	Operation string `json:"operation"`
	Error     string `json:"error"`
	Server    string `json:"server,omitempty"`
	rules.Verdict
	StopReason string `json:"stop_reason"`
}

// mongo returns the verdict for an operation of MongoDB.
func (c *explainCommand) mongo() (explanation, error) {
	operation, err := rules.MongoOperationNamed(c.Operation)
	if err != nil {
		return explanation{}, err
	}
	failure, err := rules.ParseMongoFailure(c.Error)
	if err != nil {
		return explanation{}, fmt.Errorf("--error: %w", err)
	}
	server, err := rules.MongoServerNamed(c.Server)
	if err != nil {
		return explanation{}, fmt.Errorf("--server: %w", err)
	}
	labels, err := rules.LabelsErrors(c.ServerVersion)
	if err != nil {
		return explanation{}, fmt.Errorf("--server-version: %w", err)
	}
	question := rules.MongoCase{
		Operation: operation, Failure: failure, Server: server, Before44: !labels, Off: c.NoRetry, InTransaction: c.InTransaction, Deadline: c.Deadline,
		Unacknowledged: c.Unacknowledged, InRequest: c.InRequest,
	}
	if err := question.Check(); err != nil {
		return explanation{}, err
	}
	v := question.Verdict()
	return explanation{string(rules.MongoDB), operation.Name, c.Error, string(server), v, v.StopReason.String()}, nil
}

// couchbase returns the verdict for an operation of Couchbase.
func (c *explainCommand) couchbase() (explanation, error) {
	if c.InTransaction || c.InRequest || c.Deadline || c.Unacknowledged {
		return explanation{}, errors.New("--in-transaction, --in-request, --deadline and --unacknowledged are for --backend mongodb; every operation of Couchbase has a timeout")
	}
	operation, err := rules.CouchbaseOperationNamed(c.Operation)
	if err != nil {
		return explanation{}, err
	}
	reason, err := rules.ParseCouchbaseFailure(operation, c.Error)
	if err != nil {
		return explanation{}, fmt.Errorf("--error: %w", err)
	}
	question := rules.CouchbaseCase{Operation: operation, Reason: reason, Declines: c.NoRetry}
	v := question.Verdict()
	return explanation{string(rules.Couchbase), operation.Name, c.Error, "", v, v.StopReason.String()}, nil
}

// printer prints what the command found, in words or as JSON.
type printer struct {
	w       io.Writer
	json    bool
	columns int
}

func (p *printer) asJSON(v any) error {
	e := json.NewEncoder(p.w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// indented prints a text with line breaks for the width of the terminal.
func (p *printer) indented(text string) error {
	_, err := io.WriteString(p.w, paint.Indented(text, "  ", p.columns))
	return err
}

func (p *printer) rules(all []rules.Rule) error {
	if p.json {
		return p.asJSON(struct {
			Rules []rules.Rule `json:"rules"`
		}{all})
	}
	for _, r := range all {
		_, err := fmt.Fprintln(p.w, r.ID)
		for _, text := range []string{r.Sentence, "Source: " + r.Source} {
			if err == nil {
				err = p.indented(text)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *printer) explanation(e explanation) error {
	if p.json {
		return p.asJSON(e)
	}
	head := fmt.Sprintf("%s %s, %s", e.Backend, e.Operation, e.Error)
	if e.Server != "" {
		head += ", " + e.Server
	}
	_, err := fmt.Fprintln(p.w, head)
	ends := "If the failure does not go away, it ends with: "
	if !e.Retried {
		ends = "It ends with: "
	}
	for _, text := range []string{
		verdictWords(e.Verdict), ends + e.StopReason + ".", e.Rule.ID + ": " + e.Rule.Sentence, "Source: " + e.Rule.Source,
	} {
		if err == nil {
			err = p.indented(text)
		}
	}
	return err
}

// verdictWords says a verdict in words.
func verdictWords(v rules.Verdict) string {
	if !v.Retried {
		return "Not retried."
	}
	often := fmt.Sprintf("at most %d attempts in all", v.Attempts)
	if v.UntilDeadline {
		often = "until the deadline"
	}
	return fmt.Sprintf("Retried %s, %s; %s.", v.Delay, v.Where, often)
}

// tell tells the attempts of an error's text, which --text gives, or which is in the file that it names.
func (c *explainCommand) tell(p *printer) error {
	tell, err := c.told(p, c.Text)
	if err != nil {
		var text string
		if text, err = c.text(); err == nil {
			tell, err = c.told(p, text)
		}
	}
	if err != nil {
		return usageError(fmt.Errorf("--text: %w", err))
	}
	return printed(tell())
}

// told reads the text of an error, and returns the function that tells it.
func (c *explainCommand) told(p *printer, text string) (func() error, error) {
	told, err := rules.Read(text)
	if err == nil {
		return func() error { return p.told(told) }, nil
	}
	couchbase, errCouchbase := rules.ReadCouchbase(text)
	switch {
	case errCouchbase == nil:
		return func() error { return p.toldCouchbase(&couchbase) }, nil
	case c.Backend == couchbaseBackend:
		return nil, errCouchbase
	}
	return nil, err
}

// text returns the content of the file or of the standard input that --text names.
func (c *explainCommand) text() (string, error) {
	var b []byte
	var err error
	switch {
	case c.Text != "-":
		if b, err = os.ReadFile(c.Text); errors.Is(err, os.ErrNotExist) && strings.ContainsAny(c.Text, " \n") {
			return c.Text, nil // a text, and no name: its own error is told
		}
	case c.stdin != nil:
		b, err = io.ReadAll(c.stdin)
	default:
		b, err = io.ReadAll(os.Stdin)
	}
	return string(b), err
}
