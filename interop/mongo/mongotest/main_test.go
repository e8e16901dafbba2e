package mongotest

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
	"github.com/holdfast-db/holdfast/mongotest"
)

// serverRole in the environment makes this test binary one of the servers that are compared: a process of its own, so that
// its time is not the client's.
const serverRole = "HOLDFAST_MONGOTEST_SERVER"

const (
	mockRole = "mongotest"
	echoRole = "echo"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(serverRole); role != "" {
		if err := serve(role); err != nil {
			fmt.Fprintln(os.Stderr, role, "server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// serve runs a server, prints its address, and then for each line of input the time that the process has used, until the
// input ends.
func serve(role string) error {
	start := map[string]func() (string, io.Closer, error){mockRole: startMock, echoRole: startEcho}[role]
	addr, server, err := start()
	if err != nil {
		return err
	}
	fmt.Println(addr)
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			return err
		}
		fmt.Println(u.Utime.Nano() + u.Stime.Nano())
	}
	return server.Close()
}

func startMock() (string, io.Closer, error) {
	rs, err := mongotest.RunReplicaSet(1)
	if err != nil {
		return "", nil, err
	}
	return rs.Addr(), rs, nil
}

// startEcho starts a server that sends back, for every message on a connection, the first one, with the request's id as what
// it answers.
func startEcho() (string, io.Closer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go echo(c)
		}
	}()
	return l.Addr().String(), l, nil
}

func echo(c net.Conn) {
	defer func() { _ = c.Close() }()
	r := bufio.NewReaderSize(c, 16<<10)
	reply, err := wire.ReadMessage(r, nil, wire.MaxMessageLength)
	if err != nil {
		return
	}
	var request []byte
	for {
		if request, err = wire.ReadMessage(r, request, wire.MaxMessageLength); err != nil {
			return
		}
		copy(reply[8:12], request[4:8])
		if _, err := c.Write(reply); err != nil {
			return
		}
	}
}

// server is a server in a process of its own.
type server struct {
	*serverprocess.Process
	addr string
}

func startServer(t *testing.T, role string) *server {
	t.Helper()
	p := serverprocess.Start(t, "the "+role+" server", serverRole+"="+role)
	return &server{p, p.Line(t)}
}

// cpu returns the user and system time that the process has used.
func (s *server) cpu(t *testing.T) time.Duration {
	t.Helper()
	if _, err := fmt.Fprintln(s.In, "cpu"); err != nil {
		t.Fatal(err)
	}
	n, err := strconv.ParseInt(s.Line(t), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return time.Duration(n)
}
