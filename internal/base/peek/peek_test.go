//go:build unix

package peek

import (
	"io"
	"net"
	"testing"
)

func TestAt(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	there, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer there.Close()
	here, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer here.Close()
	await := func(want State) {
		t.Helper()
		for at := At(here); at != want; at = At(here) {
			if at != Silent {
				t.Fatalf("the state is %d, want %d", at, want)
			}
		}
	}
	await(Silent)
	if _, err := there.Write([]byte("a")); err != nil {
		t.Fatal(err)
	}
	await(Bytes)
	if _, err := io.ReadFull(here, make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	await(Silent)
	there.Close()
	await(Ended)
	here.Close()
	await(Ended)
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if at := At(a); at != Unknown {
		t.Errorf("the state of a pipe is %d, want Unknown", at)
	}
}
