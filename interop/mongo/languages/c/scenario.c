// Plays the scenario with libmongoc.
#include "scenario.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *step = "connect";

void fail(const char *format, ...) {
  va_list args;
  fprintf(stderr, "%s: ", step);
  va_start(args, format);
  vfprintf(stderr, format, args);
  va_end(args);
  fputc('\n', stderr);
  exit(1);
}

void must(bool ok, const char *what, const bson_error_t *error) {
  if (!ok) {
    fail("%s: %s (%u)", what, error->message, error->code);
  }
}

void expect(const char *what, int64_t got, int64_t want) {
  if (got != want) {
    fail("%s: %lld; want %lld", what, (long long)got, (long long)want);
  }
}

void expect_doc(const char *what, const bson_t *got, bson_t *want) {
  char *is = bson_as_relaxed_extended_json(got, NULL);
  char *should = bson_as_relaxed_extended_json(want, NULL);
  if (strcmp(is, should) != 0) {
    fail("%s: %s; want %s", what, is, should);
  }
  bson_free(is);
  bson_free(should);
  bson_destroy(want);
}

int64_t number(const bson_t *doc, const char *field) {
  bson_iter_t it;
  if (!bson_iter_init_find(&it, doc, field)) {
    fail("there is no %s", field);
  }
  return bson_iter_as_int64(&it);
}

void command(mongoc_client_t *client, bson_t *words) {
  bson_error_t error;
  must(mongoc_client_command_simple(client, "admin", words, NULL, NULL, &error), "command", &error);
  bson_destroy(words);
}

void insert(mongoc_collection_t *c, bson_t *doc, const bson_t *opts) {
  bson_error_t error;
  must(mongoc_collection_insert_one(c, doc, opts, NULL, &error), "insert", &error);
  bson_destroy(doc);
}

void update(mongoc_collection_t *c, int id, bson_t *change, const bson_t *opts, bson_t *reply) {
  bson_error_t error;
  bson_t *filter = BCON_NEW("_id", BCON_INT32(id));
  must(mongoc_collection_update_one(c, filter, change, opts, reply, &error), "update", &error);
  bson_destroy(filter);
  bson_destroy(change);
}

void expect_one(mongoc_collection_t *c, const char *what, int id, const bson_t *opts, bson_t *want) {
  bson_error_t error;
  const bson_t *doc;
  bson_t *filter = BCON_NEW("_id", BCON_INT32(id));
  mongoc_cursor_t *found = mongoc_collection_find_with_opts(c, filter, opts, NULL);
  if (!mongoc_cursor_next(found, &doc)) {
    must(!mongoc_cursor_error(found, &error), what, &error);
    fail("%s: nothing was found", what);
  }
  expect_doc(what, doc, want);
  mongoc_cursor_destroy(found);
  bson_destroy(filter);
}

void expect_count(mongoc_collection_t *c, const char *what, bson_t *filter, int64_t want) {
  bson_error_t error;
  int64_t n = mongoc_collection_count_documents(c, filter, NULL, NULL, NULL, &error);
  must(n >= 0, what, &error);
  expect(what, n, want);
  bson_destroy(filter);
}

int main(void) {
  static const struct {
    const char *name;
    void (*run)(mongoc_client_t *);
  } steps[] = {
      {"crud", crud},
      {"cursor", cursor},
      {"transaction", transaction},
      {"change stream", change_stream},
      {"lost reply", lost_reply},
      {"fail-over", fail_over},
  };
  bson_error_t error;
  mongoc_init();
  mongoc_log_set_handler(NULL, NULL);
  mongoc_uri_t *uri = mongoc_uri_new_with_error(getenv("MONGODB_URI"), &error);
  must(uri != NULL, "MONGODB_URI", &error);
  // A client without a monitor thread. One with it does not always retry an operation whose connection broke: while the
  // monitor checks a dead server again, the driver selects that server for the retry.
  mongoc_uri_set_option_as_bool(uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false);
  mongoc_client_t *client = mongoc_client_new_from_uri(uri);
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    step = steps[i].name;
    steps[i].run(client);
    printf("ok %s\n", step);
  }
  mongoc_client_destroy(client);
  mongoc_uri_destroy(uri);
  mongoc_cleanup();
  return 0;
}
