// Does the work of a night, which is to archive orders, in one of many processes: the one that has the lock, a document that a TTL index
// removes if its owner dies.
import { ObjectId } from 'mongodb';
import { expect, expectTimes, notBegun, play, saidDone, unknown } from './play.mjs';

const tries = 3;
const expires = () => new Date(Date.now() + 3_600_000);
const duplicateKey = 11000;

// A lock that exists is taken for that of another process. It may be the program's own, of the try before.
const mistake = (db) => {
  const lock = { _id: 'night' };
  return run(db, lock, (locks) => locks.insertOne({ ...lock, expires: expires() }));
};

// The program writes its name into the lock, and so knows its own.
const mended = (db) => {
  const lock = { _id: 'night', owner: new ObjectId() };
  return run(db, lock, (locks) => locks.updateOne(lock, { $set: { expires: expires() } }, { upsert: true }));
};

async function run(db, lock, acquire) {
  const locks = db.collection('locks');
  await prepare(db).catch(notBegun);
  for (let attempt = 1; ; attempt++) {
    try {
      await acquire(locks);
      await archive(db);
      return await locks.deleteOne(lock).catch(() => {}); // else it expires
    } catch (error) {
      if (error.code === duplicateKey) {
        return; // another process does the work
      }
      if (attempt === tries) {
        unknown(error);
      }
    }
  }
}

async function prepare(db) {
  await db.collection('locks').createIndex({ expires: 1 }, { expireAfterSeconds: 0 });
  await db.collection('orders').insertMany([1, 2, 3].map((_id) => ({ _id, state: 'shipped', archived: 0 })));
}

const archive = (db) => db.collection('orders').updateMany({ state: 'shipped' }, { $set: { state: 'archived' }, $inc: { archived: 1 } });

async function check(db) {
  const orders = await db.collection('orders').find().toArray();
  expect(orders.length === 3 || !saidDone, `there are ${orders.length} orders`);
  orders.forEach((order) => expectTimes('an order is archived', order.archived));
}

await play('lock', { mistake, mended, check });
