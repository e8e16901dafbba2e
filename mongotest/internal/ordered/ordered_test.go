package ordered

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// An ordered has the same values at the same places as a sorted list, whatever is added and removed.
func TestOrderedIsASortedList(t *testing.T) {
	type value struct{ key, came int }
	random := rand.New(rand.NewPCG(3, 4))
	o := Tree[int, value]{Compare: cmp.Compare[int]}
	var list []value
	for came := range 5000 {
		key := random.IntN(40)
		if at := slices.IndexFunc(list, func(v value) bool { return v.key == key }); at >= 0 && random.IntN(2) == 0 {
			o.Remove(key)
			list = slices.Delete(list, at, at+1)
		} else {
			o.Add(key, value{key, came})
			list = append(list, value{key, came})
			slices.SortStableFunc(list, func(a, b value) int { return cmp.Compare(a.key, b.key) })
		}
		if o.Len() != len(list) {
			t.Fatalf("it has %d values, want %d", o.Len(), len(list))
		}
		if len(list) > 0 {
			if i := random.IntN(len(list)); o.At(i) != list[i] {
				t.Fatalf("at %d it has %v, want %v", i, o.At(i), list[i])
			}
		}
	}
	var got []value
	o.Nodes(false, func(equal []value) bool {
		got = append(got, equal...)
		return true
	})
	if !slices.Equal(got, list) {
		t.Errorf("in order it has %v, want %v", got, list)
	}
}
