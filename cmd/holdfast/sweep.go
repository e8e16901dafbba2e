package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/cli/inspect"
	"github.com/holdfast-db/holdfast/mongo/once"
)

type sweepCommand struct {
	deployment

	NS         []string      `name:"ns" required:"" placeholder:"DATABASE.COLLECTION" help:"The collection whose pending updates are finished; may be repeated."`
	OlderThan  time.Duration `name:"older-than" default:"10m" help:"Leave updates alone that began later than this: their program may be about to finish them."`
	Field      string        `default:"_once" help:"The documents' field with the pending updates: Options.Field in the programs that make them."`
	Finished   int           `default:"32" help:"How many finished updates a document remembers: Options.Finished in the programs that make them."`
	ReportOnly bool          `name:"report-only" help:"Count the pending updates, and change nothing."`
	BatchSize  int32         `name:"batch-size" default:"0" placeholder:"N" help:"Documents in each reply of the server; 0 leaves it to the server."`
	Timeout    time.Duration `default:"30s" help:"How long a server is looked for."`
	JSON       bool          `name:"json" help:"Print one line of JSON for each collection."`
}

// Help returns the part of the help that is not about a flag.
func (*sweepCommand) Help() string {
	return `A program that makes an update with mongo/once writes a token into the document first, and then makes the update and removes the token. If the program dies
between the two, the token stays, and the update is pending. The sweep makes the second step: each update is applied once, however often and by
however many sweeps at the same time. An update whose condition no longer holds is abandoned, as its program would have done. One that somebody else removed meanwhile is gone. One that the document refuses
(an $inc of a text, for example) stays pending and is printed, and the exit code is 1.`
}

// swept is what is printed of a collection. Its JSON form is stable: fields may be added.
type swept struct {
	Namespace string       `json:"namespace"`
	Documents int64        `json:"documents"`
	Tokens    int64        `json:"tokens"`
	Applied   int64        `json:"applied"`
	Abandoned int64        `json:"abandoned"`
	Gone      int64        `json:"gone"`
	Pending   int64        `json:"pending"`
	Oldest    *time.Time   `json:"oldest,omitempty"`
	Failures  []sweptToken `json:"failures,omitempty"`
	Error     string       `json:"error,omitempty"`
}

// sweptToken is an update that is still pending.
type sweptToken struct {
	Document string    `json:"document"`
	Token    string    `json:"token"`
	At       time.Time `json:"at"`
	Error    string    `json:"error"`
}

// Run finishes the pending updates of the collections, one after the other.
func (c *sweepCommand) Run(s *session) error {
	if err := c.check(); err != nil {
		return usageError(err)
	}
	w, err := c.open(s, "holdfast sweep", c.Timeout)
	if err != nil {
		return err
	}
	defer w.Close(s.ctx)
	left := int64(0)
	for _, ns := range c.NS {
		pending, err := c.collection(s, w, ns)
		if err != nil {
			return err
		}
		left += pending
	}
	if left > 0 && !c.ReportOnly {
		return &failure{exitUnexpected, fmt.Errorf("still pending: %s", updates(left))}
	}
	return nil
}

// collection sweeps a collection and prints the result. It returns the number of updates that are still pending.
func (c *sweepCommand) collection(s *session, w *inspect.Watcher, ns string) (int64, error) {
	database, name, _ := strings.Cut(ns, ".")
	primary := options.Collection().SetReadPreference(readpref.Primary())
	exact, err := once.New(w.Client().Database(database).Collection(name, primary), once.Options{Field: c.Field, Finished: c.Finished})
	if err != nil {
		return 0, usageError(err)
	}
	result, err := c.sweep(s, ns, exact)
	report := reportOf(ns, result, err)
	if err == nil || c.JSON || report.Documents > 0 {
		if printErr := c.print(s, report); printErr != nil {
			return 0, cannotRun(printErr)
		}
	}
	switch {
	case s.ctx.Err() != nil:
		return 0, &failure{exitInterrupted, errors.New("interrupted; what was finished stays finished, and the next sweep goes on")}
	case err == nil:
		return report.Pending, nil
	}
	if down := w.Err(); down != nil {
		err = down
	}
	return 0, cannotRun(err)
}

