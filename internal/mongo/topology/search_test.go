package topology

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func manyAddresses(n int) []string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("m%d.example:27017", i)
	}
	return all
}

func TestSearchFindsWhatIsThere(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for n := range 20 {
		list := manyAddresses(n)
		s := searchAddresses(list)
		for range 200 {
			addr := manyAddresses(n + 2)[random.IntN(n+2)]
			if got, want := s.find(addr), slices.Index(list, addr); got != want {
				t.Fatalf("%s of %d: got %d, want %d", addr, n, got, want)
			}
		}
	}
}

// Members come in the same order again and again. A thousand of them must not cost a thousand times a thousand comparisons.
func TestSearchInOrderIsOnePass(t *testing.T) {
	const n = 1_000
	compared := 0
	s := search[string]{list: manyAddresses(n), address: func(addr string) string { compared++; return addr }}
	for range 3 {
		for _, addr := range manyAddresses(n) {
			s.find(addr)
		}
	}
	if compared != 3*n {
		t.Errorf("%d addresses were compared three times with %d", n, compared)
	}
	compared = 0
	for _, addr := range manyAddresses(n)[500:] { // others were removed
		s.find(addr)
	}
	if compared != n {
		t.Errorf("%d addresses were compared without the first 500", compared)
	}
}
