// What the programs of this folder share: `node FILE mistake`, `node FILE mended`, and `node FILE check` afterwards.
import { MongoClient } from 'mongodb';

// The exit codes are what a program says: 0 is done. Each function ends the program with its code.
const says = (exitCode) => (error) => { throw Object.assign(error, { exitCode }); };
export const failed = says(1); // nothing was done
export const unknown = says(2); // it is done or not
export const notBegun = says(3); // the data could not be prepared

// said is what the program said, for its check.
export const said = Number(process.env.HOLDFAST_EXIT_CODE ?? 0);
export const saidDone = said === 0;

// expectTimes ends a check with 1 if what was done so many times breaks what the program said.
export function expectTimes(what, times) {
  const least = saidDone ? 1 : 0;
  const most = said === 1 || said === 3 ? 0 : 1;
  expect(times >= least && times <= most, `${what}: ${times} times, but the exit code was ${said}`);
}

// expect ends a check with 1 if what the program promised does not hold.
export function expect(holds, message) {
  if (!holds) {
    throw Object.assign(new Error(message), { exitCode: 1 });
  }
}

// inTransaction runs a callback in a transaction. Its outcome is unknown if the callback has ended well and the commit has not.
export async function inTransaction(client, callback) {
  let committing = false;
  const attempt = async (session) => {
    committing = false;
    await callback(session);
    committing = true;
  };
  await client.withSession((session) => session.withTransaction(attempt, { timeoutMS: 10_000 }))
    .catch((error) => (committing ? unknown : failed)(error));
}

// play runs the function that the argument names, in a database of its own.
export async function play(database, functions) {
  const patience = { serverSelectionTimeoutMS: 2000, connectTimeoutMS: 2000, socketTimeoutMS: 2000 };
  const client = new MongoClient(process.env.MONGODB_URI, patience);
  let exitCode = 0;
  try {
    await functions[process.argv[2]](client.db(database), client);
  } catch (error) {
    console.error(error.message);
    exitCode = error.exitCode ?? 2;
  }
  await client.close();
  process.exit(exitCode);
}
