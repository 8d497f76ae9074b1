/**
 * The reading half of `msgpack.ts`: bytes that anybody may have sent into values, within bounds.
 * Source: github.com/msgpack/msgpack/blob/master/spec.md; Salt's payload.py for extension 78.
 * @module
 */

import { MsgpackError } from "./errors.ts";
import { Float, float, int, type Value, type ValueMap } from "./value.ts";

/** Salt's extension type for a date and time. */
const EXT_DATETIME = 78;
/** Up to this many bytes a loop beats the runtime's decoder. */
const SHORT_TEXT = 48;
/** How many bytes are looked at before the runtime's decoder is asked: it takes 10 µs to refuse. */
const PROBED = 256;

/**
 * What one message may cost in memory, where an entry counts 1 and a list, a map or a byte string counts 16 more: one
 * byte makes an empty map of 200. At most this is some 150 MB.
 */
const MOST_MEMORY = 8_000_000;
const CONTAINER = 16;

const textDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Keys repeat from message to message: the text of a short one is kept, in a slot chosen by its bytes. */
const knownKeys: string[] = new Array(1024).fill("");

/** Reads values off `bytes`, from their start. */
export class Reader {
  readonly #bytes: Uint8Array;
  #madeView: DataView | undefined;
  readonly #binAsText: boolean;
  readonly #most: number;
  #position = 0;
  #memory = 0;

  /**
   * Starts at the first byte.
   * @param options.binAsText Whether the bin types may hold text, as they do where writers did not tell.
   * @param options.most As {@linkcode MOST_MEMORY}, which is the default.
   */
  constructor(bytes: Uint8Array, options: { readonly binAsText: boolean; readonly most?: number }) {
    this.#bytes = bytes;
    this.#binAsText = options.binAsText;
    this.#most = options.most ?? MOST_MEMORY;
  }

  /** Most messages hold nothing that it is needed for. */
  get #view(): DataView {
    return this.#madeView ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
  }

  /** How many bytes have been read. */
  get position(): number {
    return this.#position;
  }

  /** Moves past the next `size` bytes and gives their start. */
  #take(size: number): number {
    const start = this.#position;
    if (size > this.#bytes.length - start) throw new MsgpackError(`Truncated: ${size} bytes expected at ${start}`);
    this.#position = start + size;
    return start;
  }

  /** The length that the next 1, 2 or 4 bytes say. */
  #length(size: 1 | 2 | 4): number {
    const at = this.#take(size);
    if (size === 1) return this.#bytes[at];
    return size === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  /** The next value, in which lists and maps may be nested `depth` deep. @throws {MsgpackError} */
  read(depth: number): Value {
    const code = this.#bytes[this.#take(1)];
    if (code < 0x80) return code;
    if (code >= 0xe0) return code - 0x100;
    if (code < 0x90) return this.#readMap(code & 0x0f, depth);
    if (code < 0xa0) return this.#readList(code & 0x0f, depth);
    if (code < 0xc0) return this.#readText(code & 0x1f);
    switch (code) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#readBin(this.#length(1));
      case 0xc5:
        return this.#readBin(this.#length(2));
      case 0xc6:
        return this.#readBin(this.#length(4));
      case 0xc7:
        return this.#readExtension(this.#length(1));
      case 0xc8:
        return this.#readExtension(this.#length(2));
      case 0xc9:
        return this.#readExtension(this.#length(4));
      case 0xca:
        return float(this.#view.getFloat32(this.#take(4)));
      case 0xcb:
        return float(this.#view.getFloat64(this.#take(8)));
      case 0xcc:
        return this.#length(1);
      case 0xcd:
        return this.#length(2);
      case 0xce:
        return this.#length(4);
      case 0xcf:
        return int(this.#view.getBigUint64(this.#take(8)));
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#view.getInt32(this.#take(4));
      case 0xd3:
        return int(this.#view.getBigInt64(this.#take(8)));
      case 0xd4:
      case 0xd5:
      case 0xd6:
      case 0xd7:
      case 0xd8:
        return this.#readExtension(1 << (code - 0xd4));
      case 0xd9:
        return this.#readText(this.#length(1));
      case 0xda:
        return this.#readText(this.#length(2));
      case 0xdb:
        return this.#readText(this.#length(4));
      case 0xdc:
        return this.#readList(this.#length(2), depth);
      case 0xdd:
        return this.#readList(this.#length(4), depth);
      case 0xde:
        return this.#readMap(this.#length(2), depth);
      case 0xdf:
        return this.#readMap(this.#length(4), depth);
      default:
        throw new MsgpackError(`No value starts with 0x${code.toString(16)}, at ${this.#position - 1}`);
    }
  }

  /** Refuses a list or map too deep or with more entries than the input can hold, at `size` bytes each or more. */
  #enter(count: number, size: number, depth: number): void {
    if (depth === 0) throw new MsgpackError("Nested too deep");
    if (count * size > this.#bytes.length - this.#position) {
      throw new MsgpackError(`Truncated: ${count} entries expected at ${this.#position}`);
    }
    this.#spend(count + CONTAINER);
  }

  #spend(memory: number): void {
    this.#memory += memory;
    if (this.#memory > this.#most) throw new MsgpackError("More lists, maps and entries than one message may have");
  }

  #copy(bytes: Uint8Array): Uint8Array {
    this.#spend(CONTAINER);
    return bytes.slice();
  }

  #readList(count: number, depth: number): Value[] {
    this.#enter(count, 1, depth);
    // Grown, not allocated at once: nested lists could each claim all that is left of the input.
    const list: Value[] = [];
    for (let i = 0; i < count; i++) list.push(this.read(depth - 1));
    return list;
  }

  #readMap(count: number, depth: number): ValueMap {
    this.#enter(count, 2, depth);
    const map: ValueMap = new Map();
    let unique: UniqueKeys | undefined;
    for (let i = 0; i < count; i++) {
      const code = this.#bytes[this.#position];
      let key = code >= 0xa0 && code < 0xc0 ? this.#readKey(code & 0x1f) : this.read(depth - 1);
      if (typeof key === "object" || typeof key === "boolean") {
        if (Array.isArray(key) || key instanceof Map) throw new MsgpackError("A list or map is no key of a map");
        unique ??= new UniqueKeys(map);
      }
      if (unique !== undefined) key = unique.get(key);
      map.set(key, this.read(depth - 1));
    }
    return map;
  }

  #readKey(length: number): string | Uint8Array {
    const bytes = this.#bytes;
    const start = this.#position + 1;
    if (start + length > bytes.length) throw new MsgpackError(`Truncated: ${length} bytes expected at ${start}`);
    let hash = length;
    for (let i = start; i < start + length; i++) hash = (hash * 31 + bytes[i]) | 0;
    const slot = hash & 1023;
    const known = knownKeys[slot];
    if (known.length === length) {
      let i = 0;
      while (i < length && known.charCodeAt(i) === bytes[start + i]) i++;
      if (i === length) {
        this.#position = start + length;
        return known;
      }
    }
    this.#position = start;
    const key = this.#readText(length);
    // Only ASCII has as many characters as bytes.
    if (typeof key === "string" && key.length === length) knownKeys[slot] = key;
    return key;
  }

  #readText(length: number): string | Uint8Array {
    const bytes = this.#bytes;
    const start = this.#take(length);
    const end = start + length;
    if (length <= SHORT_TEXT) {
      const text = asciiText(bytes, start, end);
      if (text !== undefined) return text;
    }
    const slice = bytes.subarray(start, end);
    if (!looksLikeText(slice)) return this.#copy(slice);
    try {
      return textDecoder.decode(slice);
    } catch {
      return this.#copy(slice);
    }
  }

  #readBin(length: number): string | Uint8Array {
    if (this.#binAsText) return this.#readText(length);
    const start = this.#take(length);
    return this.#copy(this.#bytes.subarray(start, start + length));
  }

  #readExtension(length: number): string {
    const type = this.#view.getInt8(this.#take(1));
    const start = this.#take(length);
    if (type !== EXT_DATETIME) throw new MsgpackError(`Extension type ${type} is not one of Salt's`);
    return datetime(String.fromCharCode(...this.#bytes.subarray(start, start + Math.min(length, 32))));
  }
}

