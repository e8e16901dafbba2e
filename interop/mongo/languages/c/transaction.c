#include "scenario.h"

// bank is where the money goes from and to, and the options that make an operation part of the session's transaction.
struct bank {
  mongoc_collection_t *accounts, *ledger;
  bson_t within;
};

static bson_t *account(int id, int n) { return BCON_NEW("_id", BCON_INT32(id), "n", BCON_INT32(n)); }

static bson_t *increment(int by) { return BCON_NEW("$inc", "{", "n", BCON_INT32(by), "}"); }

static void transfer(struct bank *b, int entry, int n) {
  update(b->accounts, 1, increment(-n), &b->within, NULL);
  update(b->accounts, 2, increment(n), &b->within, NULL);
  insert(b->ledger, account(entry, n), &b->within);
}

static bool pay(mongoc_client_session_t *session, void *ctx, bson_t **reply, bson_error_t *error) {
  (void)session, (void)reply, (void)error;
  struct bank *b = ctx;
  transfer(b, 1, 30);
  expect_one(b->accounts, "the account outside before the commit", 1, NULL, account(1, 100));
  return true;
}

static void pay_and_think_better(struct bank *b, mongoc_client_session_t *session) {
  bson_error_t error;
  must(mongoc_client_session_append(session, &b->within, &error), "session", &error);
  must(mongoc_client_session_with_transaction(session, pay, NULL, b, NULL, &error), "withTransaction", &error);
  must(mongoc_client_session_start_transaction(session, NULL, &error), "startTransaction", &error);
  transfer(b, 2, 50);
  expect_one(b->accounts, "the account within", 1, &b->within, account(1, 20));
  must(mongoc_client_session_abort_transaction(session, &error), "abortTransaction", &error);
}

void transaction(mongoc_client_t *client) {
  bson_error_t error;
  struct bank b = {
      .accounts = mongoc_client_get_collection(client, "interop", "accounts"),
      .ledger = mongoc_client_get_collection(client, "interop", "ledger"),
      .within = BSON_INITIALIZER,
  };
  insert(b.accounts, account(1, 100), NULL);
  insert(b.accounts, account(2, 0), NULL);
  mongoc_client_session_t *session = mongoc_client_start_session(client, NULL, &error);
  must(session != NULL, "startSession", &error);
  pay_and_think_better(&b, session);
  mongoc_client_session_destroy(session);
  expect_one(b.accounts, "the account at the end", 1, NULL, account(1, 70));
  expect_count(b.ledger, "entries of the ledger", bson_new(), 1);
  bson_destroy(&b.within);
  mongoc_collection_destroy(b.ledger);
  mongoc_collection_destroy(b.accounts);
}
