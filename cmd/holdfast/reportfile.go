package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// reportFile is the file of a flag such as --html. The report is written to a temporary file in the same folder, which then gets the
// name: a run that does not come to its end leaves an existing file as it is. A nil reportFile writes nothing.
type reportFile struct {
	flag, path string
	temporary  *os.File
}

// openReport creates the temporary file, so that an error is found before anything runs. path is "" without the flag.
func openReport(flag, path string) (*reportFile, error) {
	if path == "" {
		return nil, nil
	}
	folder := filepath.Dir(path)
	switch info, err := os.Stat(folder); {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("%s %s: the folder %s does not exist", flag, path, folder)
	case err == nil && !info.IsDir():
		return nil, fmt.Errorf("%s %s: %s is not a folder", flag, path, folder)
	}
	if _, err := os.Lstat(path); err == nil && !isRegular(path) {
		return nil, fmt.Errorf("%s %s is there and is not a regular file", flag, path)
	}
	file, err := os.CreateTemp(folder, "."+filepath.Base(path)+"-*")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	return &reportFile{flag: flag, path: path, temporary: file}, nil
}

// write writes the report.
func (f *reportFile) write(write func(io.Writer) error) error {
	if f == nil {
		return nil
	}
	err := errors.Join(write(f.temporary), f.temporary.Chmod(0o644), f.temporary.Close())
	if err == nil {
		err = os.Rename(f.temporary.Name(), f.path)
	}
	if err != nil {
		return cannotRun(fmt.Errorf("%s: %w", f.flag, err))
	}
	return nil
}

// discard removes the temporary file, if the report has not been written.
func (f *reportFile) discard() {
	if f != nil {
		_ = f.temporary.Close()
		_ = os.Remove(f.temporary.Name())
	}
}
