package main

import (
	"strings"
	"testing"
)

func TestPasswordsAreNotShown(t *testing.T) {
	for text, want := range map[string]string{
		"mongodb://alice:s3cret@host/":                                              "mongodb://alice:***@host/",
		"mongodb+srv://alice:s3cret@host/?w=1":                                      "mongodb+srv://alice:***@host/?w=1",
		"alice:s3cret@host":                                                         "alice:***@host",
		`the argument "alice:s3cret@host" is odd`:                                   `the argument "alice:***@host" is odd`,
		"mongodb://alice:s3@cr:et/@a,b":                                             "mongodb://alice:***@a,b",
		"mongodb://:s3cret@host":                                                    "mongodb:***@host",
		"a:1: no; mongodb://u:s3cret@h mongodb://v:s3cret@":                         "a:1: no; mongodb://u:***@h mongodb://v:***@",
		"mongodb://h/?tlsCertificateKeyFilePassword=s3cret&w=1":                     "mongodb://h/?tlsCertificateKeyFilePassword=***&w=1",
		"mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:s3cret,OTHER:value": "mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:***,OTHER:value",
		"holdfast: 127.0.0.1:27017: connection refused":                             "holdfast: 127.0.0.1:27017: connection refused",
		"mongodb://127.0.0.1:27017/":                                                "mongodb://127.0.0.1:27017/",
	} {
		if got := withoutSecrets(text); got != want || strings.Contains(got, "s3cret") {
			t.Errorf("%s becomes %s, want %s", text, got, want)
		}
	}
}

// Each command is given a password in each way, and fails.
func TestNoErrorShowsThePassword(t *testing.T) {
	for _, command := range []string{"topology", "check", "sweep --ns a.b"} {
		for _, rest := range []string{
			"--uri mongodb://alice:s3cret@127.0.0.1:1/", "--uri alice:s3cret@host", "mongodb://alice:s3cret@host", "--uri mongodb://alice:s3cret%zz@h/",
			"--uri mongodb://alice:s3cret@h/?maxPoolSize=x", "--uri mongodb://alice:s3cret/", "--ur=mongodb://alice:s3cret@h", "--timeout alice:s3cret@h",
			"--uri mongodb://alice:s3cret@h/?authSource=", "--json=alice:s3cret@h", "--uri mongodb://alice:s3cret@h:port/",
		} {
			args := strings.Fields(command + " --timeout 200ms " + rest)
			if code, out, errs := holdfast(t.Context(), args...); code == exitOK || strings.Contains(out+errs, "s3cret") {
				t.Errorf("%q: exit code %d: %s%s", args, code, out, errs)
			}
		}
	}
}
