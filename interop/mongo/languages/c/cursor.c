#include "scenario.h"

enum { documents = 250 };

static void fill(mongoc_collection_t *c) {
  bson_error_t error;
  mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(c, NULL);
  for (int i = 0; i < documents; i++) {
    bson_t *doc = BCON_NEW("_id", BCON_INT32(i));
    must(mongoc_bulk_operation_insert_with_opts(bulk, doc, NULL, &error), "bulk", &error);
    bson_destroy(doc);
  }
  must(mongoc_bulk_operation_execute(bulk, NULL, &error) != 0, "insertMany", &error);
  mongoc_bulk_operation_destroy(bulk);
}

void cursor(mongoc_client_t *client) {
  bson_error_t error;
  const bson_t *doc;
  int next = 0;
  mongoc_collection_t *c = mongoc_client_get_collection(client, "interop", "cursor");
  fill(c);
  bson_t *filter = bson_new();
  bson_t *opts = BCON_NEW("sort", "{", "_id", BCON_INT32(1), "}", "batchSize", BCON_INT32(20));
  mongoc_cursor_t *found = mongoc_collection_find_with_opts(c, filter, opts, NULL);
  for (; mongoc_cursor_next(found, &doc); next++) {
    expect("the next _id", number(doc, "_id"), next);
  }
  must(!mongoc_cursor_error(found, &error), "find", &error);
  expect("documents", next, documents);
  mongoc_cursor_destroy(found);
  bson_destroy(opts);
  bson_destroy(filter);
  mongoc_collection_destroy(c);
}
