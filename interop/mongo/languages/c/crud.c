#include "scenario.h"

static bson_t *item(int id, const char *kind, const char *name, int n) {
  return BCON_NEW("_id", BCON_INT32(id), "kind", kind, "name", name, "n", BCON_INT32(n));
}

static bson_t *increment(int by) { return BCON_NEW("$inc", "{", "n", BCON_INT32(by), "}"); }

static void insert_many(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t reply;
  bson_t *docs[] = {item(2, "fruit", "pear", 2), item(3, "fruit", "plum", 3), item(4, "vegetable", "leek", 4),
                    item(5, "vegetable", "kale", 5)};
  must(mongoc_collection_insert_many(c, (const bson_t **)docs, 4, NULL, &reply, &error), "insertMany", &error);
  expect("inserted", number(&reply, "insertedCount"), 4);
  bson_destroy(&reply);
  for (int i = 0; i < 4; i++) {
    bson_destroy(docs[i]);
  }
}

static void upsert(mongoc_collection_t *c) {
  bson_t reply;
  bson_iter_t it;
  bson_t *opts = BCON_NEW("upsert", BCON_BOOL(true));
  update(c, 6, BCON_NEW("$set", "{", "kind", "vegetable", "name", "beet", "n", BCON_INT32(6), "}"), opts, &reply);
  expect("there is an upsertedId", bson_iter_init_find(&it, &reply, "upsertedId"), true);
  expect("upserted _id", bson_iter_as_int64(&it), 6);
  bson_destroy(&reply);
  bson_destroy(opts);
}

static void write_one(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t reply;
  insert(c, item(1, "fruit", "apple", 1), NULL);
  insert_many(c);
  update(c, 1, increment(10), NULL, &reply);
  expect("modified by the update", number(&reply, "modifiedCount"), 1);
  bson_destroy(&reply);
  upsert(c);

  bson_t *filter = BCON_NEW("_id", BCON_INT32(2));
  bson_t *quince = item(2, "fruit", "quince", 2);
  must(mongoc_collection_replace_one(c, filter, quince, NULL, &reply, &error), "replaceOne", &error);
  expect("replaced", number(&reply, "modifiedCount"), 1);
  bson_destroy(&reply);
  bson_destroy(quince);
  bson_destroy(filter);

  filter = BCON_NEW("_id", BCON_INT32(5));
  must(mongoc_collection_delete_one(c, filter, NULL, &reply, &error), "deleteOne", &error);
  expect("deleted", number(&reply, "deletedCount"), 1);
  bson_destroy(&reply);
  bson_destroy(filter);
}

static void expect_kinds(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t reply, kinds;
  bson_iter_t it;
  uint32_t len;
  const uint8_t *data;
  bson_t *command = BCON_NEW("distinct", mongoc_collection_get_name(c), "key", "kind");
  must(mongoc_collection_read_command_with_opts(c, command, NULL, NULL, &reply, &error), "distinct", &error);
  expect("there are values", bson_iter_init_find(&it, &reply, "values") && BSON_ITER_HOLDS_ARRAY(&it), true);
  bson_iter_array(&it, &len, &data);
  bson_init_static(&kinds, data, len);
  expect_doc("kinds", &kinds, BCON_NEW("0", "fruit", "1", "vegetable"));
  bson_destroy(&reply);
  bson_destroy(command);
}

static void expect_groups(mongoc_collection_t *c) {
  bson_error_t error;
  const bson_t *doc;
  bson_t *pipeline = BCON_NEW("pipeline", "[", "{", "$group", "{", "_id", "$kind", "n", "{", "$sum", "$n", "}", "}", "}",
                              "{", "$sort", "{", "_id", BCON_INT32(1), "}", "}", "]");
  mongoc_cursor_t *groups = mongoc_collection_aggregate(c, MONGOC_QUERY_NONE, pipeline, NULL, NULL);
  expect("there is a first group", mongoc_cursor_next(groups, &doc), true);
  expect_doc("the first group", doc, BCON_NEW("_id", "fruit", "n", BCON_INT32(16)));
  expect("there is a second group", mongoc_cursor_next(groups, &doc), true);
  expect_doc("the second group", doc, BCON_NEW("_id", "vegetable", "n", BCON_INT32(10)));
  expect("there is a third group", mongoc_cursor_next(groups, &doc), false);
  must(!mongoc_cursor_error(groups, &error), "aggregate", &error);
  mongoc_cursor_destroy(groups);
  bson_destroy(pipeline);
}

