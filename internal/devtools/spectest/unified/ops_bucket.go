package unified

import (
	"bytes"
	"context"
	"encoding/hex"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var bucketOperations = map[string]function[*mongoBucket]{
	"delete":         deleteFile,
	"download":       download,
	"downloadByName": downloadByName,
	"drop":           dropBucket,
	"find":           findFiles,
	"rename":         renameFile,
	"upload":         upload,
	"uploadWithId":   uploadWithID,
}

// source takes {$$hexBytes: "..."}.
func source(a *arguments) *bytes.Reader {
	op, operand, _ := operatorOf(a.value("source"))
	text, ok := operand.StringValueOK()
	data, err := hex.DecodeString(text)
	if op != "$$hexBytes" || !ok || err != nil {
		a.fail("the source is not {$$hexBytes: <hexadecimal digits>}")
	}
	return bytes.NewReader(data)
}

// uploadOptions drops two options that clients have no longer.
func uploadOptions(a *arguments) (*options.GridFSUploadOptionsBuilder, error) {
	opts := options.GridFSUpload()
	if v := a.optional("disableMD5"); v.Type != 0 && !v.Boolean() {
		a.fail("disableMD5: no client has MD5")
	}
	return opts, a.rest(opts)
}

func upload(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	name, from := a.text("filename"), source(a)
	opts, err := uploadOptions(a)
	if err != nil {
		return nil, err
	}
	id, err := b.UploadFromStream(ctx, name, from, opts)
	if err != nil {
		return nil, err
	}
	return id, nil
}

func uploadWithID(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	id, name, from := a.native("id"), a.text("filename"), source(a)
	opts, err := uploadOptions(a)
	if err != nil {
		return nil, err
	}
	return nil, b.UploadFromStreamWithID(ctx, id, name, from, opts)
}

// contents is a file's content as a string of BSON, which need not be UTF-8.
func contents(data []byte) (any, error) {
	return bson.RawValue{Type: bson.TypeString, Value: stringValue(data)}, nil
}

func stringValue(data []byte) []byte {
	n := len(data) + 1
	return append(append([]byte{byte(n), byte(n >> 8), byte(n >> 16), byte(n >> 24)}, data...), 0)
}

func download(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	id := a.native("id")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	var to bytes.Buffer
	if _, err := b.DownloadToStream(ctx, id, &to); err != nil {
		return nil, err
	}
	return contents(to.Bytes())
}

func downloadByName(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	name, opts := a.text("filename"), options.GridFSName()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	var to bytes.Buffer
	if _, err := b.DownloadToStreamByName(ctx, name, &to, opts); err != nil {
		return nil, err
	}
	return contents(to.Bytes())
}

func deleteFile(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	id := a.native("id")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, b.Delete(ctx, id)
}

func renameFile(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	id, name := a.native("id"), a.text("newFilename")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, b.Rename(ctx, id, name)
}

func findFiles(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	filter, opts := a.native("filter"), options.GridFSFind()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(b.Find(ctx, filter, opts))
}

func dropBucket(ctx context.Context, b *mongoBucket, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, b.Drop(ctx)
}
