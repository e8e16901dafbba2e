package speed

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"runtime"
	"syscall"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/cli/prometheustext"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
)

// role in the environment makes this test binary one of the processes of a measurement.
const role = "HOLDFAST_ROUTER_SPEED_ROLE"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(role) {
	case "canned":
		err = canned.Serve(os.Stdin, os.Stdout)
	case "floor":
		err = front(newFloor(os.Args[1]))
	case "copy":
		err = front(copier(os.Args[1]))
	case "router":
		err = serveRouter(router.Config{Upstream: upstream(os.Args[1])})
	case "router with metrics":
		err = serveRouter(router.Config{Upstream: upstream(os.Args[1]), Tracer: prometheustext.New().Tracer()})
	case "router with TLS and users":
		err = serveRouter(secured(router.Config{Upstream: upstream(os.Args[1])}))
	default:
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func upstream(address string) *options.ClientOptions {
	return options.Client().ApplyURI("mongodb://" + address + "/?replicaSet=canned")
}

func serveRouter(cfg router.Config) error {
	r, err := router.New(cfg)
	if err != nil {
		return err
	}
	defer r.Close()
	return front(r)
}

// front serves on a free port, which it prints. Its input has a word on each line, whose answer it prints: of cpu the microseconds of CPU
// time that it has taken, of memory the bytes of heap and stacks that are in use, of allocations their number. At the end of the input it
// ends.
func front(f interface{ Serve(l net.Listener) error }) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go f.Serve(l)
	fmt.Println(l.Addr())
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		switch in.Text() {
		case "cpu":
			var u syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
				return err
			}
			fmt.Println((u.Utime.Nano() + u.Stime.Nano()) / 1000)
		case "memory":
			var m runtime.MemStats
			runtime.GC() // the pools of buffers are empty after the second one
			runtime.GC()
			runtime.ReadMemStats(&m)
			fmt.Println(m.HeapInuse + m.StackInuse)
		case "allocations":
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			fmt.Println(m.Mallocs)
		}
	}
	return nil
}

// startCanned starts the server behind both.
func startCanned(t *testing.T) canned.Addresses {
	t.Helper()
	addresses, err := canned.ParseAddresses(serverprocess.Start(t, "canned server", role+"=canned").Line(t))
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}
