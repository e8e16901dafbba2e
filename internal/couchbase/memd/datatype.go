package memd

// DataType says how a value is encoded. It is a set of bits.
type DataType byte

// The bits of a data type.
const (
	DataJSON   DataType = 0x01 // the value is JSON
	DataSnappy DataType = 0x02 // the value is compressed
	DataXattr  DataType = 0x04 // the value begins with extended attributes
)
