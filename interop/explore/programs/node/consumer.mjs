// Follows customers who move, by a change stream, and sends their orders to the new address.
import { expect, notBegun, play, saidDone, unknown } from './play.mjs';

const moving = ['ada', 'bo'];
const ordersEach = 2;
const starts = 5; // how often the consumer starts: again after an error
const newAddress = { $set: { address: 'new' } };

// The position is stored before the work is done: what fails after that is not done by the next start.
const mistake = (db) => run(db, async (customer, position) => {
  await store(db, position);
  await work(db, customer);
});

// The position is stored when the work is done. Work that is done twice changes nothing.
const mended = (db) => run(db, async (customer, position) => {
  await work(db, customer);
  await store(db, position);
});

const store = (db, position) => db.collection('positions').replaceOne({ _id: 'consumer' }, position, { upsert: true });
const work = (db, customer) => db.collection('orders').updateMany({ customer }, newAddress);

async function run(db, handle) {
  await prepare(db).catch(notBegun);
  for (let start = 1; ; start++) {
    try {
      return await follow(db, handle);
    } catch (error) {
      if (start === starts) {
        unknown(error);
      }
    }
  }
}

// prepare stores the orders and the position from which the customers move.
async function prepare(db) {
  const customers = db.collection('customers');
  const order = (customer) => Array.from({ length: ordersEach }, () => ({ customer, address: 'old' }));
  await customers.insertMany(moving.map((_id) => ({ _id, address: 'old' })));
  await db.collection('orders').insertMany(moving.flatMap(order));
  const stream = customers.watch([], { maxAwaitTimeMS: 10 });
  try {
    await stream.tryNext(); // opens it
    await store(db, { token: stream.resumeToken, events: 0 });
  } finally {
    await stream.close();
  }
  for (const _id of moving) {
    await customers.updateOne({ _id }, newAddress);
  }
}

async function follow(db, handle) {
  let { token, events } = await db.collection('positions').findOne();
  const stream = db.collection('customers').watch([], { resumeAfter: token });
  try {
    while (events < moving.length) {
      const event = await stream.next();
      events++;
      await handle(event.documentKey._id, { token: event._id, events });
    }
  } finally {
    await stream.close();
  }
}

async function check(db) {
  const sent = await db.collection('orders').countDocuments({ address: 'new' });
  expect(sent === ordersEach * moving.length || !saidDone, `${sent} orders have the new address, but the program said done`);
}

await play('consumer', { mistake, mended, check });
