// Command golang plays the scenario with the official Go driver: version 2, or with the build tag mongo_driver_v1 version 1.
package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

func main() {
	if err := play(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func play() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := connect(ctx, os.Getenv("MONGODB_URI"))
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	db := client.Database("interop")
	for _, step := range []struct {
		name string
		run  func(context.Context, *Database) error
	}{
		{"crud", crud},
		{"cursor", cursor},
		{"transaction", transaction},
		{"change stream", changeStream},
		{"lost reply", lostReply},
		{"fail-over", failOver},
	} {
		if err := step.run(ctx, db); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Println("ok", step.name)
	}
	return nil
}

// outcome gathers what went wrong in a step; after the first error the rest of the step is not looked at.
type outcome struct{ err error }

func (o *outcome) must(err error) {
	if o.err == nil {
		o.err = err
	}
}

// expect compares what an operation gave with what it should have given.
func expect[T comparable](o *outcome, what string, got, want T) {
	if o.err == nil && got != want {
		o.err = fmt.Errorf("%s: %v; want %v", what, got, want)
	}
}

type item struct {
	ID   int    `bson:"_id"`
	Kind string `bson:"kind,omitempty"`
	Name string `bson:"name,omitempty"`
	N    int    `bson:"n"`
}

func byID(id any) D { return D{{Key: "_id", Value: id}} }

func set(fields D) D { return D{{Key: "$set", Value: fields}} }

func increment(by int) D { return D{{Key: "$inc", Value: D{{Key: "n", Value: by}}}} }

func kind(name string) D { return D{{Key: "kind", Value: name}} }
