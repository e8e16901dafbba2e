// Package bsoncodec encodes Go values as BSON documents and decodes documents into Go values. It does the same as
// [bson.Marshal] and [bson.Unmarshal] with their default registry, in less time.
//
// For each Go type it makes one decoder and one encoder, which it keeps. The decoders and the encoders know the common
// types: structs, pointers, slices, arrays, maps with string keys, interfaces, numbers, strings, times, and the types of
// package bson. They leave a value of another type, or a value that does not have the expected BSON type, to the general
// codec of package bson. Only this value takes the slower way, not the whole document. A struct whose tags need the
// general codec (an inline map, two fields with one name, truncate on a field that is not a number) takes it as a
// whole.
//
// The results are those of package bson, errors included, except where package bson could overflow the stack: a document
// with more than 10,000 levels, a Go value that contains itself or has more than 10,000 levels, and a malformed document
// of more than a megabyte are errors. Servers refuse more than 200 levels. A Go value that the general codec encodes as a
// whole is not protected.
//
// All functions are safe for concurrent use. A [Decoder] is not.
//
// # Not obvious
//
//   - A handle with a registry or BSON options uses the official codec. All others use internal/mongo/bsoncodec, which keeps an
//     encoder and a decoder for each Go type. It gives only the values that it does not know to the official codec, never the
//     whole document if it can avoid it, and the errors are always those of the official codec. Its tests compare the two on
//     random values of random types.
//   - The decoders of bsoncodec do no checks of lengths: check.go walks over a document first. So a malformed document changes no
//     target before the official codec gets it.
//
// # Files
//
// Begin with encode.go, decode.go. Then cache.go, fields.go (struct tags), check.go (lengths and depth of a document), memory.go
// (what a decoder remembers), general.go (the official codec).
package bsoncodec
