package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// MongoFailureKind says how an attempt of a MongoDB operation failed.
type MongoFailureKind uint8

// The kinds of failures.
const (
	MongoReply        MongoFailureKind = iota // a reply with ok: 0 and a code
	MongoWriteConcern                         // a reply with ok: 1 and a writeConcernError
	MongoWriteErrors                          // a reply with ok: 1 and writeErrors
	MongoNetwork                              // the connection broke after the command was sent
	MongoConnect                              // no connection could be made
	MongoHandshake                            // the hello of a connection was answered with a code
	MongoPoolCleared                          // the pool was cleared between selection and checkout
	MongoNoServer                             // no server could be selected
	MongoCancelled                            // the context ended
)

// MongoFailure is how an attempt of a MongoDB operation failed.
type MongoFailure struct {
	Kind MongoFailureKind
	Code int32
	// Labels are labels of the reply besides those that a server adds to the code.
	Labels []string
}

// has reports whether the failure has a label.
func (f *MongoFailure) has(label string) bool { return slices.Contains(f.Labels, label) }

// mongoFailureNames has the names of the kinds. Those that end with a colon are followed by a code.
var mongoFailureNames = []struct {
	name string
	kind MongoFailureKind
}{
	{"network error", MongoNetwork},
	{"connection failed", MongoConnect},
	{"pool cleared", MongoPoolCleared},
	{"no server", MongoNoServer},
	{"cancelled", MongoCancelled},
	{"handshake:", MongoHandshake},
	{"writeConcernError:", MongoWriteConcern},
	{"writeErrors:", MongoWriteErrors},
}

// mongoLabels are the error labels that the rules look at.
var mongoLabels = []string{labelOverloaded, labelRetryable, labelRetryableWrite, "NoWritesPerformed"}

const (
	labelOverloaded     = "SystemOverloadedError"
	labelRetryable      = "RetryableError"
	labelRetryableWrite = "RetryableWriteError"
)

// ParseMongoFailure reads the name of a failure: a code or its name ("10107", "NotWritablePrimary"), "writeConcernError:" or another prefix
// before one, or a name such as "network error". Labels follow, or stand alone, with commas between them.
func ParseMongoFailure(text string) (MongoFailure, error) {
	var f MongoFailure
	named := false
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		switch i := slices.IndexFunc(mongoLabels, func(l string) bool { return strings.EqualFold(l, part) }); {
		case i >= 0:
			f.Labels = append(f.Labels, mongoLabels[i])
		case named:
			return f, fmt.Errorf("the error %q has two failures; it must be one, and labels", text)
		default:
			if err := f.parse(part); err != nil {
				return f, err
			}
			named = true
		}
	}
	return f, f.check()
}

// parse reads the failure without labels.
func (f *MongoFailure) parse(text string) error {
	code := text
	for _, n := range mongoFailureNames {
		rest, found := cutPrefixFold(text, n.name)
		switch {
		case !found:
		case strings.HasSuffix(n.name, ":"):
			f.Kind, code = n.kind, strings.TrimSpace(rest)
		case rest == "":
			f.Kind = n.kind
			return nil
		}
	}
	if n, err := strconv.ParseInt(code, 10, 32); err == nil {
		f.Code = int32(n)
		return nil
	}
	for _, c := range mongoCodes {
		if strings.EqualFold(c.Name, code) {
			f.Code = c.Code
			return nil
		}
	}
	return unknownName("error", text, mongoFailures())
}

// check refuses labels on a failure that has no reply.
func (f *MongoFailure) check() error {
	if len(f.Labels) > 0 && f.Kind != MongoReply && f.Kind != MongoWriteConcern {
		return fmt.Errorf("the error has the label %s; only a reply with a code, or with a writeConcernError, has labels", f.Labels[0])
	}
	return nil
}

func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return s[len(prefix):], true
}

// mongoFailures returns every name of a failure.
func mongoFailures() []string {
	var names []string
	for _, n := range mongoFailureNames {
		names = append(names, n.name)
	}
	for _, c := range mongoCodes {
		names = append(names, c.Name)
	}
	return append(names, mongoLabels...)
}
