// Gives each of three accounts ten points. Drivers do not repeat an update of many documents, so the program does.
import { ObjectId } from 'mongodb';
import { expect, expectTimes, notBegun, play, saidDone, unknown } from './play.mjs';

const points = 10;
const tries = 3;

// The increment is repeated after any error, also when it was applied.
const mistake = (db) => give(db, {}, { $inc: { points } });

// An id is stored with the increment, and no account that has the id is changed.
const mended = (db) => {
  const id = new ObjectId();
  return give(db, { given: { $ne: id } }, { $inc: { points }, $push: { given: id } });
};

async function give(db, filter, update) {
  const accounts = db.collection('accounts');
  await accounts.insertMany(['ada', 'bo', 'cy'].map((_id) => ({ _id, points: 0 }))).catch(notBegun);
  for (let attempt = 1; ; attempt++) {
    try {
      return await accounts.updateMany(filter, update);
    } catch (error) {
      if (attempt === tries) {
        unknown(error);
      }
    }
  }
}

async function check(db) {
  const accounts = await db.collection('accounts').find().toArray();
  expect(accounts.length === 3 || !saidDone, `there are ${accounts.length} accounts`);
  accounts.forEach((account) => expectTimes(`points of ${account._id}`, account.points / points));
}

await play('increment', { mistake, mended, check });
