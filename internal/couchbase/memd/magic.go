package memd

import "fmt"

// Magic is the first byte of a packet. It names the kind of the packet and the layout of its header.
type Magic byte

// The magics. The flexible ones have framing extras, and one byte for the length of the key instead of two.
const (
	MagicRequest          Magic = 0x80
	MagicResponse         Magic = 0x81
	MagicServerRequest    Magic = 0x82 // the server asks or tells
	MagicServerResponse   Magic = 0x83
	MagicFlexibleRequest  Magic = 0x08
	MagicFlexibleResponse Magic = 0x18
)

func (m Magic) String() string {
	switch m {
	case MagicRequest:
		return "request"
	case MagicResponse:
		return "response"
	case MagicServerRequest:
		return "server request"
	case MagicServerResponse:
		return "server response"
	case MagicFlexibleRequest:
		return "flexible request"
	case MagicFlexibleResponse:
		return "flexible response"
	}
	return fmt.Sprintf("magic %#02x", byte(m))
}

func (m Magic) known() bool {
	switch m {
	case MagicRequest, MagicResponse, MagicServerRequest, MagicServerResponse, MagicFlexibleRequest, MagicFlexibleResponse:
		return true
	}
	return false
}

func (m Magic) flexible() bool { return m == MagicFlexibleRequest || m == MagicFlexibleResponse }

// IsResponse reports whether the packet is a response, so that its header has a status instead of a vbucket.
func (m Magic) IsResponse() bool {
	return m == MagicResponse || m == MagicFlexibleResponse || m == MagicServerResponse
}
