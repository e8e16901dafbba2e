package main

import (
	"slices"
	"testing"
)

// A module: users import ./client and ./server, ./internal/a and ./internal/b are below ./client, the test of ./server
// imports ./client, and nobody but ./cmd imports ./internal/tool.
func testModule() module {
	all, paths := module{}, map[string]string{}
	for _, path := range []string{"./client", "./server", "./internal/a", "./internal/b", "./internal/tool", "./cmd"} {
		paths["m"+path[1:]] = path
	}
	add := func(path, name string, deps, tests []string) {
		all.add(listedMember{ImportPath: "m" + path[1:], Name: name, Deps: deps, path: path}, paths)
		itself := "m" + path[1:] + " [m" + path[1:] + ".test]"
		all.add(listedMember{ImportPath: "m" + path[1:] + ".test", Name: "main", Deps: append(tests, itself, "testing"), path: path}, paths)
	}
	add("./internal/b", "b", nil, nil)
	add("./internal/a", "a", []string{"m/internal/b", "fmt"}, []string{"m/internal/b"})
	add("./client", "client", []string{"m/internal/a", "m/internal/b"}, []string{"m/internal/a", "m/internal/b"})
	add("./server", "server", nil, []string{"m/client", "m/internal/a", "m/internal/b"})
	add("./internal/tool", "tool", []string{"m/client", "m/internal/a", "m/internal/b"}, []string{"m/client", "m/internal/a", "m/internal/b"})
	add("./cmd", "main", []string{"m/client", "m/internal/a", "m/internal/b"}, []string{"m/client", "m/internal/a", "m/internal/b"})
	return all
}

func TestWhoseTestsCouldNotice(t *testing.T) {
	all := testModule()
	for target, want := range map[string][]string{
		"./internal/b":    {"./internal/b", "./server", "./internal/a", "./client"},
		"./internal/a":    {"./internal/a", "./server", "./client"},
		"./client":        {"./client", "./server"},
		"./server":        {"./server"},
		"./internal/tool": {"./internal/tool"},
	} {
		if got := observers(all, target); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
}

// The order and the bounds in this module.
func TestWhoseTestsCouldNoticeHere(t *testing.T) {
	t.Chdir("../../..")
	all, err := listModule()
	if err != nil {
		t.Fatal(err)
	}
	for target, want := range map[string][]string{
		"./internal/mongo/operation":    {"./internal/mongo/operation", "./mongo/mongoslog", "./mongo/once", "./mongo", "./explore"},
		"./internal/couchbase/services": {"./internal/couchbase/services", "./explore/couchbase", "./couchbase"},
		"./couchbase":                   {"./couchbase", "./explore/couchbase"},
	} {
		if got := observers(all, target); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", target, got, want)
		}
	}
}
