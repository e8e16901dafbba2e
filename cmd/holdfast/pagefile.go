package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/report"
)

// pageFile is the file of --html. The page is written to a temporary file in the same folder, which then gets the name: a run that
// does not come to its end leaves an existing page as it is. A nil pageFile writes nothing.
type pageFile struct {
	path      string
	temporary *os.File
}

// openPage creates the temporary file, so that an error is found before the experiment runs. path is "" without --html.
func openPage(path string) (*pageFile, error) {
	if path == "" {
		return nil, nil
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("--html %s: the folder %s does not exist", path, folder)
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("--html %s: %s is not a folder", path, folder)
	}
	if _, err := os.Lstat(path); err == nil && !isRegular(path) {
		return nil, fmt.Errorf("--html %s is there and is not a regular file", path)
	}
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, fmt.Errorf("--html: %w", err)
	}
	return &pageFile{path: path, temporary: file}, nil
}

// write writes the page.
func (p *pageFile) write(r *prove.Report) error {
	if p == nil {
		return nil
	}
	err := errors.Join(report.WriteHTML(p.temporary, r), p.temporary.Chmod(0o644), p.temporary.Close())
	if err == nil {
		err = os.Rename(p.temporary.Name(), p.path)
	}
	if err != nil {
		return cannotRun(fmt.Errorf("--html: %w", err))
	}
	return nil
}

// discard removes the temporary file, if the page has not been written.
func (p *pageFile) discard() {
	if p != nil {
		_ = p.temporary.Close()
		_ = os.Remove(p.temporary.Name())
	}
}
