package shop

import (
	"context"
	"encoding/base64"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Change is one change of an order. A feed that begins after its token goes on with the next change.
type Change struct {
	Token string `json:"token"`
	Kind  string `json:"kind"`
	Order Order  `json:"order"`
}

// Feed calls each with the changes of all orders, in order, until ctx ends or each returns an error. If after is not empty,
// the feed begins after the change with that token. ready is called when no later change can be missed.
func (s *Store) Feed(ctx context.Context, after string, ready func(), each func(Change) error) error {
	o := options.ChangeStream().SetFullDocument(options.UpdateLookup)
	if after != "" {
		token, err := base64.RawURLEncoding.DecodeString(after)
		if err != nil {
			return err
		}
		o.SetResumeAfter(bson.Raw(token))
	}
	stream, err := s.orders.Watch(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "operationType", Value: bson.D{{Key: "$in", Value: bson.A{"insert", "update"}}}}}}},
	}, o)
	if err != nil {
		return err
	}
	ready()
	for stream.Next(ctx) {
		var event struct {
			OperationType string `bson:"operationType"`
			FullDocument  Order  `bson:"fullDocument"`
		}
		err := stream.Decode(&event)
		if err == nil {
			token := base64.RawURLEncoding.EncodeToString(stream.ResumeToken())
			err = each(Change{Token: token, Kind: event.OperationType, Order: event.FullDocument})
		}
		if err != nil {
			return errors.Join(err, stream.Close(ctx))
		}
	}
	return errors.Join(stream.Err(), stream.Close(context.WithoutCancel(ctx)))
}
