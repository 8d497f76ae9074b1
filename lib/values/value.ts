/**
 * The values of Salt: what Python calls None, bool, int, float, str, bytes, list, tuple and dict. Everything that
 * crosses a boundary (wire, disk, YAML, JSON, grains, pillar) is a `Value`. So `1` and `1.0` stay different, maps keep
 * their order, and the keys `22` and `"22"` stay different. Knows nothing of encodings. Source: docs.python.org,
 * "Built-in Types".
 * @module
 */

import { countStep } from "./stop_word.ts";
import { sameSequenceType, sequenceLike, sequenceTypeName, Tuple, ValueSet } from "./tuple.ts";

/**
 * A float without a fraction (`1.0`, `-0.0`, `1e300`). Every other float is a plain `number`; a plain `number` without
 * a fraction is an int. Make floats with {@linkcode float}, which chooses the form.
 */
export class Float {
  /** @param value Has no fraction. */
  constructor(readonly value: number) {}
}

/** Python's dict: keeps the insertion order and the types of keys. */
export type ValueMap = Map<Value, Value>;

/**
 * One value of Salt. Ints are `number` while they are safe, else `bigint`. Floats are `number` or {@linkcode Float}.
 * Some lists are tuples ({@linkcode Tuple}).
 */
export type Value = null | boolean | number | bigint | Float | string | Uint8Array | Value[] | ValueMap;

/** The float `n` in its one representation. */
export function float(n: number): number | Float {
  return Number.isInteger(n) ? new Float(n) : n;
}

/** The int `n`: a `number` if that is exact, else the `bigint`. */
export function int(n: bigint): number | bigint {
  return n >= BigInt(Number.MIN_SAFE_INTEGER) && n <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(n) : n;
}

/** Whether `v` is a float, of either form. */
export function isFloat(v: Value): v is number | Float {
  return v instanceof Float || (typeof v === "number" && !Number.isInteger(v));
}

/** Whether `v` is an int. A bool is not an int here, unlike in Python. */
export function isInt(v: Value): v is number | bigint {
  return typeof v === "bigint" || (typeof v === "number" && Number.isInteger(v));
}

/** Whether `v` is a Python dict. */
export function isMap(v: Value | undefined): v is ValueMap {
  return v instanceof Map;
}

/**
 * Python's type name of `v`: `NoneType`, `bool`, `int`, `float`, `str`, `bytes`, `list`, `tuple`,
 * `set` or `dict`.
 */
export function typeName(v: Value): string {
  if (v === null) return "NoneType";
  if (typeof v === "boolean") return "bool";
  if (typeof v === "string") return "str";
  if (v instanceof Uint8Array) return "bytes";
  if (Array.isArray(v)) return sequenceTypeName(v);
  if (v instanceof Map) return "dict";
  return isFloat(v) ? "float" : "int";
}

/** The number of a bool, int or float; `undefined` for anything else. JavaScript compares these exactly. */
export function numeric(v: Value | undefined): number | bigint | undefined {
  if (typeof v === "number" || typeof v === "bigint") return v;
  if (typeof v === "boolean") return v ? 1 : 0;
  return v instanceof Float ? v.value : undefined;
}

/** The nearest JavaScript number to a bool, int or float; `undefined` for anything else. */
export function toNumber(v: Value | undefined): number | undefined {
  const n = numeric(v);
  return n === undefined ? undefined : Number(n);
}

/** Python's truth value of `v`: None, False, zero and everything empty are false. */
export function truthy(v: Value | undefined): boolean {
  if (v === null || v === undefined) return false;
  if (Array.isArray(v) || typeof v === "string" || v instanceof Uint8Array) return v.length > 0;
  if (v instanceof Map) return v.size > 0;
  return toNumber(v) !== 0;
}

/** Python's `a == b`: `1`, `1.0` and `True` are equal; maps are equal in any order; a list equals no tuple. */
export function equals(a: Value, b: Value): boolean {
  const numberA = numeric(a), numberB = numeric(b);
  if (numberA !== undefined && numberB !== undefined) {
    return !(numberA < numberB) && !(numberA > numberB) && numberA >= numberB;
  }
  if (a === b) return true;
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b) === 0;
  if (Array.isArray(a) && Array.isArray(b)) {
    countStep();
    if (a.length !== b.length || !sameSequenceType(a, b)) return false;
    if (a instanceof ValueSet) return a.every((item) => b.some((other) => equals(item, other)));
    return a.every((item, i) => equals(item, b[i]));
  }
  if (a instanceof Map && b instanceof Map && a.size === b.size) {
    countStep();
    for (const [key, item] of a) {
      const other = b.has(key) ? b.get(key) : valueOfEqualKey(b, key);
      if (other === undefined || !equals(item, other)) return false;
    }
    return true;
  }
  return false;
}

