// Package canned is a server whose replies are bytes made beforehand: only responseTo is set in each. It looks like the
// primary of a replica set of one, so that clients send all they send to a real one, and costs as little as a server
// can; it understands nothing and stores nothing. Beside it are the requests that go with the replies, for a client
// that wants to know what the bytes alone cost.
package canned

import (
	"crypto/tls"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Serve serves on three free local ports: plainly, with TLS, and with zstd. It writes to out, as one line, what
// [ParseAddresses] reads, and serves until in ends: a parent holds the other end of in and need not stop the server
// otherwise.
func Serve(in io.Reader, out io.Writer) error {
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	var listeners [3]net.Listener
	for i := range listeners {
		if listeners[i], err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			return err
		}
	}
	plain, secure, compressed := listeners[0], listeners[1], listeners[2]
	_, err = fmt.Fprintln(out, plain.Addr(), secure.Addr(), compressed.Addr(),
		base64.StdEncoding.EncodeToString(certificate.Certificate[0]))
	if err != nil {
		return err
	}
	secure = tls.NewListener(secure, &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13})
	var serving sync.WaitGroup
	serving.Go(func() { accept(plain, wire.NoCompressor) })
	serving.Go(func() { accept(secure, wire.NoCompressor) })
	serving.Go(func() { accept(compressed, wire.Zstd) })
	_, _ = io.Copy(io.Discard, in)
	for _, l := range listeners {
		_ = l.Close()
	}
	serving.Wait()
	return nil
}

func accept(l net.Listener, with wire.Compressor) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go serve(c, newReplies(l.Addr().String(), with))
	}
}

// requestBuffer has room for an insert of BatchSize documents.
const requestBuffer = 512 << 10

// serve answers one connection until it ends.
func serve(c net.Conn, r *replies) {
	defer func() { _ = c.Close() }()
	buf, got := make([]byte, requestBuffer), 0
	for {
		if got == len(buf) {
			buf = append(buf, make([]byte, len(buf))...)
		}
		n, err := c.Read(buf[got:])
		if err != nil {
			return
		}
		got += n
		for {
			length, whole := firstMessage(buf[:got])
			if !whole {
				break
			}
			reply, err := r.to(buf[:length])
			if err != nil {
				return
			}
			if _, err := c.Write(reply); err != nil {
				return
			}
			got = copy(buf, buf[length:got])
		}
	}
}

// firstMessage returns the length of the message at the start of b and whether it is all there.
func firstMessage(b []byte) (int, bool) {
	if len(b) < wire.HeaderLength {
		return 0, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	return n, n >= wire.HeaderLength && n <= len(b)
}
