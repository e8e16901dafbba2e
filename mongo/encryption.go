package mongo

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// ClientEncryption has the methods of the official type, so that programs compile. Holdfast does not support client-side
// encryption: NewClientEncryption and all methods return an error that says so.
type ClientEncryption struct{}

// NewClientEncryption returns an error: Holdfast does not support client-side encryption.
func NewClientEncryption(*Client, ...options.Lister[options.ClientEncryptionOptions]) (*ClientEncryption, error) {
	return nil, unsupported("NewClientEncryption")
}

// AddKeyAltName returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) AddKeyAltName(context.Context, bson.Binary, string) *SingleResult {
	return &SingleResult{err: unsupported("ClientEncryption.AddKeyAltName")}
}

// Close returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) Close(context.Context) error { return unsupported("ClientEncryption.Close") }

// CreateDataKey returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) CreateDataKey(
	context.Context, string, ...options.Lister[options.DataKeyOptions],
) (bson.Binary, error) {
	return bson.Binary{}, unsupported("ClientEncryption.CreateDataKey")
}

// CreateEncryptedCollection returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) CreateEncryptedCollection(
	context.Context, *Database, string, options.Lister[options.CreateCollectionOptions], string, any,
) (*Collection, bson.M, error) {
	return nil, nil, unsupported("ClientEncryption.CreateEncryptedCollection")
}

// Decrypt returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) Decrypt(context.Context, bson.Binary) (bson.RawValue, error) {
	return bson.RawValue{}, unsupported("ClientEncryption.Decrypt")
}

// DeleteKey returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) DeleteKey(context.Context, bson.Binary) (*DeleteResult, error) {
	return nil, unsupported("ClientEncryption.DeleteKey")
}

// Encrypt returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) Encrypt(
	context.Context, bson.RawValue, ...options.Lister[options.EncryptOptions],
) (bson.Binary, error) {
	return bson.Binary{}, unsupported("ClientEncryption.Encrypt")
}

// EncryptExpression returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) EncryptExpression(context.Context, any, any, ...options.Lister[options.EncryptOptions]) error {
	return unsupported("ClientEncryption.EncryptExpression")
}

// GetKey returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) GetKey(context.Context, bson.Binary) *SingleResult {
	return &SingleResult{err: unsupported("ClientEncryption.GetKey")}
}

// GetKeyByAltName returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) GetKeyByAltName(context.Context, string) *SingleResult {
	return &SingleResult{err: unsupported("ClientEncryption.GetKeyByAltName")}
}

// GetKeys returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) GetKeys(context.Context) (*Cursor, error) {
	return nil, unsupported("ClientEncryption.GetKeys")
}

// RemoveKeyAltName returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) RemoveKeyAltName(context.Context, bson.Binary, string) *SingleResult {
	return &SingleResult{err: unsupported("ClientEncryption.RemoveKeyAltName")}
}

// RewrapManyDataKey returns an error: Holdfast does not support client-side encryption.
func (*ClientEncryption) RewrapManyDataKey(
	context.Context, any, ...options.Lister[options.RewrapManyDataKeyOptions],
) (*RewrapManyDataKeyResult, error) {
	return nil, unsupported("ClientEncryption.RewrapManyDataKey")
}
