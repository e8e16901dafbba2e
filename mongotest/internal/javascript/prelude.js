// The types and functions that code has on a real server beside those of JavaScript. box makes an object stand for a BSON value,
// unbox returns the text and the number of one.
(function(box, unbox, sleepFor, checkLength) {
	'use strict';
	const global = globalThis;
	const hidden = (o, name, value) => Object.defineProperty(o, name, {value: value, writable: true, configurable: true, enumerable: false});

	const types = {};
	const type = function(name, methods) {
		const make = {[name]: function(...args) {
			const o = new.target ? this : Object.create(make.prototype);
			box(o, name, ...args);
			return o;
		}}[name];
		for (const m of Object.keys(methods)) hidden(make.prototype, m, methods[m]);
		hidden(make.prototype, 'tojson', function() { return this.toString(); });
		types[name] = make.prototype;
		hidden(global, name, make);
		return make;
	};
	const number = name => ({
		toNumber() { return unbox(this)[1]; },
		valueOf() { return unbox(this)[1]; },
		toString() {
			const [text, n] = unbox(this);
			return name === 'NumberDecimal' || Math.abs(n) > Number.MAX_SAFE_INTEGER ? `${name}("${text}")` : `${name}(${text})`;
		},
		compare(other) { const a = unbox(this)[1], b = +other; return a < b ? -1 : a > b ? 1 : 0; },
	});
	type('NumberInt', number('NumberInt'));
	type('NumberLong', number('NumberLong'));
	const decimal = number('NumberDecimal');
	delete decimal.valueOf;
	type('NumberDecimal', decimal);
	const ObjectId = type('ObjectId', {
		toString() { return `ObjectId("${this.str}")`; },
		valueOf() { return this.str; },
		getTimestamp() { return new Date(parseInt(this.str.slice(0, 8), 16) * 1000); },
		equals(other) { return this.str === other.str; },
	});
	hidden(global, 'ObjectID', ObjectId);
	const BinData = type('BinData', {
		toString() { return `BinData(${this.type},"${this.data}")`; },
		length() { return this.len; },
		subtype() { return this.type; },
		base64() { return this.data; },
		hex() { return hexOf(this.data); },
	});
	const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
	const hexOf = function(base64) {
		let bits = 0, size = 0, text = '';
		for (const c of base64.replace(/=/g, '')) {
			bits = bits << 6 | letters.indexOf(c);
			size += 6;
			while (size >= 4) {
				size -= 4;
				text += '0123456789abcdef'[bits >> size & 15];
			}
			bits &= (1 << size) - 1;
		}
		return base64 === '' ? '' : text.slice(0, text.length - text.length % 2);
	};
	const fromHex = function(subtype, text) {
		const o = Object.create(BinData.prototype);
		box(o, 'HexData', subtype, text);
		return o;
	};
	hidden(global, 'HexData', (subtype, text) => fromHex(subtype, text));
	hidden(global, 'UUID', text => fromHex(4, String(text).replace(/-/g, '')));
	hidden(global, 'MD5', text => fromHex(5, text));
	const Timestamp = type('Timestamp', {
		toString() { return `Timestamp(${this.t}, ${this.i})`; },
		getTime() { return this.t; },
		getInc() { return this.i; },
	});
	type('MinKey', {toString() { return '{ "$minKey" : 1 }'; }});
	type('MaxKey', {toString() { return '{ "$maxKey" : 1 }'; }});
	type('DBPointer', {toString() { return `DBPointer("${this.ns}", ${this.id})`; }});
	type('Code', {toString() { return `Code(${JSON.stringify(this.code)})`; }});
	const DBRef = function(collection, id, database) {
		const o = new.target ? this : Object.create(DBRef.prototype);
		o.$ref = collection;
		o.$id = id;
		if (database !== undefined) o.$db = database;
		return o;
	};
	hidden(DBRef.prototype, 'getCollection', function() { return this.$ref; });
	hidden(DBRef.prototype, 'getRef', function() { return this.$ref; });
	hidden(DBRef.prototype, 'getId', function() { return this.$id; });
	hidden(DBRef.prototype, 'getDb', function() { return this.$db; });
	types.DBRef = DBRef.prototype;
	hidden(global, 'DBRef', DBRef);

	hidden(global, 'ISODate', function(text) {
		if (text === undefined) return new Date();
		const m = /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2})(?::?(\d{2})(?::?(\d{2})(\.\d+)?)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/.exec(text);
		if (!m) throw new Error('invalid ISO date: ' + text);
		let time = Date.UTC(+m[1], +m[2] - 1, +m[3], +(m[4] || 0), +(m[5] || 0), +(m[6] || 0), Math.round(+(m[7] || 0) * 1000));
		if (m[8] && m[8] !== 'Z') {
			const minutes = +m[8].slice(1, 3) * 60 + +(m[8].slice(3).replace(':', '') || 0);
			time += (m[8][0] === '+' ? -1 : 1) * minutes * 60000;
		}
		return new Date(time);
	});

	const quoted = (key, value, newline, indent) => `${newline}${indent}${JSON.stringify(key)} : ${value}`;
	const tojson = function(v, indent, oneLine) {
		indent = typeof indent === 'string' ? indent : '';
		switch (typeof v) {
		case 'string': return JSON.stringify(v);
		case 'object': break;
		default: return String(v);
		}
		if (v === null) return 'null';
		if (typeof v.tojson === 'function') return v.tojson();
		if (v instanceof Date) return isNaN(v) ? 'ISODate("Invalid Date")' : `ISODate("${v.toISOString().replace('.000Z', 'Z')}")`;
		if (v instanceof RegExp) return String(v);
		if (v instanceof Error) return String(v);
		const line = oneLine || tojsononeline(v).length < 80;
		const inner = line ? '' : indent + '\t', newline = line ? ' ' : '\n', end = line ? ' ' : '\n' + indent;
		if (Array.isArray(v)) {
			if (v.length === 0) return '[ ]';
			return '[' + v.map(x => newline + inner + tojson(x, inner, line)).join(',') + end + ']';
		}
		const keys = Object.keys(v);
		if (keys.length === 0) return '{ }';
		return '{' + keys.map(k => quoted(k, tojson(v[k], inner, line), newline, inner)).join(',') + end + '}';
	};
	const tojsononeline = v => tojson(v, '', true);
	const functions = {
		tojson, tojsononeline, tojsonObject: tojson,
		print() {}, printjson() {}, printjsononeline() {}, gc() {},
		sleep(ms) { sleepFor(ms); },
		isNumber: v => typeof v === 'number',
		isString: v => typeof v === 'string',
		isObject: v => typeof v === 'object',
		doassert(message) { throw new Error(typeof message === 'function' ? message() : String(message)); },
		assert(ok, message) { if (!ok) functions.doassert(message === undefined ? 'assert failed' : 'assert failed : ' + message); },
	};
	for (const name of Object.keys(functions)) hidden(global, name, functions[name]);
	hidden(Array, 'contains', (a, x) => a.some(y => y == x));
	hidden(Array, 'sum', a => a.length === 0 ? null : a.slice(1).reduce((s, x) => s + x, a[0]));
	hidden(Array, 'avg', a => a.length === 0 ? null : Array.sum(a) / a.length);
	hidden(Array, 'unique', a => a.filter((x, i) => a.indexOf(x) === i));
	hidden(String.prototype, 'ltrim', function() { return this.trimStart(); });
	hidden(String.prototype, 'rtrim', function() { return this.trimEnd(); });

	// What makes long texts at once, or compiles code that may be nested too deep for the compiler.
	const {repeat, padStart, padEnd} = String.prototype;
	hidden(String.prototype, 'repeat', function(n) { checkLength(String(this).length * n); return repeat.call(this, n); });
	hidden(String.prototype, 'padStart', function(n, fill) { checkLength(n); return padStart.call(this, n, fill); });
	hidden(String.prototype, 'padEnd', function(n, fill) { checkLength(n); return padEnd.call(this, n, fill); });
	const refused = function() { throw new EvalError('mongotest: code that is made of text is not supported'); };
	hidden(global, 'eval', refused);
	for (const f of [function() {}, function*() {}, async function() {}]) hidden(Object.getPrototypeOf(f), 'constructor', refused);
	hidden(global, 'Function', refused);
	return types;
})
