package archtest

import (
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// subject is the form of a commit's first line: the package, or the part of the repository, and what it now does.
var subject = regexp.MustCompile(`^[a-z][a-zA-Z0-9_./, -]*: \S.*$`)

const longestSubject = 72

// wrongCommit returns what is wrong with a commit's message, "" if it is as CONTRIBUTING asks.
func wrongCommit(message string) string {
	first, body, _ := strings.Cut(message, "\n")
	switch {
	case len([]rune(first)) > longestSubject:
		return "the subject has more than 72 characters"
	case !subject.MatchString(first):
		return "the subject is not \"package: what it now does\""
	case strings.TrimSpace(body) == "":
		return "there is no body that says why"
	}
	return ""
}

// The commits after the one that added this test have the form of CONTRIBUTING. Merges have none.
func TestTheMessagesOfCommits(t *testing.T) {
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = "../../.."
		out, err := cmd.Output()
		if err != nil {
			if os.Getenv("CI") != "" {
				t.Fatalf("git %v: %v", args, err)
			}
			t.Skipf("git %v: %v; this is no clone, so there are no commits to look at", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	added := git("log", "--diff-filter=A", "--format=%H", "--", "internal/devtools/archtest/commits_test.go")
	if added == "" {
		return // not committed yet
	}
	for message := range strings.SplitSeq(git("log", "--no-merges", "--format=%B%x00", added+"..HEAD"), "\x00") {
		if message = strings.TrimSpace(message); message == "" {
			continue
		}
		if wrong := wrongCommit(message); wrong != "" {
			t.Errorf("%s: %q", wrong, message)
		}
	}
}

func TestTheFormOfAMessage(t *testing.T) {
	for message, right := range map[string]bool{
		"retry: Breaker.Judge says what an attempt shows\n\nIt was written three times.": true,
		"mongo, couchbase: one name for both\n\nWhy.":                                    true,
		"internal/mongo/wire: no copy\n\nWhy.":                                           true,
		"retry: no body":                                                                 false,
		"Retry things\n\nWhy.":                                                           false,
		"retry:nothing\n\nWhy.":                                                          false,
		"retry: " + strings.Repeat("x", 70) + "\n\nWhy.":                                 false,
		"": false,
	} {
		if (wrongCommit(message) == "") != right {
			t.Errorf("%q is right: must be %t", message, right)
		}
	}
}
