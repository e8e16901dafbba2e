package gocbsuite

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase/couchbasetest"
)

const (
	module = "github.com/couchbase/gocb/v2"
	// serverVersion is the version of the server that the nodes behave as, and that the suite is told.
	serverVersion = "8.0.0"
	// longest is what one run of the suite may take.
	longest = "8m"
)

// moduleDir returns the folder of gocb's module, which it downloads if it is not there.
func moduleDir(t *testing.T) string {
	t.Helper()
	var found struct{ Dir string }
	if err := json.Unmarshal(output(t, "go", "mod", "download", "-json", module), &found); err != nil || found.Dir == "" {
		t.Fatalf("the module %s is not there: %v", module, err)
	}
	return found.Dir
}

func output(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	var errs bytes.Buffer
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, errs.Bytes())
	}
	return out
}

// run is what the suite did.
type run struct {
	outcomes map[string]outcome
	output   map[string]*bytes.Buffer // of each test; of the whole under ""
}

// runSuite runs the integration tests in the folder of gocb's module, against a cluster.
func runSuite(ctx context.Context, t *testing.T, dir string, c *couchbasetest.Cluster) *run {
	t.Helper()
	cmd := exec.CommandContext(ctx, "go", "test", "-json", "-mod=readonly", "-count=1", "-timeout="+longest, "-run=^TestIntegration$", ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off",
		"GOCBSERVER="+c.ConnectionString(), "GOCBUSER="+c.Username(), "GOCBPASS="+c.Password(), "GOCBBUCKET=default", "GOCBVER="+cmp.Or(os.Getenv("GV"), serverVersion),
		"GOCBFEAT="+strings.Join(featuresNotTested(), ","), "GOCBNOLOG=1")
	if one := os.Getenv("GOCB_SUITE_TEST"); one != "" {
		cmd.Args = append(cmd.Args[:len(cmd.Args)-2], "-run=^TestIntegration$/^("+one+")$", ".")
	}
	if os.Getenv("GOCB_SUITE_LOG") != "" {
		cmd.Env = append(cmd.Env, "GOCBNOLOG=0")
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	r := &run{outcomes: make(map[string]outcome), output: make(map[string]*bytes.Buffer)}
	r.read(out)
	if len(r.outcomes) == 0 {
		t.Fatalf("the suite did not run: %v\n%s\n%s", err, errs.Bytes(), r.said(""))
	}
	return r
}

// read reads what go test -json writes.
func (r *run) read(events []byte) {
	for line := range bytes.Lines(events) {
		var e struct{ Action, Test, Output string }
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		_, test, _ := strings.Cut(e.Test, "/")
		name, part, _ := strings.Cut(test, "/")
		switch e.Action {
		case "output":
			if r.output[name] == nil {
				r.output[name] = new(bytes.Buffer)
			}
			r.output[name].WriteString(e.Output)
		case "pass", "fail", "skip":
			if name != "" && part == "" {
				r.outcomes[name] = outcome(e.Action)
			}
		}
	}
}

// said returns what a test wrote.
func (r *run) said(test string) string {
	if b := r.output[test]; b != nil {
		return b.String()
	}
	return ""
}
