package speed

import (
	"io"
	"net"
)

// copier is the address of a server, to which it copies what clients send, and back. It knows nothing of messages.
type copier string

func (c copier) Serve(l net.Listener) error {
	for {
		client, err := l.Accept()
		if err != nil {
			return err
		}
		go c.client(client)
	}
}

func (c copier) client(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", string(c))
	if err != nil {
		return
	}
	defer server.Close()
	go io.Copy(server, client)
	io.Copy(client, server)
}
