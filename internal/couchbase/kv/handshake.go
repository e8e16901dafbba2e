package kv

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// errorMapVersion is the newest version of the error map that this client knows.
var errorMapVersion = []byte{0, 2}

// handshake is the pipelined handshake of RFC 0048: a step does not wait for the answer to the step before, unless it depends on it. With
// PLAIN all is one round trip, with SCRAM two.
type handshake struct {
	*Conn
	bucket   string
	out      []byte
	asked    uint32 // the opaque of the last request
	answered uint32 // the opaque of the last answer
	listed   []string
	err      error // the first failure of a request; there are no answers after it
}

// shake makes the handshake. The error is a *HandshakeError.
func (c *Conn) shake(ctx context.Context, bucket string) error {
	stop := context.AfterFunc(ctx, func() { _ = c.nc.SetDeadline(past) })
	h := &handshake{Conn: c, bucket: bucket}
	err := h.run(ctx)
	if !stop() { // the context has ended
		err = errors.Join(context.Cause(ctx), err)
	}
	if err == nil {
		c.bucket = h.bucket
		return nil
	}
	var known *HandshakeError
	if errors.As(err, &known) && err == error(known) { //nolint:errorlint // a joined error is wrapped once more
		return err
	}
	return &HandshakeError{Address: c.address, Err: err}
}

// run sends the first batch and goes on from its answers.
func (h *handshake) run(ctx context.Context) error {
	h.ask(memd.OpHello, memd.HelloKey(h.config.Agent, h.config.ClientID, h.id), memd.AppendFeatures(nil, h.config.Features...))
	h.ask(memd.OpGetErrorMap, nil, errorMapVersion)
	if h.config.Login != nil {
		login, err := h.config.Login.forConnection(ctx, h.address, h.config.TLS != nil)
		if err != nil {
			return err
		}
		if err := h.login(login); err != nil {
			return err
		}
		return h.readMap()
	}
	h.askForMap()
	h.send()
	if err := h.readGreeting(); err != nil {
		return err
	}
	return h.readMap()
}

// ask adds a request to the batch.
func (h *handshake) ask(op memd.Opcode, key, value []byte) {
	h.asked++
	p := memd.Packet{Magic: memd.MagicRequest, Opcode: op, Opaque: h.asked, Key: key, Value: value}
	out, err := p.Append(h.out)
	h.out = out
	h.fail(err)
}

func (h *handshake) fail(err error) {
	if h.err == nil {
		h.err = err
	}
}

// askForMap adds the last steps to the batch.
func (h *handshake) askForMap() {
	if h.bucket == "" && h.config.LateBucket != nil {
		h.bucket = h.config.LateBucket()
	}
	if h.bucket != "" {
		h.ask(memd.OpSelectBucket, []byte(h.bucket), nil)
	}
	h.ask(memd.OpGetClusterConfig, nil, nil)
}

// send writes the batch.
func (h *handshake) send() {
	if h.err == nil {
		_, err := h.write(h.out)
		h.fail(err)
	}
	h.out = h.out[:0]
}

// answer reads the answer to the oldest request that has none. It is valid until the next one is read.
func (h *handshake) answer(op memd.Opcode) (*memd.Packet, error) {
	for {
		p, err := h.packet()
		switch {
		case err != nil:
			return nil, err
		case p.Magic == memd.MagicServerRequest: // a map that is not newer than the one that this handshake asks for
			continue
		case !p.Magic.IsResponse() || p.Opcode != op || p.Opaque != h.answered+1:
			return nil, violation("it sent a %v, %v with the opaque %#x, in place of the answer to %v", p.Magic, p.Opcode, p.Opaque, op)
		}
		h.answered++
		return &p, nil
	}
}

// packet reads one packet.
func (h *handshake) packet() (memd.Packet, error) {
	for h.err == nil {
		b, err := h.in.next()
		if err != nil {
			return memd.Packet{}, asViolation(err)
		}
		if b != nil {
			p, err := memd.Parse(b)
			return p, asViolation(err)
		}
		n, err := h.read(h.in.room())
		h.in.add(n)
		if n == 0 && err != nil {
			return memd.Packet{}, err
		}
	}
	return memd.Packet{}, h.err
}

// answerError returns the error about an answer.
func (c *Conn) answerError(p *memd.Packet, err error) error {
	return &HandshakeError{Address: c.address, Step: p.Opcode, HasStep: true, Status: p.Status, Info: memd.ParseErrorInfo(p), Err: err}
}

// readGreeting reads the answers to HELLO and GET_ERROR_MAP. Only the first must be a success.
func (h *handshake) readGreeting() error {
	p, err := h.answer(memd.OpHello)
	if err != nil {
		return err
	}
	if p.Status != memd.StatusSuccess {
		return h.answerError(p, ErrServerTooOld)
	}
	if h.features, err = memd.ParseFeatures(p.Value); err != nil {
		return asViolation(err)
	}
	if p, err = h.answer(memd.OpGetErrorMap); err != nil {
		return err
	}
	if value, err := valueOf(p); err == nil && p.Status == memd.StatusSuccess {
		h.errorMap, _ = memd.ParseErrorMap(value) // without it, unknown statuses are failures
	}
	return nil
}

