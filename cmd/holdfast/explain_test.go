package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const pasted = "refused (2 attempts: [1 at a:1, in flight, NETWORK_ERROR: reset] [2 at b:1, answered, NOT_WRITABLE_PRIMARY: no] no more: attempts used up)"

func TestExplain(t *testing.T) {
	for _, c := range []struct {
		args []string
		code int
		says []string
	}{
		{nil, exitOK, []string{"mongodb.overload\n", "couchbase.KV_LOCKED\n", "Source: "}},
		{[]string{"--backend", "couchbase"}, exitOK, []string{"couchbase.final\n"}},
		{
			[]string{"insertOne", "--error", "10107", "--server", "replica-set"},
			exitOK,
			[]string{"Retried at once, on a server that is selected anew; at most 2 attempts in all.", "mongodb.writes: "},
		},
		{[]string{"insertone", "--error", "notwritableprimary", "--deadline"}, exitOK, []string{"until the deadline", "mongodb.deadline: "}},
		{[]string{"updateMany", "--error", "network error"}, exitOK, []string{"Not retried.", "mongodb.writes-never: "}},
		{[]string{"updateMany", "--error", "SystemOverloadedError,RetryableError"}, exitOK, []string{"at most 3 attempts", "mongodb.overload: "}},
		{[]string{"runCommand", "--error", "SystemOverloadedError,RetryableError", "--no-retry"}, exitOK, []string{"Not retried.", "mongodb.disabled: "}},
		{[]string{"updateMany", "--error", "connection failed", "--no-retry"}, exitOK, []string{"Not retried.", "mongodb.disabled: "}},
		{[]string{"find", "--error", "134", "--in-transaction"}, exitOK, []string{"Not retried.", "mongodb.in-transaction: "}},
		{[]string{"--backend", "couchbase", "get", "--error", "KV_TEMPORARY_FAILURE"}, exitOK, []string{"until the deadline", "couchbase.KV_TEMPORARY_FAILURE: "}},
		{[]string{"--backend", "couchbase", "upsert", "--error", "0x86", "--no-retry"}, exitOK, []string{"Not retried.", "strategy declined"}},
		{[]string{"--text", pasted}, exitOK, []string{"Attempt 1 at a:1: reset", "may have been applied", "Attempt 2 at b:1: no", "No more of 2: attempts used up"}},
		{[]string{"insertOne"}, exitUsage, []string{"an operation needs the error"}},
		{[]string{"--error", "91"}, exitUsage, []string{"--error needs the operation"}},
		{[]string{"insertOn", "--error", "91"}, exitUsage, []string{`unknown operation "insertOn"; the nearest known one is "insertOne"`}},
		{[]string{"insertOne", "--error", "NotWritablePrimry"}, exitUsage, []string{`the nearest known one is "NotWritablePrimary"`}},
		{[]string{"insertOne", "--error", "91,92"}, exitUsage, []string{"--error: the error \"91,92\" has two failures"}},
		{[]string{"insertOne", "--error", "network error,RetryableError"}, exitUsage, []string{"only a reply"}},
		{[]string{"find", "--error", "91", "--server", "shardd"}, exitUsage, []string{`--server: unknown server "shardd"; the nearest known one is "sharded"`}},
		{[]string{"find", "--error", "91", "--server-version", "new"}, exitUsage, []string{"--server-version: the version is \"new\""}},
		{[]string{"find", "--error", "91", "--server-version", "3.4"}, exitUsage, []string{"the client needs 3.6 or later"}},
		{[]string{"find", "--error", "91", "--unacknowledged"}, exitUsage, []string{"find cannot be unacknowledged"}},
		{[]string{"commitTransaction", "--error", "91", "--server", "standalone"}, exitUsage, []string{"has no transactions"}},
		{[]string{"--backend", "couchbase", "get", "--error", "91", "--deadline"}, exitUsage, []string{"are for --backend mongodb"}},
		{[]string{"--backend", "couchbase", "get", "--error", "KV_LOCKE"}, exitUsage, []string{`the nearest known one is "KV_LOCKED"`}},
		{[]string{"--backend", "couchbase", "get", "--error", "VIEWS_TEMPORARY_FAILURE"}, exitUsage, []string{"which get of the key-value service does not meet"}},
		{[]string{"--backend", "couchbase", "get", "--error", "0x00"}, exitUsage, []string{"no failure of get"}},
		{[]string{"--text", pasted, "find"}, exitUsage, []string{"--text excludes"}},
		{[]string{"--text", "/no/such/file"}, exitUsage, []string{"--text: open /no/such/file"}},
		{[]string{"--text", "it did not work"}, exitUsage, []string{"--text: the text has no attempts; it must have what retry.Error prints"}},
		{[]string{"--backend", "couchbase", "--text", "it did not work"}, exitUsage, []string{"--text: the text has no details of a Couchbase error"}},
		{[]string{"updateMany", "--error", "network error"}, exitOK, []string{"Not retried.", "It ends with: not retryable."}},
	} {
		code, out, errs := holdfast(t.Context(), append([]string{"explain"}, c.args...)...)
		if code != c.code {
			t.Errorf("%q: exit code %d, want %d\n%s%s", c.args, code, c.code, out, errs)
		}
		for _, want := range c.says {
			if !strings.Contains(strings.ReplaceAll(out+errs, "\n  ", " "), want) && !strings.Contains(out+errs, want) {
				t.Errorf("%q prints\n%s%s\nand not %q", c.args, out, errs, want)
			}
		}
	}
}

