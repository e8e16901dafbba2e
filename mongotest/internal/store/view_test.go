package store

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// content is a text of what a scan sees.
func content(v View) string {
	var b bytes.Buffer
	v.Scan(func(r *Record) bool {
		fmt.Fprintf(&b, "%d %s %x\n", r.ID, r.Key, r.Doc)
		return true
	})
	return b.String()
}

// A frozen view keeps what it had, whatever happens to the collection, and the collection is as one that nobody looks at.
func TestAFrozenViewNeverChanges(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 0))
		seen, alone := newCollection(NewDefinition()), newCollection(NewDefinition())
		type frozen struct {
			view View
			had  string
		}
		var views []frozen
		var removed [][2]*Record
		for step := range 300 {
			key := fmt.Sprint(random.IntN(100))
			switch n := random.IntN(10); {
			case n < 5:
				at, doc := wire.BeginDocument(nil)
				doc = wire.EndDocument(wire.AppendInt32(doc, "step", int32(step)), at)
				seen.put(key, doc)
				alone.put(key, doc)
			case n < 8:
				if r := seen.remove(key); r != nil {
					removed = append(removed, [2]*Record{r, alone.remove(key)})
				}
			case n < 9 && len(removed) > 0:
				last := removed[len(removed)-1]
				if removed = removed[:len(removed)-1]; seen.ByKey[last[0].Key] == nil {
					seen.restore(last[0], last[0].Doc)
					alone.restore(last[1], last[1].Doc)
				}
			default:
				v := seen.Frozen()
				views = append(views, frozen{v, content(v)})
			}
		}
		for i, f := range views {
			if now := content(f.view); now != f.had {
				t.Fatalf("seed %d: view %d of %d had\n%sand has\n%s", seed, i, len(views), f.had, now)
			}
		}
		if a, b := content(seen.Now()), content(alone.Now()); a != b || seen.Live != alone.Live || seen.Size != alone.Size {
			t.Fatalf("seed %d: the collection has\n%s(%d, %d bytes)\nwant\n%s(%d, %d bytes)", seed, a, seen.Live, seen.Size, b, alone.Live, alone.Size)
		}
	}
}
