package mongo_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// A file is found by its name, and by its metadata. Two files may have one name: they are its revisions.
func ExampleGridFSBucket() {
	_, client, end := run()
	defer end()
	ctx := context.Background()
	files := client.Database("app").GridFSBucket()

	for _, text := range []string{"first draft", "second draft"} {
		_, err := files.UploadFromStream(ctx, "letter.txt", strings.NewReader(text),
			options.GridFSUpload().SetMetadata(bson.D{{Key: "author", Value: "Ada"}}))
		check(err)
	}
	_, err := files.DownloadToStreamByName(ctx, "letter.txt", os.Stdout, options.GridFSName().SetRevision(0))
	check(err)
	fmt.Println()

	cursor, err := files.Find(ctx, bson.D{{Key: "metadata.author", Value: "Ada"}})
	check(err)
	var found []mongo.GridFSFile
	check(cursor.All(ctx, &found))
	for _, file := range found {
		fmt.Println(file.Name, file.Length)
	}
	// Output:
	// first draft
	// letter.txt 11
	// letter.txt 12
}

// The file is there when Close has returned without an error.
func ExampleGridFSUploadStream() {
	_, client, end := run()
	defer end()
	files := client.Database("app").GridFSBucket()

	upload, err := files.OpenUploadStreamWithID(context.Background(), "report-7", "report.csv")
	check(err)
	for i := range 3 {
		_, err := fmt.Fprintf(upload, "%d,%d\n", i, i*i)
		check(err)
	}
	if err := upload.Close(); err != nil {
		check(upload.Abort()) // deletes what was sent
	}
	fmt.Println(upload.FileID)
	// Output: report-7
}

// A part of a file is read without the rest.
func ExampleGridFSDownloadStream() {
	_, client, end := run()
	defer end()
	ctx := context.Background()
	files := client.Database("app").GridFSBucket()
	id, err := files.UploadFromStream(ctx, "letters.txt", bytes.NewReader([]byte("abcdefghij")))
	check(err)

	download, err := files.OpenDownloadStream(ctx, id)
	check(err)
	defer download.Close()
	_, err = download.Skip(3)
	check(err)
	part, err := io.ReadAll(io.LimitReader(download, 4))
	fmt.Println(string(part), "of", download.GetFile().Length, err)
	// Output: defg of 10 <nil>
}
