//go:build !linux

package instructions

// Open returns ErrUnsupported: only Linux is asked.
func Open() (*Counter, error) { return nil, ErrUnsupported }
