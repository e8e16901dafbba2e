#ifndef SCENARIO_H
#define SCENARIO_H

#include <mongoc/mongoc.h>

// What goes wrong ends the program with a message that names the step.
__attribute__((noreturn, format(printf, 1, 2))) void fail(const char *format, ...);
void must(bool ok, const char *what, const bson_error_t *error);
void expect(const char *what, int64_t got, int64_t want);

// The documents that are named words, doc, change, filter or want are destroyed by whom they are given to.
void expect_doc(const char *what, const bson_t *got, bson_t *want);
void expect_one(mongoc_collection_t *c, const char *what, int id, const bson_t *opts, bson_t *want);
void expect_count(mongoc_collection_t *c, const char *what, bson_t *filter, int64_t want);
void command(mongoc_client_t *client, bson_t *words);
void insert(mongoc_collection_t *c, bson_t *doc, const bson_t *opts);
void update(mongoc_collection_t *c, int id, bson_t *change, const bson_t *opts, bson_t *reply);
int64_t number(const bson_t *doc, const char *field);

// The steps.
void crud(mongoc_client_t *client);
void cursor(mongoc_client_t *client);
void transaction(mongoc_client_t *client);
void change_stream(mongoc_client_t *client);
void lost_reply(mongoc_client_t *client);
void fail_over(mongoc_client_t *client);

#endif
