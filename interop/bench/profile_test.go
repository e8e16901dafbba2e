package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"testing"
)

const profiled = 20 * operations

// TestProfile writes pprof profiles of our client to the folder that HOLDFAST_BENCH_PROFILES names: cpu-findone and so
// on under the load of TestSpeed, with those of the bare socket beside them, and allocs-findone and so on with every
// allocation of a counted number of operations.
func TestProfile(t *testing.T) {
	dir := os.Getenv(profileDir)
	if dir == "" {
		t.Skip(profileDir + " names no folder to write profiles to")
	}
	address := startServer(t)
	client, raw := connectOurs(t, address, manyOnMany), connectRaw(t, address, manyOnMany)
	profileCPU(t, filepath.Join(dir, "cpu-raw-findone"), raw.findOne, load{workers: manyOnMany})
	profileCPU(t, filepath.Join(dir, "cpu-raw-insertone"), raw.insertOne, load{workers: manyOnMany})
	for _, deadline := range []bool{false, true} {
		suffix := map[bool]string{true: "-deadline"}[deadline]
		profileCPU(t, filepath.Join(dir, "cpu-findone"+suffix), client.findOne, load{manyOnMany, deadline})
		profileCPU(t, filepath.Join(dir, "cpu-insertone"+suffix), client.insertOne, load{manyOnMany, deadline})
		profileAllocations(t, filepath.Join(dir, "allocs-findone"+suffix), client.findOne, load{1, deadline})
		profileAllocations(t, filepath.Join(dir, "allocs-insertone"+suffix), client.insertOne, load{1, deadline})
	}
}

func profileCPU(t *testing.T, path string, op operation, l load) {
	t.Helper()
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 0 // its cost is not the client's
	defer func() { runtime.MemProfileRate = rate }()
	l.run(t, op, operations)
	f := create(t, path)
	defer func() { _ = f.Close() }()
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	l.run(t, op, profiled)
	pprof.StopCPUProfile()
}

// profileAllocations writes the profile before and after operations operations: their difference is one sample per
// allocation.
func profileAllocations(t *testing.T, path string, op operation, l load) {
	t.Helper()
	l.run(t, op, operations/20)
	writeAllocations(t, path+".base")
	l.run(t, op, operations)
	writeAllocations(t, path)
}

func writeAllocations(t *testing.T, path string) {
	t.Helper()
	runtime.GC() // the profile is as of the last collection
	runtime.GC()
	f := create(t, path)
	defer func() { _ = f.Close() }()
	if err := pprof.Lookup("allocs").WriteTo(f, 0); err != nil {
		t.Fatal(err)
	}
}

func create(t *testing.T, path string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}
