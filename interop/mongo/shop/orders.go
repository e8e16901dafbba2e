package shop

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// The states of an order.
const (
	placed    = "placed"
	cancelled = "cancelled"
)

// ErrSoldOut is the error of an order for more than there is.
var ErrSoldOut = errors.New("sold out")

// Place takes the lines of an order from the stock and stores the order, or does nothing.
func (s *Store) Place(ctx context.Context, customer string, lines []Line) (Order, error) {
	order := Order{ID: bson.NewObjectID(), Customer: customer, State: placed, Created: time.Now().UTC().Truncate(time.Millisecond)}
	err := s.inTransaction(ctx, func(ctx context.Context) error {
		order.Lines, order.Cents = nil, 0
		for _, line := range lines {
			p, err := s.take(ctx, line.SKU, line.Quantity)
			if err != nil {
				return err
			}
			line.Cents = p.Cents * line.Quantity
			order.Lines, order.Cents = append(order.Lines, line), order.Cents+line.Cents
		}
		_, err := s.orders.InsertOne(ctx, order)
		return err
	})
	return order, err
}

func (s *Store) take(ctx context.Context, sku string, quantity int64) (Product, error) {
	var p Product
	err := s.products.FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: sku}, {Key: "stock", Value: bson.D{{Key: "$gte", Value: quantity}}}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: "stock", Value: -quantity}}}}).Decode(&p)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return p, ErrSoldOut
	}
	return p, err
}

// Cancel cancels an order and puts its lines back into the stock. It returns mongo.ErrNoDocuments if there is no such order that
// is placed.
func (s *Store) Cancel(ctx context.Context, id bson.ObjectID) error {
	return s.inTransaction(ctx, func(ctx context.Context) error {
		var order Order
		err := s.orders.FindOneAndUpdate(ctx,
			bson.D{{Key: "_id", Value: id}, {Key: "state", Value: placed}},
			bson.D{{Key: "$set", Value: bson.D{{Key: "state", Value: cancelled}}}}).Decode(&order)
		if err != nil {
			return err
		}
		models := make([]mongo.WriteModel, len(order.Lines))
		for i, line := range order.Lines {
			models[i] = mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: line.SKU}}).
				SetUpdate(bson.D{{Key: "$inc", Value: bson.D{{Key: "stock", Value: line.Quantity}}}})
		}
		_, err = s.products.BulkWrite(ctx, models)
		return err
	})
}

func (s *Store) inTransaction(ctx context.Context, f func(context.Context) error) error {
	session, err := s.client.StartSession()
	if err != nil {
		return err
	}
	defer session.EndSession(ctx)
	_, err = session.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, f(ctx) })
	return err
}

// OrdersOf returns the latest orders of a customer.
func (s *Store) OrdersOf(ctx context.Context, customer string, most int64) ([]Order, error) {
	cursor, err := s.orders.Find(ctx, bson.D{{Key: "customer", Value: customer}},
		options.Find().SetSort(bson.D{{Key: "created", Value: -1}, {Key: "_id", Value: -1}}).SetLimit(most))
	if err != nil {
		return nil, err
	}
	orders := []Order{}
	for cursor.Next(ctx) {
		var o Order
		if err := cursor.Decode(&o); err != nil {
			return nil, errors.Join(err, cursor.Close(ctx))
		}
		orders = append(orders, o)
	}
	return orders, errors.Join(cursor.Err(), cursor.Close(ctx))
}

// Revenue is a row of the report.
type Revenue struct {
	Category string `bson:"_id" json:"category"`
	Cents    int64  `bson:"cents" json:"cents"`
	Items    int64  `bson:"items" json:"items"`
}

// Report returns the revenue of each category, the greatest first.
func (s *Store) Report(ctx context.Context) ([]Revenue, error) {
	cursor, err := s.orders.Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: bson.D{{Key: "state", Value: placed}}}},
		{{Key: "$unwind", Value: "$lines"}},
		{{Key: "$lookup", Value: bson.D{
			{Key: "from", Value: s.products.Name()},
			{Key: "localField", Value: "lines.sku"},
			{Key: "foreignField", Value: "_id"},
			{Key: "as", Value: "product"},
		}}},
		{{Key: "$unwind", Value: "$product"}},
		{{Key: "$group", Value: bson.D{
			{Key: "_id", Value: "$product.category"},
			{Key: "cents", Value: bson.D{{Key: "$sum", Value: "$lines.cents"}}},
			{Key: "items", Value: bson.D{{Key: "$sum", Value: "$lines.quantity"}}},
		}}},
		{{Key: "$sort", Value: bson.D{{Key: "cents", Value: -1}, {Key: "_id", Value: 1}}}},
	}, options.Aggregate().SetAllowDiskUse(true))
	if err != nil {
		return nil, err
	}
	rows := []Revenue{}
	err = cursor.All(ctx, &rows)
	return rows, err
}