func (c *sweepCommand) check() error {
	switch {
	case c.OlderThan <= 0:
		return fmt.Errorf("--older-than is %v; it must be positive", c.OlderThan)
	case c.BatchSize < 0:
		return fmt.Errorf("--batch-size is %d; it must not be negative", c.BatchSize)
	}
	for _, ns := range c.NS {
		if err := checkNamespace(ns); err != nil {
			return fmt.Errorf("--ns is %q; %w", ns, err)
		}
	}
	return nil
}

// checkNamespace refuses names that no server takes, https://www.mongodb.com/docs/manual/reference/limits/#naming-restrictions.
func checkNamespace(ns string) error {
	const longestDatabase, longest = 63, 255 // bytes
	database, collection, _ := strings.Cut(ns, ".")
	switch {
	case database == "" || collection == "":
		return errors.New("it must be a database and a collection with a dot between them")
	case len(database) > longestDatabase || len(ns) > longest:
		return fmt.Errorf("the name of a database has at most %d bytes, and the whole at most %d", longestDatabase, longest)
	case strings.ContainsAny(database, "/\\ \"$\x00"):
		return errors.New("the name of a database has no space, quotation mark, slash, backslash, dollar sign and zero byte")
	case collection[0] == '.' || strings.ContainsAny(collection, "$\x00"):
		return errors.New("the name of a collection does not begin with a dot, and has no dollar sign and zero byte")
	}
	return nil
}

func (c *sweepCommand) sweep(s *session, ns string, exact *once.Collection) (once.SweepResult, error) {
	status := newStatusLine(s)
	defer status.end()
	status.show(lookingForServers)
	return exact.Sweep(s.ctx, once.SweepOptions{
		OlderThan: c.OlderThan, ReportOnly: c.ReportOnly, BatchSize: c.BatchSize,
		Progress: func(r once.SweepResult) {
			status.show(fmt.Sprintf("%s: %d documents, %s applied", ns, r.Documents, updates(r.Applied)))
		},
	})
}

func reportOf(ns string, r once.SweepResult, err error) swept {
	report := swept{
		Namespace: ns, Documents: r.Documents, Tokens: r.Tokens, Applied: r.Applied, Abandoned: r.Abandoned,
		Gone: r.Gone, Pending: r.Tokens - r.Applied - r.Abandoned - r.Gone,
	}
	if !r.Oldest.IsZero() {
		report.Oldest = &r.Oldest
	}
	for _, f := range r.Failed {
		report.Failures = append(report.Failures, sweptToken{f.DocumentID.String(), f.ID.Hex(), f.At, f.Err.Error()})
	}
	if err != nil {
		report.Error = err.Error()
	}
	return report
}

func (c *sweepCommand) print(s *session, r swept) error {
	if c.JSON {
		return writeJSON(s, r)
	}
	var b strings.Builder
	b.WriteString(r.Namespace + ": " + c.summary(r) + "\n")
	for _, f := range r.Failures {
		fmt.Fprintf(&b, "  document %s, token %s of %s: %s\n", f.Document, f.Token, f.At.Format(time.RFC3339), f.Error)
	}
	_, err := io.WriteString(s.stdout, b.String())
	return err
}

// summary returns the numbers in words.
func (c *sweepCommand) summary(r swept) string {
	if r.Tokens == 0 {
		return fmt.Sprintf("no update is pending for more than %v", c.OlderThan)
	}
	documents := "1 document"
	if r.Documents != 1 {
		documents = fmt.Sprintf("%d documents", r.Documents)
	}
	found := fmt.Sprintf("%s in %s, the oldest of %s", updates(r.Tokens), documents, r.Oldest.Format(time.RFC3339))
	if c.ReportOnly {
		return found + "; nothing was changed"
	}
	return fmt.Sprintf("%s: %d applied, %d abandoned, %d gone, %d still pending", found, r.Applied, r.Abandoned, r.Gone, r.Pending)
}

// updates returns a number of updates in words.
func updates(n int64) string {
	if n == 1 {
		return "1 update"
	}
	return fmt.Sprintf("%d updates", n)
}
