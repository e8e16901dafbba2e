// A mongoose application on a replica set of three that mongodb-memory-server starts. Each part prints its name when it is
// done; the first thing that is wrong ends the program.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { MongoMemoryReplSet } from 'mongodb-memory-server';
import mongoose from 'mongoose';

const { Schema } = mongoose;

const authorSchema = new Schema({
  name: { type: String, required: true, minlength: 2, trim: true },
  email: { type: String, unique: true, required: true, lowercase: true },
  born: { type: Date },
  languages: [String],
}, { timestamps: true, toJSON: { virtuals: true } });
authorSchema.virtual('initial').get(function () { return this.name[0]; });
authorSchema.virtual('books', { ref: 'Book', localField: '_id', foreignField: 'author' });

const bookSchema = new Schema({
  title: { type: String, required: true },
  author: { type: Schema.Types.ObjectId, ref: 'Author', required: true },
  pages: { type: Number, min: 1 },
  price: { type: Number, default: 10 },
  tags: [{ type: String, enum: ['novel', 'essay', 'poetry'] }],
  reviews: [{ by: String, stars: Number }],
});
bookSchema.index({ author: 1, title: 1 });

const accountSchema = new Schema({ owner: { type: String, unique: true }, balance: { type: Number, min: 0 } });

const Author = mongoose.model('Author', authorSchema);
const Book = mongoose.model('Book', bookSchema);
const Account = mongoose.model('Account', accountSchema);

