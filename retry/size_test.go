package retry

import (
	"testing"
	"unsafe"
)

// A larger Failure doubles the time of each success, because an attempt returns one.
func TestAFailureHas64Bytes(t *testing.T) {
	if n := unsafe.Sizeof(Failure{}); n > 64 {
		t.Errorf("a Failure has %d bytes, want at most 64", n)
	}
}
