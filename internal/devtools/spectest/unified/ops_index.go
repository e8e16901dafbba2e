package unified

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func createIndex(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	keys, index, opts := a.native("keys"), options.Index(), options.CreateIndexes()
	if raw := a.optional("rawData"); raw.Type != 0 { // of the command, where the others are of the index
		if err := a.run.runner.set(opts, "rawData", raw); err != nil {
			a.fail("rawData: %w", err)
		}
	}
	if err := a.rest(index); err != nil {
		return nil, err
	}
	return c.Indexes().CreateOne(ctx, mongoIndexModel{Keys: keys, Options: index}, opts)
}

func dropIndex(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	name, opts := a.text("name"), options.DropIndexes()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return nil, c.Indexes().DropOne(ctx, name, opts)
}

func dropIndexes(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	opts := options.DropIndexes()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return nil, c.Indexes().DropAll(ctx, opts)
}

func listIndexes(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	opts := options.ListIndexes()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return all(ctx)(c.Indexes().List(ctx, opts))
}

func listIndexNames(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	opts := options.ListIndexes()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	found, err := c.Indexes().ListSpecifications(ctx, opts)
	names := []string{}
	for _, index := range found {
		names = append(names, index.Name)
	}
	return names, err
}

func searchModel(doc bson.Raw) (mongoSearchIndexModel, error) {
	m, err := structOf[struct {
		Name       string   `bson:"name"`
		Type       string   `bson:"type"`
		Definition bson.Raw `bson:"definition"`
	}](documentValue(doc))
	model := mongoSearchIndexModel{Definition: m.Definition, Options: options.SearchIndexes()}
	if m.Name != "" {
		model.Options.SetName(m.Name)
	}
	if m.Type != "" {
		model.Options.SetType(m.Type)
	}
	return model, err
}

func createSearchIndex(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	model, err := searchModel(a.document("model"))
	if err != nil {
		a.fail("model: %w", err)
	}
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return c.SearchIndexes().CreateOne(ctx, model)
}

func createSearchIndexes(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	models := []mongoSearchIndexModel{}
	for _, doc := range a.documents("models") {
		model, err := searchModel(doc)
		if err != nil {
			a.fail("models: %w", err)
		}
		models = append(models, model)
	}
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return c.SearchIndexes().CreateMany(ctx, models)
}

func dropSearchIndex(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	name := a.text("name")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, c.SearchIndexes().DropOne(ctx, name)
}

func updateSearchIndex(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	name, definition := a.text("name"), a.document("definition")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, c.SearchIndexes().UpdateOne(ctx, name, definition)
}

func listSearchIndexes(ctx context.Context, c *mongoCollection, a *arguments) (any, error) {
	which, opts := options.SearchIndexes(), new(options.ListSearchIndexesOptionsBuilder)
	if name, ok := a.optional("name").StringValueOK(); ok {
		which.SetName(name)
	}
	if v := a.optional("aggregationOptions"); v.Type != 0 {
		aggregation := options.Aggregate()
		if err := setAll(aggregation, v); err != nil {
			a.fail("aggregationOptions: %w", err)
		}
		opts.Opts = append(opts.Opts, func(o *options.ListSearchIndexesOptions) error {
			o.AggregateOptions = new(options.AggregateOptions)
			for _, set := range aggregation.Opts {
				if err := set(o.AggregateOptions); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return all(ctx)(c.SearchIndexes().List(ctx, which, opts))
}
