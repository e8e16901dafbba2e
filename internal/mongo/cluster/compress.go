package cluster

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// codecs are the codecs of one cluster. A connection holds one only while it compresses or decompresses a message, so
// there are as many as are used at the same time. Each cluster has its own because a codec that was used in a synctest bubble
// must not leave it.
type codecs struct{ pool sync.Pool }

// newCodecs returns nil if the client offers no compressor.
func newCodecs(cfg *Config) *codecs {
	if len(cfg.Handshake.Compressors) == 0 {
		return nil
	}
	return &codecs{sync.Pool{New: func() any { return &wire.Codec{ZlibLevel: cfg.ZlibLevel, ZstdLevel: cfg.ZstdLevel} }}}
}

// compression is the compression of one connection (wire compression specification). The zero value compresses nothing.
type compression struct {
	codecs     *codecs         // nil if the client offers no compressor
	with       wire.Compressor // the negotiated one
	out        []byte          // the last message that was compressed
	in         []byte          // the last reply that was decompressed
	compressed bool            // the last reply
}

// negotiate chooses the first compressor of the client that the server has too.
func (c *compression) negotiate(client, server []string) {
	for _, name := range client {
		if slices.Contains(server, name) {
			c.with, _ = wire.CompressorNamed(name)
			return
		}
	}
}

// compress returns the message as it is sent: compressed, if a compressor was negotiated and the command permits it.
func (c *compression) compress(message []byte) ([]byte, error) {
	if c.with == wire.NoCompressor || !wire.MayCompress(wire.CommandName(message)) {
		return message, nil
	}
	codec := c.codecs.pool.Get().(*wire.Codec)
	defer c.codecs.pool.Put(codec)
	out, err := codec.Compress(c.out[:0], message, c.with)
	if err != nil {
		return nil, err
	}
	c.out = out
	return out, nil
}

// decompress returns the message inside an OP_COMPRESSED, and any other message unchanged. A server may use each compressor
// that the client offered, but none if it offered none. It ends with ctx.
func (c *compression) decompress(ctx context.Context, message []byte, limit int) ([]byte, error) {
	h, err := wire.ParseHeader(message)
	c.compressed = err == nil && h.OpCode == wire.OpCompressed
	switch {
	case err != nil:
		return nil, err
	case !c.compressed:
		return message, nil
	case c.codecs == nil:
		return nil, fmt.Errorf("%w: a compressed reply, but the client offered no compressor", wire.ErrMalformed)
	}
	codec := c.codecs.pool.Get().(*wire.Codec)
	defer c.codecs.pool.Put(codec)
	inner, _, err := codec.DecompressContext(ctx, c.in[:0], message, limit)
	if err != nil {
		return nil, err
	}
	c.in = inner
	return inner, nil
}

// dropLargeBuffers drops the buffers that a large message has grown.
func (c *compression) dropLargeBuffers() {
	if cap(c.out) > largebuffer.Least {
		c.out = nil
	}
	if cap(c.in) > largebuffer.Least {
		c.in = nil
	}
}
