#include "scenario.h"

static void insert_all(mongoc_collection_t *c, int first, int last) {
  for (int id = first; id <= last; id++) {
    insert(c, BCON_NEW("_id", BCON_INT32(id)), NULL);
  }
}

// next waits for an event of this operation on the document with this _id.
static const bson_t *next(mongoc_change_stream_t *stream, const char *operation, int id) {
  bson_error_t error;
  bson_iter_t it, key;
  const bson_t *event, *reply;
  while (!mongoc_change_stream_next(stream, &event)) {
    must(!mongoc_change_stream_error_document(stream, &error, &reply), operation, &error);
  }
  if (!bson_iter_init_find(&it, event, "operationType") || strcmp(bson_iter_utf8(&it, NULL), operation) != 0) {
    fail("the event is not %s %d", operation, id);
  }
  expect("there is a documentKey._id", bson_iter_init(&it, event) && bson_iter_find_descendant(&it, "documentKey._id", &key), true);
  expect(operation, bson_iter_as_int64(&key), id);
  return event;
}

static mongoc_change_stream_t *watch(mongoc_collection_t *c, const bson_t *opts) {
  bson_t pipeline = BSON_INITIALIZER;
  mongoc_change_stream_t *stream = mongoc_collection_watch(c, &pipeline, opts);
  bson_destroy(&pipeline);
  return stream;
}

// first_half reads some of the events, across a broken connection, and makes options to go on from there.
static bson_t *first_half(mongoc_client_t *client, mongoc_collection_t *c) {
  mongoc_change_stream_t *stream = watch(c, NULL);
  insert_all(c, 1, 3);
  for (int id = 1; id <= 3; id++) {
    next(stream, "insert", id);
  }
  command(client, BCON_NEW("configureFailPoint", "failCommand", "mode", "{", "times", BCON_INT32(1), "}", "data", "{",
                           "failCommands", "[", "getMore", "]", "closeConnection", BCON_BOOL(true), "}"));
  insert_all(c, 4, 5);
  next(stream, "insert", 4);
  bson_t *opts = BCON_NEW("resumeAfter", BCON_DOCUMENT(mongoc_change_stream_get_resume_token(stream)));
  mongoc_change_stream_destroy(stream);
  return opts;
}

static void second_half(mongoc_collection_t *c, const bson_t *opts) {
  bson_iter_t it, n;
  mongoc_change_stream_t *stream = watch(c, opts);
  next(stream, "insert", 5);
  next(stream, "insert", 6);
  const bson_t *event = next(stream, "update", 1);
  expect("n was updated", bson_iter_init(&it, event) && bson_iter_find_descendant(&it, "updateDescription.updatedFields.n", &n), true);
  expect("n", bson_iter_as_int64(&n), 10);
  next(stream, "delete", 2);
  insert_all(c, 7, 7);
  next(stream, "insert", 7);
  mongoc_change_stream_destroy(stream);
}

void change_stream(mongoc_client_t *client) {
  bson_error_t error;
  mongoc_collection_t *c = mongoc_client_get_collection(client, "interop", "stream");
  bson_t *opts = first_half(client, c);
  insert_all(c, 6, 6);
  update(c, 1, BCON_NEW("$set", "{", "n", BCON_INT32(10), "}"), NULL, NULL);
  bson_t *second = BCON_NEW("_id", BCON_INT32(2));
  must(mongoc_collection_delete_one(c, second, NULL, NULL, &error), "deleteOne", &error);
  second_half(c, opts);
  bson_destroy(second);
  bson_destroy(opts);
  mongoc_collection_destroy(c);
}