/** The parts, in order; each may use what the ones before it have stored. */
const parts = {
  async set(set) {
    const { members } = await mongoose.connection.db.admin().command({ replSetGetStatus: 1 });
    assert.deepEqual(members.map((m) => m.stateStr).sort(), ['PRIMARY', 'SECONDARY', 'SECONDARY']);
    assert.deepEqual(members.map((m) => m.name).sort(), set.servers.map((s) => `127.0.0.1:${s.instanceInfo.port}`).sort());
  },

  async validation() {
    await assert.rejects(Author.create({ name: 'x', email: 'x@example.org' }), mongoose.Error.ValidationError);
    await assert.rejects(Book.create({ title: 'No author' }), mongoose.Error.ValidationError);
    assert.equal(await Author.countDocuments(), 0);
  },

  async uniqueIndex() {
    await Promise.all([Author.init(), Book.init(), Account.init()]);
    await Author.create([
      { name: ' Ada ', email: 'ADA@example.org', born: new Date('1815-12-10'), languages: ['en', 'fr'] },
      { name: 'Bertha', email: 'bertha@example.org', born: new Date('1843-06-09'), languages: ['de'] },
      { name: 'Clarice', email: 'clarice@example.org', born: new Date('1920-12-10'), languages: ['pt'] },
    ]);
    const error = await Author.create({ name: 'Another', email: 'ada@example.org' }).then(() => null, (e) => e);
    assert.equal(error?.code, 11000);
    assert.deepEqual(error.keyValue, { email: 'ada@example.org' });
    const indexes = await Author.collection.indexes();
    assert.deepEqual(indexes.map((i) => i.name).sort(), ['_id_', 'email_1']);
  },

  async documents() {
    const ada = await Author.findOne({ email: 'ada@example.org' });
    assert.equal(ada.name, 'Ada');
    assert.equal(ada.initial, 'A');
    const version = ada.__v;
    ada.languages.push('la');
    await ada.save();
    assert.equal((await Author.findById(ada._id)).__v, version + 1);
    assert.ok(ada.updatedAt >= ada.createdAt);
    const other = await Author.findById(ada._id);
    other.languages = ['en'];
    await other.save();
    ada.languages = ['xx'];
    await assert.rejects(ada.save(), mongoose.Error.VersionError);
  },

  async population() {
    const [ada, bertha] = await Author.find().sort('name').limit(2);
    await Book.insertMany([
      { title: 'Notes', author: ada, pages: 66, tags: ['essay'] },
      { title: 'Lay Down Your Arms', author: bertha, pages: 400, tags: ['novel'], price: 25 },
      { title: 'The Machine Age', author: bertha, pages: 300, tags: ['essay', 'novel'] },
    ]);
    const book = await Book.findOne({ title: 'Notes' }).populate('author', 'name');
    assert.equal(book.author.name, 'Ada');
    assert.equal(book.author.email, undefined);
    const author = await Author.findOne({ name: 'Bertha' }).populate({ path: 'books', options: { sort: { pages: 1 } } });
    assert.deepEqual(author.books.map((b) => b.title), ['The Machine Age', 'Lay Down Your Arms']);
  },

  async queries() {
    const lean = await Book.find({ pages: { $gte: 100 }, tags: 'novel' }).sort({ pages: -1 }).select('title -_id').lean();
    assert.deepEqual(lean, [{ title: 'Lay Down Your Arms' }, { title: 'The Machine Age' }]);
    assert.equal(await Author.countDocuments({ name: /^[ab]/i }), 2);
    assert.deepEqual((await Book.distinct('tags')).sort(), ['essay', 'novel']);
    assert.ok(await Book.exists({ title: 'Notes' }));
    const seen = [];
    for await (const b of Book.find().sort('title').cursor({ batchSize: 1 })) seen.push(b.title);
    assert.deepEqual(seen, ['Lay Down Your Arms', 'Notes', 'The Machine Age']);
    assert.equal((await Book.find().read('secondary')).length, 3);
  },

  async updates() {
    const book = await Book.findOneAndUpdate({ title: 'Notes' },
      { $inc: { pages: 1 }, $push: { reviews: { by: 'Charles', stars: 5 } } }, { returnDocument: 'after', runValidators: true });
    assert.equal(book.pages, 67);
    assert.equal(book.reviews[0].by, 'Charles');
    await Book.updateOne({ title: 'Notes', 'reviews.by': 'Charles' }, { $set: { 'reviews.$.stars': 4 } });
    assert.equal((await Book.findOne({ title: 'Notes' })).reviews[0].stars, 4);
    await assert.rejects(Book.updateOne({ title: 'Notes' }, { pages: 0 }, { runValidators: true }), mongoose.Error.ValidationError);
    const gone = await Book.findOneAndDelete({ title: 'nothing of that name' });
    assert.equal(gone, null);
  },

  async aggregate() {
    const rows = await Book.aggregate([
      { $match: { pages: { $gt: 10 } } },
      { $lookup: { from: 'authors', localField: 'author', foreignField: '_id', as: 'who' } },
      { $unwind: '$who' },
      { $group: { _id: '$who.name', books: { $sum: 1 }, pages: { $sum: '$pages' }, dearest: { $max: '$price' } } },
      { $sort: { _id: 1 } },
    ]);
    assert.deepEqual(rows, [
      { _id: 'Ada', books: 1, pages: 67, dearest: 10 },
      { _id: 'Bertha', books: 2, pages: 700, dearest: 25 },
    ]);
  },

  async bulkWrite() {
    const bertha = await Author.findOne({ name: 'Bertha' });
    const result = await Book.bulkWrite([
      { insertOne: { document: { title: 'A Bad Man', author: bertha._id, pages: 200 } } },
      { updateMany: { filter: { author: bertha._id }, update: { $set: { price: 12 } } } },
      { updateOne: { filter: { title: 'High Life' }, update: { $set: { pages: 250, author: bertha._id } }, upsert: true } },
      { deleteOne: { filter: { title: 'A Bad Man' } } },
    ]);
    assert.deepEqual([result.insertedCount, result.modifiedCount, result.upsertedCount, result.deletedCount], [1, 3, 1, 1]);
    assert.equal(await Book.countDocuments({ author: bertha._id }), 3);
  },

  async transaction() {
    await Account.create([{ owner: 'ada', balance: 100 }, { owner: 'bertha', balance: 0 }]);
    const transfer = (amount, fail) => mongoose.connection.transaction(async (session) => {
      await Account.updateOne({ owner: 'ada' }, { $inc: { balance: -amount } }, { session });
      await Account.create([{ owner: `receipt of ${amount}`, balance: amount }], { session });
      const bertha = await Account.findOne({ owner: 'bertha' }).session(session);
      bertha.balance += amount;
      await bertha.save();
      assert.equal((await Account.findOne({ owner: 'bertha' }).lean()).balance + amount, bertha.balance, 'seen before it is committed');
      if (fail) throw new Error('changed my mind');
    });
    await transfer(30, false);
    await assert.rejects(transfer(50, true), /changed my mind/);
    const session = await mongoose.startSession();
    await session.withTransaction(() => Account.updateOne({ owner: 'ada' }, { $inc: { balance: -1 } }, { session }));
    await session.endSession();
    const balances = await Account.find().sort('owner').lean();
    assert.deepEqual(balances.map((a) => [a.owner, a.balance]), [['ada', 69], ['bertha', 30], ['receipt of 30', 30]]);
  },
};

const set = await MongoMemoryReplSet.create({ replSet: { count: 3, name: 'library' } });
const closed = set.servers.map((s) => once(s.instanceInfo.instance, 'instanceClosed'));
try {
  await mongoose.connect(set.getUri('library'));
  for (const [name, part] of Object.entries(parts)) {
    await part(set);
    console.log(`ok ${name}`);
  }
} finally {
  await mongoose.disconnect();
  await set.stop();
}
assert.deepEqual(await Promise.all(closed), [[0, null], [0, null], [0, null]], 'exit codes and signals of the three processes');
console.log('ok stop');
