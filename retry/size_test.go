package retry

import (
	"reflect"
	"testing"
	"unsafe"
)

// A larger Failure doubles the time of each success, because an attempt returns one.
func TestAFailureHas64Bytes(t *testing.T) {
	if n := unsafe.Sizeof(Failure{}); n > 64 {
		t.Errorf("a Failure has %d bytes, want at most 64", n)
	}
}

// The compiler keeps a struct in registers only if it has at most four fields, the fields of an embedded one not counted. A
// decision in memory doubles the time of each retry.
func TestADecisionFitsIntoRegisters(t *testing.T) {
	if n := reflect.TypeFor[decision]().NumField(); n > 4 {
		t.Errorf("a decision has %d fields, want at most 4", n)
	}
	if n := unsafe.Sizeof(decision{}); n > 32 {
		t.Errorf("a decision has %d bytes, want at most 32", n)
	}
}
