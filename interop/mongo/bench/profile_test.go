package bench

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"
)

const (
	profiled        = 20 * operations
	profiledBatches = 100 * batchesInTurn
)

// TestProfile writes pprof profiles of our client to the folder that HOLDFAST_BENCH_PROFILES names: cpu-findone and so
// on under the load of TestSpeed, with those of the bare socket beside them, and allocs-findone and so on with every
// allocation of a counted number of operations; cpu-decode-* and cpu-insertmany under the loads of TestDecoding and
// TestInserting.
func TestProfile(t *testing.T) {
	dir := os.Getenv(profileDir)
	if dir == "" {
		t.Skip(profileDir + " names no folder to write profiles to")
	}
	server := startServer(t)
	client, raw := connectOurs(t, plainly(server, manyOnMany)), connectRaw(t, server.Plain, manyOnMany)
	ours, _ := finders(t, server, plainly)
	for _, s := range shapes() {
		name := strings.ReplaceAll(s.name, " ", "-")
		profileCPU(t, filepath.Join(dir, "cpu-decode-"+name), s.decoding(ours), load{workers: 1}, profiledBatches)
	}
	profileCPU(t, filepath.Join(dir, "cpu-insertmany"), client.insertMany, load{workers: 1}, profiledBatches)
	profileCPU(t, filepath.Join(dir, "cpu-raw-findone"), raw.findOne, load{workers: manyOnMany}, profiled)
	profileCPU(t, filepath.Join(dir, "cpu-raw-insertone"), raw.insertOne, load{workers: manyOnMany}, profiled)
	for _, deadline := range []bool{false, true} {
		suffix := map[bool]string{true: "-deadline"}[deadline]
		profileCPU(t, filepath.Join(dir, "cpu-findone"+suffix), client.findOne, load{manyOnMany, deadline}, profiled)
		profileCPU(t, filepath.Join(dir, "cpu-insertone"+suffix), client.insertOne, load{manyOnMany, deadline}, profiled)
		profileAllocations(t, filepath.Join(dir, "allocs-findone"+suffix), client.findOne, load{1, deadline})
		profileAllocations(t, filepath.Join(dir, "allocs-insertone"+suffix), client.insertOne, load{1, deadline})
	}
}

// profileCPU writes the profile of n operations.
func profileCPU(t *testing.T, path string, op operation, l load, n int) {
	t.Helper()
	rate := runtime.MemProfileRate
	runtime.MemProfileRate = 0 // its cost is not the client's
	defer func() { runtime.MemProfileRate = rate }()
	l.run(t, op, n/20)
	f := create(t, path)
	defer func() { _ = f.Close() }()
	if err := pprof.StartCPUProfile(f); err != nil {
		t.Fatal(err)
	}
	l.run(t, op, n)
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
