package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
)

// result is what came of the runs of one test.
type result struct {
	Package string  `json:"package"`
	Test    string  `json:"test"`
	Runs    int     `json:"runs"`
	Failed  int     `json:"failed"` // processes that failed
	CPU     float64 `json:"cpu"`    // seconds of one run
	Output  string  `json:"output,omitempty"`
}

// journal keeps the results of one commit in a file, one line for each test.
type journal struct {
	folder string
	mu     sync.Mutex
	file   *os.File
	done   map[test]result
}

// openJournal reads the results of the commit that is checked out. Changed files give the state a name of its own.
func openJournal(ctx context.Context, state string) (*journal, error) {
	name, err := treeName(ctx)
	if err != nil {
		return nil, err
	}
	j := &journal{folder: filepath.Join(state, name), done: map[test]result{}}
	if err := os.MkdirAll(j.folder, 0o700); err != nil {
		return nil, err
	}
	j.file, err = os.OpenFile(filepath.Join(j.folder, "results.jsonl"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(j.file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) == nil { // a line that was not written to its end is run again
			j.done[test{r.Package, r.Test}] = r
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	_, err = j.file.WriteString("\n") // the last line may not have been written to its end
	return j, err
}

// treeName names the commit, and the files that differ from it.
func treeName(ctx context.Context) (string, error) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git rev-parse: %w", err)
	}
	changes, err := exec.CommandContext(ctx, "git", "diff", "HEAD").Output()
	if err != nil {
		return "", fmt.Errorf("git diff: %w", err)
	}
	name := strings.TrimSpace(string(head))
	if len(bytes.TrimSpace(changes)) > 0 {
		name += "-" + shortHash(changes)
	}
	return name, nil
}

func (j *journal) add(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[test{r.Package, r.Test}] = r
	_, err = j.file.Write(append(line, '\n'))
	return err
}

func (j *journal) result(t test) (result, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, ok := j.done[t]
	return r, ok
}

func (j *journal) close() { _ = j.file.Close() }
