package cluster

import (
	"net"
	"syscall"
	"testing"
)

// tcp(7): TCP_USER_TIMEOUT, option 18, in milliseconds.
func TestTheDefaultDialerLimitsHowLongSentBytesStayUnacknowledged(t *testing.T) {
	address, _ := tcpPeer(t)
	nc, err := tcpDialer().DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	raw, err := nc.(*net.TCPConn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var got int
	if controlled := raw.Control(func(fd uintptr) { got, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, 18) }); controlled != nil {
		t.Fatal(controlled)
	}
	if err != nil || got != 10_000 {
		t.Errorf("TCP_USER_TIMEOUT is %d ms: %v", got, err)
	}
}