func TestExplainReadsAFileAndTheStandardInput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "error.txt")
	if err := os.WriteFile(file, []byte(pasted+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{file, "-"} {
		var out bytes.Buffer
		c := explainCommand{Text: text, JSON: true, Backend: "mongodb", stdin: strings.NewReader(pasted)}
		if err := c.Run(&session{ctx: t.Context(), stdout: &out, getenv: noEnvironment}); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		var told toldError
		if err := json.Unmarshal(out.Bytes(), &told); err != nil {
			t.Fatal(err)
		}
		if told.Total != 2 || len(told.Attempts) != 2 || told.Attempts[1].Reason != "NOT_WRITABLE_PRIMARY" || told.Attempts[1].Stage != "answered" || told.StopReason != "attempts used up" {
			t.Errorf("%s: %s", text, out.String())
		}
	}
}

func TestExplainReadsAnErrorWithoutAttempts(t *testing.T) {
	for args, want := range map[string]string{
		"":       "No attempt was made: no server\n",
		"--json": `"total":0,"attempts":[]`,
	} {
		var out bytes.Buffer
		c := explainCommand{Text: "-", JSON: args != "", Backend: "mongodb", stdin: strings.NewReader("selection failed (no attempt: no server)")}
		if err := c.Run(&session{ctx: t.Context(), stdout: &out, getenv: noEnvironment}); err != nil {
			t.Error(err)
		}
		if !strings.Contains(strings.NewReplacer("\n  ", "", "\": ", "\":").Replace(out.String()), want) && !strings.Contains(out.String(), want) {
			t.Errorf("%s prints %s", args, out.String())
		}
	}
}

func TestExplainPrintsJSON(t *testing.T) {
	_, out, _ := holdfast(t.Context(), "explain", "find", "--error", "10107", "--server", "sharded", "--json")
	var e struct {
		Backend, Operation, Error, Server, Where, Delay string
		StopReason                                      string `json:"stop_reason"`
		Rule                                            struct{ ID, Sentence, Source string }
		Retried, UntilDeadline                          bool
		Attempts                                        int
	}
	if err := json.Unmarshal([]byte(out), &e); err != nil {
		t.Fatal(err)
	}
	if e.Operation != "find" || e.Server != "sharded" || !e.Retried || e.Attempts != 2 || e.Rule.ID != "mongodb.reads" || e.StopReason != "attempts used up" {
		t.Errorf("%s", out)
	}
	_, out, _ = holdfast(t.Context(), "explain", "--json")
	var all struct {
		Rules []struct{ ID, Sentence, Source string }
	}
	if err := json.Unmarshal([]byte(out), &all); err != nil || len(all.Rules) < 30 {
		t.Errorf("%d rules, %v", len(all.Rules), err)
	}
}