// valueOf returns the value of an answer, inflated.
func valueOf(p *memd.Packet) ([]byte, error) {
	if p.DataType&memd.DataSnappy == 0 {
		return p.Value, nil
	}
	value, err := memd.Inflate(p.Value)
	return value, asViolation(err)
}

// readMap reads the answers to SELECT_BUCKET and GET_CLUSTER_CONFIG.
func (h *handshake) readMap() error {
	if h.bucket != "" {
		p, err := h.answer(memd.OpSelectBucket)
		if err != nil {
			return err
		}
		if err := bucketError(p.Status); err != nil {
			return h.answerError(p, err)
		}
	}
	p, err := h.answer(memd.OpGetClusterConfig)
	switch {
	case err != nil:
		return err
	case p.Status == memd.StatusSuccess:
		value, err := valueOf(p)
		h.firstMap = append([]byte(nil), value...)
		return err
	case h.bucket == "" && p.Status == memd.StatusNoBucket: // an old server gives no map without a bucket
		return nil
	}
	return h.answerError(p, ErrRefused)
}

// bucketError returns the error of an answer to SELECT_BUCKET.
func bucketError(s memd.Status) error {
	switch s { //nolint:exhaustive // the others are refusals without a meaning of their own
	case memd.StatusSuccess:
		return nil
	case memd.StatusKeyNotFound:
		return ErrNoBucket
	case memd.StatusAccess:
		return ErrNoAccess
	}
	return ErrRefused
}

// login sends the first batch with the login in it, and the later ones. After it the answers about bucket and map are to be read.
func (h *handshake) login(l *Login) error {
	name := l.mechanisms(h.config.TLS != nil)[0]
	h.ask(memd.OpSASLListMechanisms, nil, nil)
	for first := true; ; first = false {
		talk := h.askForLogin(l, name)
		if first {
			if err := h.readGreeting(); err != nil {
				return err
			}
			if err := h.readMechanisms(); err != nil {
				return err
			}
		}
		p, err := h.answer(memd.OpSASLAuth)
		if err != nil {
			return err
		}
		if p.Status != memd.StatusAuthError {
			return h.converse(talk, p)
		}
		refusal := h.answerError(p, ErrBadCredentials)
		other, again := l.next(name, h.config.TLS != nil, h.listed)
		if !again {
			if len(h.listed) > 0 && !slices.Contains(h.listed, name) {
				refusal = h.answerError(p, ErrNoMechanism)
			}
			return refusal
		}
		if err := h.skip(); err != nil {
			return err
		}
		name = other
	}
}

// askForLogin sends the first message of a login. PLAIN and OAUTHBEARER have no other, so the last steps follow at once.
func (h *handshake) askForLogin(l *Login, name string) *conversation {
	talk, first, err := l.begin(name)
	h.fail(err)
	h.ask(memd.OpSASLAuth, []byte(name), first)
	if talk != nil && talk.scram == nil {
		h.askForMap()
	}
	h.send()
	return talk
}

// readMechanisms reads the answer to SASL_LIST_MECHS.
func (h *handshake) readMechanisms() error {
	p, err := h.answer(memd.OpSASLListMechanisms)
	if err == nil && p.Status == memd.StatusSuccess {
		h.listed = strings.Fields(string(p.Value))
	}
	return err
}

// skip reads the answers to the requests that were sent after a login that was refused.
func (h *handshake) skip() error {
	for h.answered < h.asked {
		p, err := h.packet()
		if err != nil {
			return err
		}
		if p.Magic != memd.MagicServerRequest {
			h.answered++
		}
	}
	return nil
}

// converse goes on from the answer to the first message of a login.
func (h *handshake) converse(talk *conversation, p *memd.Packet) error {
	switch {
	case p.Status == memd.StatusSuccess && talk.scram == nil:
		return nil
	case p.Status == memd.StatusSuccess:
		return violation("it calls a login with %s successful after the first message: %w", talk.name, ErrUnprovedServer)
	case p.Status != memd.StatusAuthContinue:
		return h.answerError(p, loginError(p.Status))
	}
	second, err := talk.answer(p.Value)
	if err != nil {
		return err
	}
	h.ask(memd.OpSASLStep, []byte(talk.name), second)
	h.askForMap()
	h.send()
	if p, err = h.answer(memd.OpSASLStep); err != nil {
		return err
	}
	if p.Status != memd.StatusSuccess {
		return h.answerError(p, loginError(p.Status))
	}
	return talk.finish(p.Value)
}

// loginError returns the error of an answer to a step of the login.
func loginError(s memd.Status) error {
	if s == memd.StatusAuthError || s == memd.StatusAccess {
		return ErrBadCredentials
	}
	return ErrRefused
}