/** Python's `value in list`. */
export function isAmong(value: Value, list: readonly Value[]): boolean {
  return list.some((one) => equals(one, value));
}

/** The value under a key that Python takes for equal to `key` where a JavaScript map does not (`1.0`, bytes). */
function valueOfEqualKey(map: ValueMap, key: Value): Value | undefined {
  if (typeof key === "string") return undefined;
  for (const [other, item] of map) if (equals(other, key)) return item;
  return undefined;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return a.length - b.length;
}

/** Python's order of strings: by code point. JavaScript's `<` compares UTF-16 units. */
export function compareStrings(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    if (a.charCodeAt(i) === b.charCodeAt(i)) continue;
    // Go back to the start of a surrogate pair if the difference is inside one.
    const start = i > 0 && a.charCodeAt(i - 1) >= 0xd800 && a.charCodeAt(i - 1) < 0xdc00 ? i - 1 : i;
    return (a.codePointAt(start) ?? 0) - (b.codePointAt(start) ?? 0);
  }
  return a.length - b.length;
}

/** The order of types that Python refuses to compare, as `pprint` sorts them. */
const TYPE_RANK = ["NoneType", "bytes", "dict", "bool", "float", "int", "list", "set", "str", "tuple"];

/**
 * Python's order of `a` and `b`, made total so that a map with mixed keys can be sorted for printing: values that
 * Python refuses to compare are ordered by type, and NaN comes after all other numbers.
 * @returns Negative, zero or positive, as for `Array.prototype.sort`.
 */
