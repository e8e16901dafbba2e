package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"sync"
)

// result is what came of the runs of one test.
type result struct {
	Package string  `json:"package"`
	Test    string  `json:"test"`
	Build   string  `json:"build"` // of the test binary: its hash
	Runs    int     `json:"runs"`
	Failed  int     `json:"failed"` // processes that failed
	CPU     float64 `json:"cpu"`    // seconds of one run
	Output  string  `json:"output,omitempty"`
}

func (r *result) of() test { return test{r.Package, r.Test, r.Build} }

// journal keeps the results in a file, one line for each test. A result counts as long as the test binary is the same.
type journal struct {
	folder string
	mu     sync.Mutex
	file   *os.File
	done   map[test]result
}

// openJournal reads the results of earlier runs.
func openJournal(folder string) (*journal, error) {
	j := &journal{folder: folder, done: map[test]result{}}
	if err := os.MkdirAll(j.folder, 0o700); err != nil {
		return nil, err
	}
	var err error
	j.file, err = os.OpenFile(filepath.Join(j.folder, "results.jsonl"), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(j.file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var r result
		if json.Unmarshal(lines.Bytes(), &r) == nil { // a line that was not written to its end is run again
			j.done[r.of()] = r
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	_, err = j.file.WriteString("\n") // the last line may not have been written to its end
	return j, err
}

func (j *journal) add(r result) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.done[r.of()] = r
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
