// Sells a lamp: it takes one from the stock, and stores the order.
import { expect, expectTimes, inTransaction, notBegun, play } from './play.mjs';

const stocked = 10;

// The lamp is taken outside the transaction, as the update has no session: when the driver repeats the callback, another lamp is taken.
const mistake = (db, client) => sell(db, client, async (session) => {
  await take(db);
  await order(db, { session });
});

// The lamp is taken in the transaction.
const mended = (db, client) => sell(db, client, async (session) => {
  await take(db, { session });
  await order(db, { session });
});

async function sell(db, client, callback) {
  await db.collection('stock').insertOne({ _id: 'lamp', left: stocked }).catch(notBegun);
  await inTransaction(client, callback);
}

const take = (db, options) => db.collection('stock').updateOne({ _id: 'lamp' }, { $inc: { left: -1 } }, options);
const order = (db, options) => db.collection('orders').insertOne({ item: 'lamp' }, options);

async function check(db) {
  const orders = await db.collection('orders').countDocuments();
  const taken = stocked - ((await db.collection('stock').findOne())?.left ?? stocked);
  expect(taken === orders, `${taken} lamps were taken for ${orders} orders`);
  expectTimes('an order', orders);
}

await play('sideeffect', { mistake, mended, check });
