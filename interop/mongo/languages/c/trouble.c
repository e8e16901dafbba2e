#include "scenario.h"

void lost_reply(mongoc_client_t *client) {
  bson_t reply;
  mongoc_collection_t *c = mongoc_client_get_collection(client, "interop", "lost");
  insert(c, BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT32(0)), NULL);
  command(client, BCON_NEW("configureFailPoint", "onPrimaryTransactionalWrite", "mode", "{", "times", BCON_INT32(1), "}"));
  update(c, 1, BCON_NEW("$inc", "{", "n", BCON_INT32(1), "}"), NULL, &reply);
  expect("modified", number(&reply, "modifiedCount"), 1);
  bson_destroy(&reply);
  expect_one(c, "the document", 1, NULL, BCON_NEW("_id", BCON_INT32(1), "n", BCON_INT32(1)));
  mongoc_collection_destroy(c);
}

void fail_over(mongoc_client_t *client) {
  mongoc_collection_t *c = mongoc_client_get_collection(client, "interop", "failover");
  for (int i = 0; i < 200; i++) {
    if (i == 100) {
      command(client, BCON_NEW("replSetStepDown", BCON_INT32(2), "secondaryCatchUpPeriodSecs", BCON_INT32(2)));
    }
    insert(c, BCON_NEW("_id", BCON_INT32(i)), NULL);
    expect_one(c, "find", i, NULL, BCON_NEW("_id", BCON_INT32(i)));
  }
  expect_count(c, "documents", bson_new(), 200);
  mongoc_collection_destroy(c);
}
