package rules

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// ParseCouchbaseFailure returns the reason of a failure of an operation. The text is the name of a reason of RFC 0049; for key-value
// operations also a status in hexadecimal digits ("0x86") or in words ("temporary failure"); for the others also a code of the service or
// an HTTP status ("4040", "503").
func ParseCouchbaseFailure(o CouchbaseOperation, text string) (retry.Reason, error) {
	text = strings.TrimSpace(text)
	if strings.EqualFold(text, retry.ReasonUnknown.String()) {
		return retry.ReasonUnknown, nil
	}
	for _, r := range reasonRules {
		switch {
		case !strings.EqualFold(r.reason.String(), text):
		case !slices.Contains(CouchbaseReasons(o), r.reason):
			return retry.ReasonUnknown, fmt.Errorf("the error is %v, which %s of the %s service does not meet", r.reason, o.Name, o.service)
		default:
			return r.reason, nil
		}
	}
	if o.service == keyValue {
		status, err := parseStatus(o, text)
		return reasonOfStatus(status, o), err
	}
	if code, err := strconv.ParseUint(text, 10, 32); err == nil {
		return reasonOfCode(o, uint32(code)), nil
	}
	return retry.ReasonUnknown, unknownName("error", text, couchbaseFailures(o))
}

// parseStatus reads a status in hexadecimal digits or in words.
func parseStatus(o CouchbaseOperation, text string) (memd.Status, error) {
	for _, s := range CouchbaseStatuses(o) {
		if words, _, _ := strings.Cut(s.String(), " (0x"); strings.EqualFold(words, text) {
			return s, nil
		}
	}
	digits, prefixed := strings.CutPrefix(strings.ToLower(text), "0x")
	n, err := strconv.ParseUint(digits, 16, 16)
	switch s := memd.Status(n); {
	case err != nil && (prefixed || !errors.Is(err, strconv.ErrSyntax)):
		return 0, fmt.Errorf("the error %q is no status; a status has at most four hexadecimal digits", text)
	case err != nil:
		return 0, unknownName("error", text, couchbaseFailures(o))
	case isSuccess(s, o):
		return 0, fmt.Errorf("the error is status %v, which is no failure of %s", s, o.Name)
	default:
		return s, nil
	}
}

func couchbaseFailures(o CouchbaseOperation) []string {
	names := []string{retry.ReasonUnknown.String()}
	for _, r := range CouchbaseReasons(o) {
		names = append(names, r.String())
	}
	if o.service == keyValue {
		for _, s := range CouchbaseStatuses(o) {
			words, _, _ := strings.Cut(s.String(), " (0x")
			names = append(names, words)
		}
	}
	return names
}
