// Plays the scenario with the Node driver; the argument is the name of the module, one for each major of the driver.
import { isDeepStrictEqual } from 'node:util';

const { MongoClient, MongoServerError } = await import(process.argv[2]);

const steps = {
  crud,
  cursor,
  transaction,
  'change stream': changeStream,
  'lost reply': lostReply,
  'fail-over': failOver,
};

function expect(what, got, want) {
  if (!isDeepStrictEqual(got, want)) {
    throw new Error(`${what}: ${JSON.stringify(got)}; want ${JSON.stringify(want)}`);
  }
}

const item = (_id, kind, name, n) => ({ _id, kind, name, n });

async function crud(db) {
  const c = db.collection('crud');
  await c.insertOne(item(1, 'fruit', 'apple', 1));
  const many = await c.insertMany([
    item(2, 'fruit', 'pear', 2),
    item(3, 'fruit', 'plum', 3),
    item(4, 'vegetable', 'leek', 4),
    item(5, 'vegetable', 'kale', 5),
  ]);
  expect('inserted', many.insertedCount, 4);
  expect('modified by the update', (await c.updateOne({ _id: 1 }, { $inc: { n: 10 } })).modifiedCount, 1);
  const beet = { $set: { kind: 'vegetable', name: 'beet', n: 6 } };
  expect('upserted _id', (await c.updateOne({ _id: 6 }, beet, { upsert: true })).upsertedId, 6);
  expect('replaced', (await c.replaceOne({ _id: 2 }, item(2, 'fruit', 'quince', 2))).modifiedCount, 1);
  expect('deleted', (await c.deleteOne({ _id: 5 })).deletedCount, 1);
  await ask(c);
  await writeMany(c);
  const error = await c.insertOne(item(1, 'fruit', 'apple again', 1)).then(() => 'none', (error) => error);
  expect('inserting an _id twice fails', error instanceof MongoServerError, true);
  expect('the code of a duplicate key', error.code, 11000);
}

async function ask(c) {
  expect('found', await c.findOne({ _id: 3 }), item(3, 'fruit', 'plum', 3));
  expect('fruit', await c.countDocuments({ kind: 'fruit' }), 3);
  expect('kinds', await c.distinct('kind'), ['fruit', 'vegetable']);
  const groups = await c.aggregate([{ $group: { _id: '$kind', n: { $sum: '$n' } } }, { $sort: { _id: 1 } }]).toArray();
  expect('groups', groups, [{ _id: 'fruit', n: 16 }, { _id: 'vegetable', n: 10 }]);
}

async function writeMany(c) {
  const done = await c.bulkWrite([
    { insertOne: { document: item(7, 'herb', 'dill', 7) } },
    { updateOne: { filter: { _id: 7 }, update: { $set: { n: 70 } } } },
    { updateMany: { filter: { kind: 'fruit' }, update: { $inc: { n: 1 } } } },
    { deleteOne: { filter: { _id: 4 } } },
  ]);
  expect('bulk: inserted, modified, deleted', [done.insertedCount, done.modifiedCount, done.deletedCount], [1, 4, 1]);
  const after = await c.findOneAndUpdate({ _id: 6 }, { $inc: { n: 1 } }, { returnDocument: 'after' });
  expect('updated', after, item(6, 'vegetable', 'beet', 7));
}

async function cursor(db) {
  const c = db.collection('cursor');
  const docs = Array.from({ length: 250 }, (_, i) => ({ _id: i }));
  await c.insertMany(docs);
  expect('documents', await c.find({}, { sort: { _id: 1 }, batchSize: 20 }).toArray(), docs);
}

async function transaction(db) {
  await db.collection('accounts').insertMany([{ _id: 1, n: 100 }, { _id: 2, n: 0 }]);
  await db.client.withSession(async (session) => {
    await session.withTransaction(async () => {
      await transfer(db, session, 1, 30);
      expect('the balance outside before the commit', await balance(db), 100);
    });
    session.startTransaction();
    await transfer(db, session, 2, 50);
    expect('the balance within', await balance(db, session), 20);
    await session.abortTransaction();
  });
  expect('the balance at the end', await balance(db), 70);
  expect('entries of the ledger', await db.collection('ledger').countDocuments(), 1);
}

async function transfer(db, session, entry, n) {
  const accounts = db.collection('accounts');
  await accounts.updateOne({ _id: 1 }, { $inc: { n: -n } }, { session });
  await accounts.updateOne({ _id: 2 }, { $inc: { n } }, { session });
  await db.collection('ledger').insertOne({ _id: entry, n }, { session });
}

const balance = async (db, session) => (await db.collection('accounts').findOne({ _id: 1 }, { session })).n;

async function changeStream(db) {
  const c = db.collection('stream');
  let stream = c.watch([], { maxAwaitTimeMS: 10 });
  expect('events before there were any', await stream.tryNext(), null); // opens the stream
  await insert(c, 1, 2, 3);
  await expectEvents(stream, ['insert', 1], ['insert', 2], ['insert', 3]);
  const breakAGetMore = { failCommands: ['getMore'], closeConnection: true };
  await db.admin().command({ configureFailPoint: 'failCommand', mode: { times: 1 }, data: breakAGetMore });
  await insert(c, 4, 5);
  await expectEvents(stream, ['insert', 4]);
  const resumeAfter = stream.resumeToken;
  await stream.close();
  await insert(c, 6);
  await c.updateOne({ _id: 1 }, { $set: { n: 10 } });
  await c.deleteOne({ _id: 2 });
  stream = c.watch([], { resumeAfter });
  await expectEvents(stream, ['insert', 5], ['insert', 6], ['update', 1, { n: 10 }], ['delete', 2]);
  await insert(c, 7);
  await expectEvents(stream, ['insert', 7]);
  await stream.close();
}

async function insert(c, ...ids) {
  for (const _id of ids) {
    await c.insertOne({ _id });
  }
}

async function expectEvents(stream, ...want) {
  for (const [operation, id, fields] of want) {
    const got = await stream.next();
    expect('event', [got.operationType, got.documentKey._id, got.updateDescription?.updatedFields], [operation, id, fields]);
  }
}

async function lostReply(db) {
  const c = db.collection('lost');
  await c.insertOne({ _id: 1, n: 0 });
  await db.admin().command({ configureFailPoint: 'onPrimaryTransactionalWrite', mode: { times: 1 } });
  expect('modified', (await c.updateOne({ _id: 1 }, { $inc: { n: 1 } })).modifiedCount, 1);
  expect('n', (await c.findOne({ _id: 1 })).n, 1);
}

async function failOver(db) {
  const c = db.collection('failover');
  for (let i = 0; i < 200; i++) {
    if (i === 100) {
      await db.admin().command({ replSetStepDown: 2, secondaryCatchUpPeriodSecs: 2 });
    }
    await c.insertOne({ _id: i });
    expect('find', await c.findOne({ _id: i }), { _id: i });
  }
  expect('documents', await c.countDocuments(), 200);
}

const client = new MongoClient(process.env.MONGODB_URI);
for (const [name, step] of Object.entries(steps)) {
  try {
    await step(client.db('interop'));
  } catch (error) {
    console.error(`${name}: ${error.message}`);
    process.exit(1);
  }
  console.log('ok', name);
}
await client.close();
process.exit(); // version 6 leaves a timer of 30 s where a member was gone
