package shop

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Add adds a product. It returns an error for which mongo.IsDuplicateKeyError reports true if there is one with the SKU
// or the name.
func (s *Store) Add(ctx context.Context, p Product) error {
	p.Version = 1
	_, err := s.products.InsertOne(ctx, p)
	return err
}

// Product returns a product, or mongo.ErrNoDocuments.
func (s *Store) Product(ctx context.Context, sku string) (Product, error) {
	var p Product
	err := s.products.FindOne(ctx, bson.D{{Key: "_id", Value: sku}}).Decode(&p)
	return p, err
}

// Page is one page of the catalogue. Next is the SKU after which the next page begins, empty at the end.
type Page struct {
	Products []Product `json:"products"`
	Total    int64     `json:"total"`
	Next     string    `json:"next,omitempty"`
}

// List returns a page of a category, or of all products if category is empty, in the order of the SKUs.
func (s *Store) List(ctx context.Context, category, after string, size int64) (Page, error) {
	filter := bson.D{}
	if category != "" {
		filter = append(filter, bson.E{Key: "category", Value: category})
	}
	total, err := s.products.CountDocuments(ctx, filter)
	if err != nil {
		return Page{}, err
	}
	if after != "" {
		filter = append(filter, bson.E{Key: "_id", Value: bson.D{{Key: "$gt", Value: after}}})
	}
	cursor, err := s.products.Find(ctx, filter, options.Find().SetSort(bson.D{{Key: "_id", Value: 1}}).SetLimit(size+1))
	if err != nil {
		return Page{}, err
	}
	page := Page{Total: total, Products: []Product{}}
	if err := cursor.All(ctx, &page.Products); err != nil {
		return Page{}, err
	}
	if int64(len(page.Products)) > size {
		page.Products = page.Products[:size]
		page.Next = page.Products[size-1].SKU
	}
	return page, nil
}

// ErrStale is the error of a change to a version of a product that is not the current one.
var ErrStale = errors.New("the product has changed since it was read")

// Reprice changes the price of one version of a product and returns the product after that.
func (s *Store) Reprice(ctx context.Context, sku string, version, cents int64) (Product, error) {
	var p Product
	err := s.products.FindOneAndUpdate(ctx,
		bson.D{{Key: "_id", Value: sku}, {Key: "version", Value: version}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "cents", Value: cents}}}, {Key: "$inc", Value: bson.D{{Key: "version", Value: 1}}}},
		options.FindOneAndUpdate().SetReturnDocument(options.After)).Decode(&p)
	if !errors.Is(err, mongo.ErrNoDocuments) {
		return p, err
	}
	if _, err := s.Product(ctx, sku); err != nil {
		return p, err
	}
	return p, ErrStale
}

// Discontinue removes a product and returns it.
func (s *Store) Discontinue(ctx context.Context, sku string) (Product, error) {
	var p Product
	err := s.products.FindOneAndDelete(ctx, bson.D{{Key: "_id", Value: sku}}).Decode(&p)
	return p, err
}

// Categories returns the names of the categories.
func (s *Store) Categories(ctx context.Context) ([]string, error) {
	names := []string{}
	err := s.products.Distinct(ctx, "category", bson.D{}).Decode(&names)
	return names, err
}

// Imported is the result of an import. Refused has the number of each product that was not imported, with the reason.
type Imported struct {
	Added   int64          `json:"added"`
	Changed int64          `json:"changed"`
	Refused map[int]string `json:"refused,omitempty"`
}

// Import adds products and replaces those that exist. One that the database refuses does not stop the others.
func (s *Store) Import(ctx context.Context, products []Product) (Imported, error) {
	models := make([]mongo.WriteModel, len(products))
	for i, p := range products {
		change := bson.D{
			{Key: "$set", Value: bson.D{
				{Key: "name", Value: p.Name},
				{Key: "category", Value: p.Category},
				{Key: "tags", Value: p.Tags},
				{Key: "cents", Value: p.Cents},
				{Key: "stock", Value: p.Stock},
			}},
			{Key: "$inc", Value: bson.D{{Key: "version", Value: 1}}},
		}
		models[i] = mongo.NewUpdateOneModel().SetFilter(bson.D{{Key: "_id", Value: p.SKU}}).SetUpdate(change).SetUpsert(true)
	}
	result, err := s.products.BulkWrite(ctx, models, options.BulkWrite().SetOrdered(false))
	imported := Imported{}
	var failed mongo.BulkWriteException
	if errors.As(err, &failed) && failed.WriteConcernError == nil {
		imported.Refused = make(map[int]string)
		for _, e := range failed.WriteErrors {
			imported.Refused[e.Index] = fmt.Sprintf("code %d", e.Code)
		}
		err = nil
	}
	if result != nil {
		imported.Added, imported.Changed = result.UpsertedCount, result.ModifiedCount
	}
	return imported, err
}

// Discount lowers the price of all products of a category by a percentage and returns their number.
func (s *Store) Discount(ctx context.Context, category string, percent int) (int64, error) {
	factor := bson.D{{Key: "$divide", Value: bson.A{100 - percent, 100}}}
	lower := bson.D{{Key: "$toLong", Value: bson.D{{Key: "$multiply", Value: bson.A{"$cents", factor}}}}}
	result, err := s.products.UpdateMany(ctx, bson.D{{Key: "category", Value: category}},
		mongo.Pipeline{{{Key: "$set", Value: bson.D{{Key: "cents", Value: lower}}}}})
	if err != nil {
		return 0, err
	}
	return result.ModifiedCount, nil
}
