package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
)

type sweepCommand struct {
	URI        string        `name:"uri" required:"" placeholder:"URI" help:"The MongoDB deployment."`
	NS         []string      `name:"ns" required:"" placeholder:"DATABASE.COLLECTION" help:"The collection whose pending updates are finished; may be repeated."`
	OlderThan  time.Duration `name:"older-than" default:"10m" help:"The age from which an update is finished."`
	Field      string        `default:"_once" help:"The documents' field with the pending updates."`
	Finished   int           `default:"32" help:"How many finished updates a document remembers, as in the programs that make the updates."`
	ReportOnly bool          `name:"report-only" help:"Count the pending updates, and change nothing."`
	BatchSize  int32         `name:"batch-size" default:"0" placeholder:"N" help:"Documents in each reply of the server; 0 leaves it to the server."`
	Timeout    time.Duration `default:"30s" help:"How long a server is looked for."`
	JSON       bool          `name:"json" help:"Print one line of JSON for each collection."`
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
	o := options.Client().ApplyURI(c.URI).SetServerSelectionTimeout(c.Timeout).SetAppName("holdfast sweep")
	client, err := mongo.Connect(o.SetReadPreference(readpref.Primary()))
	if err != nil {
		return usageError(fmt.Errorf("--uri: %w", err))
	}
	defer func() { _ = client.Disconnect(context.WithoutCancel(s.ctx)) }()
	left := int64(0)
	for _, ns := range c.NS {
		database, collection, _ := strings.Cut(ns, ".")
		updates, err := once.New(client.Database(database).Collection(collection), once.Options{Field: c.Field, Finished: c.Finished})
		if err != nil {
			return usageError(err)
		}
		result, err := c.sweep(s, ns, updates)
		report := reportOf(ns, result, err)
		if !c.ReportOnly {
			left += report.Pending
		}
		if err == nil || c.JSON || report.Documents > 0 {
			if printErr := c.print(s, report); printErr != nil {
				return cannotRun(printErr)
			}
		}
		switch {
		case s.ctx.Err() != nil:
			return &failure{exitInterrupted, errors.New("interrupted; what was finished stays finished, and the next sweep goes on")}
		case err != nil:
			return cannotRun(err)
		}
	}
	if left > 0 {
		return &failure{exitUnexpected, fmt.Errorf("%d updates are still pending", left)}
	}
	return nil
}

func (c *sweepCommand) check() error {
	switch {
	case c.OlderThan <= 0:
		return fmt.Errorf("--older-than is %v; it must be positive", c.OlderThan)
	case c.Timeout <= 0:
		return fmt.Errorf("--timeout is %v; it must be positive", c.Timeout)
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

func (c *sweepCommand) sweep(s *session, ns string, updates *once.Collection) (once.SweepResult, error) {
	o := once.SweepOptions{OlderThan: c.OlderThan, ReportOnly: c.ReportOnly, BatchSize: c.BatchSize}
	if t := terminalOf(s.stderr); t.is {
		o.Progress = func(r once.SweepResult) {
			fmt.Fprintf(s.stderr, "\r%s: %d documents, %d updates applied\x1b[K", ns, r.Documents, r.Applied)
		}
		defer fmt.Fprint(s.stderr, "\r\x1b[K")
	}
	return updates.Sweep(s.ctx, o)
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
		line, err := json.Marshal(r)
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "%s\n", line)
		}
		return err
	}
	oldest := ""
	if r.Oldest != nil {
		oldest = ", the oldest of " + r.Oldest.Format(time.RFC3339)
	}
	_, err := fmt.Fprintf(s.stdout, "%s: %d updates in %d documents%s: %d applied, %d abandoned, %d gone, %d pending\n",
		r.Namespace, r.Tokens, r.Documents, oldest, r.Applied, r.Abandoned, r.Gone, r.Pending)
	for _, f := range r.Failures {
		if err == nil {
			_, err = fmt.Fprintf(s.stdout, "  document %s, token %s of %s: %s\n", f.Document, f.Token, f.At.Format(time.RFC3339), f.Error)
		}
	}
	return err
}