export function compare(a: Value, b: Value): number {
  const numberA = numeric(a), numberB = numeric(b);
  if (numberA !== undefined && numberB !== undefined) {
    if (numberA < numberB) return -1;
    return numberA > numberB ? 1 : Number(Number.isNaN(numberA)) - Number(Number.isNaN(numberB));
  }
  if (typeof a === "string" && typeof b === "string") return compareStrings(a, b);
  if (a instanceof Uint8Array && b instanceof Uint8Array) return compareBytes(a, b);
  if (Array.isArray(a) && Array.isArray(b) && sameSequenceType(a, b)) {
    countStep();
    for (let i = 0; i < Math.min(a.length, b.length); i++) {
      const order = compare(a[i], b[i]);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  return TYPE_RANK.indexOf(typeName(a)) - TYPE_RANK.indexOf(typeName(b));
}

/**
 * Python's `repr(v)`: `None`, `True`, `1.0`, `'it'`, `b'\\xff'`, `[1, 2]`, `(1, 2)`, `{'a': 1}`.
 * @see https://docs.python.org/3/library/functions.html#repr
 */
export function repr(v: Value): string {
  if (v === null) return "None";
  if (typeof v === "boolean") return v ? "True" : "False";
  if (typeof v === "bigint") return String(v);
  // JavaScript uses an exponent from 1e21 on.
  if (typeof v === "number") {
    return Number.isInteger(v) ? String(Number.isSafeInteger(v) ? v : BigInt(v)) : floatRepr(v);
  }
  if (v instanceof Float) return floatRepr(v.value);
  if (typeof v === "string") return stringRepr(v);
  if (v instanceof Uint8Array) return bytesRepr(v);
  countStep();
  if (Array.isArray(v)) {
    const items = v.map(repr).join(", ");
    if (v instanceof ValueSet) return v.length === 0 ? "set()" : `{${items}}`;
    return v instanceof Tuple ? `(${items}${v.length === 1 ? "," : ""})` : `[${items}]`;
  }
  return `{${[...v].map(([key, item]) => `${repr(key)}: ${repr(item)}`).join(", ")}}`;
}

/** Python's `str(v)`: a string as it is, everything else like {@linkcode repr}. */
export function str(v: Value): string {
  return typeof v === "string" ? v : repr(v);
}

/**
 * Python's `repr` of a float: the shortest digits that give the same float, with an exponent from 1e16 on and below
 * 1e-4.
 */
export function floatRepr(n: number): string {
  if (Number.isNaN(n)) return "nan";
  if (!Number.isFinite(n)) return n > 0 ? "inf" : "-inf";
  if (n === 0) return Object.is(n, -0) ? "-0.0" : "0.0";
  const [digits, exponentText] = n.toExponential().split("e");
  const exponent = Number(exponentText);
  if (exponent < -4 || exponent >= 16) {
    return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (Number.isInteger(n)) return `${BigInt(n)}.0`;
  // JavaScript changes to an exponent below 1e-6 only: Python has done so above.
  return String(n);
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function stringRepr(s: string): string {
  // Characters that Python's str.isprintable rejects: controls, format characters, surrogates, private and unassigned
  // ones, and every separator but the space. V8 reads these classes for 0.3 ms, so not at each start.
  const unprintable = /[\p{C}\p{Z}]/u;
  const quote = s.includes("'") && !s.includes('"') ? '"' : "'";
  let out = quote;
  for (const char of s) {
    const code = char.codePointAt(0) ?? 0;
    if (Object.hasOwn(ESCAPES, char)) out += ESCAPES[char];
    else if (char === quote) out += `\\${char}`;
    else if (char === " " || !unprintable.test(char)) out += char;
    else if (code < 0x100) out += `\\x${code.toString(16).padStart(2, "0")}`;
    else if (code < 0x10000) out += `\\u${code.toString(16).padStart(4, "0")}`;
    else out += `\\U${code.toString(16).padStart(8, "0")}`;
  }
  return out + quote;
}

function bytesRepr(bytes: Uint8Array): string {
  let out = "";
  let quote = "'";
  if (bytes.includes(0x27) && !bytes.includes(0x22)) quote = '"';
  for (const byte of bytes) {
    const char = String.fromCharCode(byte);
    if (Object.hasOwn(ESCAPES, char)) out += ESCAPES[char];
    else if (char === quote) out += `\\${char}`;
    else if (byte >= 0x20 && byte < 0x7f) out += char;
    else out += `\\x${byte.toString(16).padStart(2, "0")}`;
  }
  return `b${quote}${out}${quote}`;
}

/**
 * Converts a plain JavaScript value, as a module's function returns it: an object becomes a map with string keys,
 * `undefined` becomes None, a `Set` becomes a list. A value that is a `Value` already is returned as it is, not copied.
 * @throws {TypeError} For a function, a symbol, or a structure that contains itself.
 */
export function toValue(plain: unknown): Value {
  return isValue(plain, DEEPEST) ? plain : convert(plain, new Set());
}

/** Deeper values are checked by {@linkcode convert}, which detects structures that contain themselves. */
const DEEPEST = 100;

/** Whether `plain` is a `Value` in all its parts, nested at most `depth` deep. */
function isValue(plain: unknown, depth: number): plain is Value {
  if (plain === null || typeof plain === "string" || typeof plain === "boolean") return true;
  if (typeof plain === "number") return Number.isSafeInteger(plain) ? !Object.is(plain, -0) : !Number.isInteger(plain);
  if (typeof plain === "bigint") return int(plain) === plain;
  if (plain instanceof Float || plain instanceof Uint8Array) return true;
  if (depth === 0) return false;
  countStep();
  if (Array.isArray(plain)) {
    for (const item of plain) if (!isValue(item, depth - 1)) return false; // not every(), which skips holes
    return true;
  }
  if (!(plain instanceof Map)) return false;
  for (const key of plain.keys()) {
    // Most items are text: in a list of jobs, all but the lists of arguments.
    if (typeof key !== "string" && !isValue(key, depth - 1)) return false;
    const item: unknown = plain.get(key);
    if (typeof item !== "string" && !isValue(item, depth - 1)) return false;
  }
  return true;
}

function convert(plain: unknown, parents: Set<object>): Value {
  if (plain === null || plain === undefined) return null;
  if (typeof plain === "boolean" || typeof plain === "string") return plain;
  if (typeof plain === "bigint") return int(plain);
  if (typeof plain === "number") {
    return Number.isInteger(plain) && (!Number.isSafeInteger(plain) || Object.is(plain, -0)) ? new Float(plain) : plain;
  }
  if (plain instanceof Float || plain instanceof Uint8Array) return plain;
  if (typeof plain !== "object") throw new TypeError(`Cannot make a value of a ${typeof plain}`);
  countStep();
  if (parents.has(plain)) throw new TypeError("Cannot make a value of a structure that contains itself");
  parents.add(plain);
  let value: Value;
  if (Array.isArray(plain) || plain instanceof Set) {
    const items = Array.from(plain, (item) => convert(item, parents));
    value = Array.isArray(plain) ? sequenceLike(plain, items) : items;
  } else {
    const entries = plain instanceof Map ? [...plain] : Object.entries(plain);
    value = new Map(entries.map(([key, item]) => [convert(key, parents), convert(item, parents)]));
  }
  parents.delete(plain);
  return value;
}

/** A map from an object literal: `map({ jid, minions })`. */
export function map(entries: Record<string, unknown>): ValueMap {
  return new Map(Object.entries(entries).map(([key, item]) => [key, toValue(item)]));
}
