// Stores an order, and its event for each of two subscribers.
import { ObjectId } from 'mongodb';
import { expect, expectTimes, inTransaction, notBegun, play, saidDone, unknown } from './play.mjs';

// The order is stored and then the events: a failure between leaves an order without its events.
const mistake = async (db) => {
  await prepare(db);
  await place(db, new ObjectId()).catch(unknown);
};

// Both are stored in one transaction.
const mended = async (db, client) => {
  await prepare(db);
  const id = new ObjectId();
  await inTransaction(client, (session) => place(db, id, { session }));
};

const prepare = (db) => db.collection('subscribers')
  .insertMany(['billing', 'shipping'].map((_id) => ({ _id, events: [] }))).catch(notBegun);

async function place(db, id, options) {
  await db.collection('orders').insertOne({ _id: id }, options);
  await db.collection('subscribers').updateMany({}, { $push: { events: id } }, options);
}

async function check(db) {
  const orders = await db.collection('orders').countDocuments();
  const subscribers = await db.collection('subscribers').find().toArray();
  expect(subscribers.length === 2 || !saidDone, `there are ${subscribers.length} subscribers`);
  for (const { _id, events } of subscribers) {
    expect(events.length === orders, `${_id} has ${events.length} events for ${orders} orders`);
  }
  expectTimes('an order', orders);
}

await play('outbox', { mistake, mended, check });
