package languages

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/binary"
	"encoding/hex"
	"hash"
)

// plaintext decrypts what a client sends on a connection with TLS 1.3 (RFC 8446, sections 5 and 7), with the secret that the server's key log
// tells. So the test reads the first message of a connection whose two ends are the driver and the router.
type plaintext struct {
	opener cipher.AEAD // nil until the key log has told the secret
	iv     []byte
	opened uint64 // records
	wire   []byte // what came and was not decrypted yet
}

const (
	recordHeader    = 5
	applicationData = 23
)

// Write implements [io.Writer]: it takes the lines of [tls.Config.KeyLogWriter].
func (p *plaintext) Write(line []byte) (int, error) {
	words := bytes.Fields(line)
	if len(words) != 3 || string(words[0]) != "CLIENT_TRAFFIC_SECRET_0" {
		return len(line), nil
	}
	secret, err := hex.DecodeString(string(words[2]))
	if err != nil {
		return 0, err
	}
	return len(line), p.use(secret)
}

// use makes the key from the secret, whose length tells the cipher suite: TLS_AES_128_GCM_SHA256 or TLS_AES_256_GCM_SHA384. A processor without
// AES, which would have another one, runs no CI.
func (p *plaintext) use(secret []byte) error {
	hash, size := sha256.New, 16
	if len(secret) == sha512.Size384 {
		hash, size = sha512.New384, 32
	}
	key, err := expand(hash, secret, "key", size)
	if err != nil {
		return err
	}
	if p.iv, err = expand(hash, secret, "iv", 12); err != nil {
		return err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return err
	}
	p.opener, err = cipher.NewGCM(block)
	return err
}

// expand is HKDF-Expand-Label with an empty context.
func expand(h func() hash.Hash, secret []byte, label string, size int) ([]byte, error) {
	info := binary.BigEndian.AppendUint16(nil, uint16(size))
	info = append(info, byte(len("tls13 "+label)))
	info = append(info, "tls13 "+label+"\x00"...)
	return hkdf.Expand(h, secret, string(info), size)
}

// came returns the bytes that the program has sent in what came. A record that does not open belongs to the TLS handshake.
func (p *plaintext) came(b []byte) (sent []byte) {
	p.wire = append(p.wire, b...)
	for len(p.wire) >= recordHeader {
		size := recordHeader + int(binary.BigEndian.Uint16(p.wire[3:]))
		if len(p.wire) < size {
			break
		}
		if p.wire[0] == applicationData && p.opener != nil {
			sent = append(sent, p.open(p.wire[:size])...)
		}
		p.wire = p.wire[size:]
	}
	return sent
}

func (p *plaintext) open(record []byte) []byte {
	nonce := bytes.Clone(p.iv)
	for i, b := range binary.BigEndian.AppendUint64(nil, p.opened) {
		nonce[len(nonce)-8+i] ^= b
	}
	inner, err := p.opener.Open(nil, nonce, record[recordHeader:], record[:recordHeader])
	if err != nil {
		return nil
	}
	p.opened++
	inner = bytes.TrimRight(inner, "\x00") // padding
	if inner[len(inner)-1] != applicationData {
		return nil
	}
	return inner[:len(inner)-1]
}
