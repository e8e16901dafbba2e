// The scenario of README.md with the Couchbase SDK of Node.
'use strict'
const assert = require('node:assert/strict')
const couchbase = require('couchbase')

const { CONNECTION_STRING, USERNAME, PASSWORD, CONTROL } = process.env
const same = (got, want) => assert.deepEqual(got, want)

async function control(path, body = {}) {
  const reply = await fetch(CONTROL + path, { method: 'POST', body: JSON.stringify(body) })
  const answer = await reply.json()
  assert(reply.ok, answer.error)
  return answer
}

async function document(key) {
  return (await fetch(`${CONTROL}/document?bucket=default&key=${key}`)).json()
}

const refused = (promise, error) => assert.rejects(promise, error)
const majority = { durabilityLevel: couchbase.DurabilityLevel.Majority }

async function keyValue(c) {
  const first = await c.insert('a', { name: 'apple', n: 1 })
  await refused(c.insert('a', {}), couchbase.DocumentExistsError)
  same((await c.get('a')).content, { name: 'apple', n: 1 })
  same((await c.get('a', { project: ['name'] })).content, { name: 'apple' })
  same((await c.exists('a')).exists, true)
  same((await c.exists('none')).exists, false)
  await refused(c.get('none'), couchbase.DocumentNotFoundError)
  await c.upsert('a', { n: 2 }, { expiry: 3600 })
  await refused(c.replace('a', {}, { cas: first.cas }), couchbase.CasMismatchError)
  await c.replace('a', { n: 3 }, { preserveExpiry: true })
  assert((await c.get('a', { withExpiry: true })).expiryTime)
  await c.touch('a', 7200)
  same((await c.getAndTouch('a', 10800)).content, { n: 3 })
  const locked = await c.getAndLock('a', 15)
  await refused(c.unlock('a', first.cas), couchbase.CasMismatchError)
  await c.unlock('a', locked.cas)
  same((await c.getAnyReplica('a')).content, { n: 3 })
  same((await c.getAllReplicas('a')).length, 2)
  await c.remove('a')
  same((await c.exists('a')).exists, false)
}

async function binary(c) {
  const b = c.binary()
  same((await b.increment('count', 1, { initial: 10 })).value, 10)
  same((await b.increment('count', 5)).value, 15)
  same((await b.decrement('count', 3)).value, 12)
  const raw = { transcoder: { encode: (v) => [v, 0x03000000], decode: (bytes) => bytes } }
  await c.upsert('text', Buffer.from('b'), raw)
  await b.append('text', Buffer.from('c'))
  await b.prepend('text', Buffer.from('a'))
  same((await c.get('text', raw)).content.toString(), 'abc')
}

async function subDocument(c) {
  const { MutateInSpec, LookupInSpec } = couchbase
  await c.upsert('s', { list: [1] })
  await c.mutateIn('s', [
    MutateInSpec.upsert('meta.by', 'node', { xattr: true, createPath: true }),
    MutateInSpec.upsert('x', 1),
    MutateInSpec.arrayAppend('list', 2),
    MutateInSpec.increment('n', 4),
  ])
  const r = await c.lookupIn('s', [
    LookupInSpec.get('meta.by', { xattr: true }), LookupInSpec.get('list'), LookupInSpec.exists('none'), LookupInSpec.count('list')])
  same(r.content.map((one) => one.value), ['node', [1, 2], false, 2])
}

async function bulk(c) {
  const keys = Array.from({ length: 100 }, (_, i) => `m${i}`)
  await Promise.all(keys.map((key, i) => c.upsert(key, { i })))
  same((await Promise.all(keys.map((key) => c.get(key)))).map((r) => r.content.i), keys.map((_, i) => i))
  await Promise.all(keys.map((key) => c.remove(key)))
}

async function durability(c) {
  const { Majority, MajorityAndPersistOnMaster, PersistToMajority } = couchbase.DurabilityLevel
  for (const level of [Majority, MajorityAndPersistOnMaster, PersistToMajority]) {
    await c.upsert('durable', { level }, { durabilityLevel: level })
  }
  await c.insert('durable2', {}, majority)
}

async function query(_, cluster) {
  await control('/scripts', { services: ['query'], statement: 'SELECT x FROM t', answer: { rows: [{ x: 1 }, { x: 2 }] } })
  for (const adhoc of [true, false, false]) {
    same((await cluster.query('SELECT x FROM t', { adhoc })).rows, [{ x: 1 }, { x: 2 }])
  }
}

async function lostReply(c) {
  await control('/faults/kv', { opcodes: ['GET'], key: 'durable', loseReply: true, times: 1 })
  assert('level' in (await c.get('durable')).content) // a read is retried
  await control('/faults/kv', { opcodes: ['SET'], key: 'durable', status: '0x86', times: 3 })
  await c.upsert('durable', {})
}

async function rebalance(c) {
  await control('/nodes')
  let moving = true
  const moved = control('/rebalance', { during: '1s' }).finally(() => { moving = false })
  for (let n = 1; moving || n <= 200; n++) {
    same((await c.binary().increment('moving', 1, { initial: 1 })).value, n)
    await c.upsert(`r${n % 50}`, { n }, majority)
  }
  await moved
}

async function failover(c) {
  const { nodes: [owner], json: count } = await document('moving')
  await control(`/nodes/${owner}/kill`)
  await control(`/nodes/${owner}/failover`)
  for (let i = 0; i < 200; i++) {
    await c.upsert(`f${i}`, { i })
    same((await c.get(`f${i}`)).content, { i })
  }
  same((await c.binary().increment('moving', 1)).value, count + 1)
  await control('/rebalance')
  for (let i = 0; i < 50; i++) {
    await c.upsert(`after${i}`, {}, majority)
  }
}

const steps = {
  'key-value': keyValue, binary, 'sub-document': subDocument, bulk, durability, query, 'lost reply': lostReply, rebalance, failover,
}

async function main() {
  const long = 60_000
  const cluster = await couchbase.connect(CONNECTION_STRING, {
    username: USERNAME, password: PASSWORD, timeouts: { kvTimeout: long, kvDurableTimeout: long, queryTimeout: long },
  })
  const collection = cluster.bucket('default').defaultCollection()
  for (const [name, step] of Object.entries(steps)) {
    try {
      await step(collection, cluster)
    } catch (error) {
      console.error(`${name}: ${error.stack}`)
      process.exit(1)
    }
    console.log(`ok ${name}`)
  }
  await cluster.close()
}

main()