const { fromCharCode } = String;

/** The text from `start` to `end`, if it is ASCII. Several characters at a time: one by one each would make a string more. */
function asciiText(bytes: Uint8Array, start: number, end: number): string | undefined {
  let bits = 0;
  for (let i = start; i < end; i++) bits |= bytes[i];
  if (bits >= 0x80) return undefined;
  let text = "";
  let i = start;
  for (; i + 8 <= end; i += 8) {
    text += fromCharCode(
      bytes[i],
      bytes[i + 1],
      bytes[i + 2],
      bytes[i + 3],
      bytes[i + 4],
      bytes[i + 5],
      bytes[i + 6],
      bytes[i + 7],
    );
  }
  for (; i + 2 <= end; i += 2) text += fromCharCode(bytes[i], bytes[i + 1]);
  return i < end ? text + fromCharCode(bytes[i]) : text;
}

/** Whether `bytes` may be UTF-8, by their beginning; what is encrypted or signed seldom gets beyond the first few. */
function looksLikeText(bytes: Uint8Array): boolean {
  const end = Math.min(bytes.length, PROBED);
  for (let i = 0; i < end; i++) {
    const lead = bytes[i];
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    for (let rest = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3; rest > 0; rest--) {
      // Beyond the last byte this is undefined, of which no bit is set.
      if ((bytes[++i] & 0xc0) !== 0x80) return false;
    }
  }
  return true;
}

/** What `str()` gives for the datetime that `text` (`20240102T03:04:05.000006`) stands for. */
function datetime(text: string): string {
  const match = /^(\d{4})(\d\d)(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{1,6})$/.exec(text);
  if (match !== null) {
    const [, year, month, day, hour, minute, second, fraction] = match;
    const micro = fraction.padEnd(6, "0");
    const time = `${hour}:${minute}:${second}`;
    const whole = `${year}-${month}-${day}T${time}.000Z`;
    const date = new Date(whole);
    if (year !== "0000" && !Number.isNaN(date.getTime()) && date.toISOString() === whole) {
      return `${year}-${month}-${day} ${time}${micro === "000000" ? "" : `.${micro}`}`;
    }
  }
  throw new MsgpackError(`Extension type ${EXT_DATETIME} holds no date and time`);
}

/** The keys of one map as Python tells them apart: `1`, `1.0` and `True` are one key, and so are equal bytes. */
class UniqueKeys {
  readonly #known = new Map<number | bigint | string, Value>();

  constructor(map: ValueMap) {
    for (const key of map.keys()) this.get(key);
  }

  /** The key equal to `key` that the map has already, else `key`. */
  get(key: Value): Value {
    let identity: number | bigint | string;
    if (typeof key === "string" || key === null) return key;
    if (typeof key === "number" || typeof key === "bigint") identity = key;
    else if (typeof key === "boolean") identity = key ? 1 : 0;
    else if (key instanceof Uint8Array) identity = key.join();
    else if (key instanceof Float) identity = Number.isFinite(key.value) ? int(BigInt(key.value)) : key.value;
    else return key;
    const known = this.#known.get(identity);
    if (known === undefined) this.#known.set(identity, key);
    return known ?? key;
  }
}