static void write_many(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t reply;
  bson_t *dill = item(7, "herb", "dill", 7);
  bson_t *its_id = BCON_NEW("_id", BCON_INT32(7));
  bson_t *seventy = BCON_NEW("$set", "{", "n", BCON_INT32(70), "}");
  bson_t *fruit = BCON_NEW("kind", "fruit");
  bson_t *more = increment(1);
  bson_t *leek = BCON_NEW("_id", BCON_INT32(4));
  mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(c, NULL);
  must(mongoc_bulk_operation_insert_with_opts(bulk, dill, NULL, &error), "bulk", &error);
  must(mongoc_bulk_operation_update_one_with_opts(bulk, its_id, seventy, NULL, &error), "bulk", &error);
  must(mongoc_bulk_operation_update_many_with_opts(bulk, fruit, more, NULL, &error), "bulk", &error);
  must(mongoc_bulk_operation_remove_one_with_opts(bulk, leek, NULL, &error), "bulk", &error);
  must(mongoc_bulk_operation_execute(bulk, &reply, &error) != 0, "bulkWrite", &error);
  expect("bulk: inserted", number(&reply, "nInserted"), 1);
  expect("bulk: modified", number(&reply, "nModified"), 4);
  expect("bulk: deleted", number(&reply, "nRemoved"), 1);
  mongoc_bulk_operation_destroy(bulk);
  bson_t *all[] = {&reply, dill, its_id, seventy, fruit, more, leek};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    bson_destroy(all[i]);
  }
}

static void find_and_update(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t reply, after;
  bson_iter_t it;
  uint32_t len;
  const uint8_t *data;
  bson_t *filter = BCON_NEW("_id", BCON_INT32(6));
  bson_t *more = increment(1);
  mongoc_find_and_modify_opts_t *opts = mongoc_find_and_modify_opts_new();
  mongoc_find_and_modify_opts_set_update(opts, more);
  mongoc_find_and_modify_opts_set_flags(opts, MONGOC_FIND_AND_MODIFY_RETURN_NEW);
  must(mongoc_collection_find_and_modify_with_opts(c, filter, opts, &reply, &error), "findOneAndUpdate", &error);
  expect("there is a value", bson_iter_init_find(&it, &reply, "value") && BSON_ITER_HOLDS_DOCUMENT(&it), true);
  bson_iter_document(&it, &len, &data);
  bson_init_static(&after, data, len);
  expect_doc("updated", &after, BCON_NEW("_id", BCON_INT32(6), "kind", "vegetable", "n", BCON_INT32(7), "name", "beet"));
  mongoc_find_and_modify_opts_destroy(opts);
  bson_destroy(&reply);
  bson_destroy(filter);
  bson_destroy(more);
}

static void insert_again(mongoc_collection_t *c) {
  bson_error_t error;
  bson_t *again = item(1, "fruit", "apple again", 1);
  expect("inserting an _id twice", mongoc_collection_insert_one(c, again, NULL, NULL, &error), false);
  expect("the code of a duplicate key", error.code, MONGOC_ERROR_DUPLICATE_KEY);
  bson_destroy(again);
}

void crud(mongoc_client_t *client) {
  mongoc_collection_t *c = mongoc_client_get_collection(client, "interop", "crud");
  write_one(c);
  expect_one(c, "found", 3, NULL, item(3, "fruit", "plum", 3));
  expect_count(c, "fruit", BCON_NEW("kind", "fruit"), 3);
  expect_kinds(c);
  expect_groups(c);
  write_many(c);
  find_and_update(c);
  insert_again(c);
  mongoc_collection_destroy(c);
}
