/**
 * Reads MessagePack from untrusted bytes, within bounds; the reading half of `msgpack.ts`.
 * Source: github.com/msgpack/msgpack/blob/master/spec.md; Salt's `salt/payload.py` for extension 78.
 * @module
 */

import { Dict, PLAIN_ENTRIES, PLAIN_KEY_LENGTH } from "./dict.ts";
import { MsgpackError } from "#lib/errors.ts";
import { float, int, type Value, type ValueMap } from "./value.ts";

/** Salt's extension type for a date and time. */
const EXT_DATETIME = 78;
/** Up to this many bytes a loop is faster than the runtime's decoder. */
const SHORT_TEXT = 48;
/** Number of bytes that are checked before the runtime's decoder is called, which takes 10 µs to reject bytes. */
const PROBED = 256;

/** Limits for reading one message. Within them the time is proportional to the size of the message. */
export interface Bounds {
  /** Memory cost: an entry counts 1; a list, a map or a byte string counts 16 more. */
  readonly memory: number;
  /** Maximum nesting of lists and maps. */
  readonly depth: number;
  /** Maximum bytes of a text key. */
  readonly keyBytes: number;
  /** Maximum number of keys that are not text, in all maps of the message together. */
  readonly otherKeys: number;
}

/**
 * For files and for senders that have proved their identity: at most about 150 MB. One byte can make an empty map
 * of 200.
 */
const KNOWN: Bounds = { memory: 8_000_000, depth: 512, keyBytes: Infinity, otherKeys: Infinity };

const CONTAINER = 16;
/** Maximum bytes of a key that is not text. The longest useful one is a path that is not UTF-8. */
const MAX_BYTES_OF_KEY = 4_096;

const textDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Keys repeat from message to message, so the text of short keys is cached, in a slot chosen by their bytes. */
const knownKeys: string[] = new Array(1024).fill("");

/** Reads values from `bytes`, starting at the first byte. */
export class Reader {
  readonly #bytes: Uint8Array;
  #madeView: DataView | undefined;
  readonly #binAsText: boolean;
  readonly #bounds: Bounds;
  #position = 0;
  #memory = 0;
  #otherKeys = 0;

  /**
   * @param options.binAsText Whether the bin types may hold text, because old writers did not distinguish.
   * @param options.bounds Default: those for senders that have proved their identity.
   */
  constructor(bytes: Uint8Array, options: { readonly binAsText: boolean; readonly bounds?: Bounds }) {
    this.#bytes = bytes;
    this.#binAsText = options.binAsText;
    this.#bounds = options.bounds ?? KNOWN;
  }

  /**
   * Reads the only value of the bytes.
   * @throws {MsgpackError} If there is none, or it is out of bounds.
   */
  readValue(): Value {
    return this.#read(this.#bounds.depth);
  }

  /** Created when first needed: most messages need no DataView. */
  get #view(): DataView {
    return this.#madeView ??= new DataView(this.#bytes.buffer, this.#bytes.byteOffset, this.#bytes.byteLength);
  }

  /** Number of bytes read so far. */
  get position(): number {
    return this.#position;
  }

  /** Moves past the next `size` bytes and returns their start. */
  #take(size: number): number {
    const start = this.#position;
    if (size > this.#bytes.length - start) throw new MsgpackError(`Truncated: ${size} bytes expected at ${start}`);
    this.#position = start + size;
    return start;
  }

  /** Reads a length of 1, 2 or 4 bytes. */
  #length(size: 1 | 2 | 4): number {
    const at = this.#take(size);
    if (size === 1) return this.#bytes[at];
    return size === 2 ? this.#view.getUint16(at) : this.#view.getUint32(at);
  }

  /** Reads the next value; lists and maps in it may be nested `depth` deep. */
  #read(depth: number): Value {
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

  /**
   * Throws if a list or map is nested too deep, or has more entries (at `size` bytes each, at least) than the input can
   * hold.
   */
  #enter(count: number, size: number, depth: number): void {
    if (depth === 0) throw new MsgpackError("Nested too deep");
    if (count * size > this.#bytes.length - this.#position) {
      throw new MsgpackError(`Truncated: ${count} entries expected at ${this.#position}`);
    }
    this.#spend(count + CONTAINER);
  }

  #spend(memory: number): void {
    this.#memory += memory;
    if (this.#memory > this.#bounds.memory) {
      throw new MsgpackError("More lists, maps and entries than one message may have");
    }
  }

  #copy(bytes: Uint8Array): Uint8Array {
    this.#spend(CONTAINER);
    return bytes.slice();
  }

  #readList(count: number, depth: number): Value[] {
    this.#enter(count, 1, depth);
    // The array grows instead of being allocated at once: nested lists could each claim all of the remaining input.
    const list: Value[] = [];
    for (let i = 0; i < count; i++) list.push(this.#read(depth - 1));
    return list;
  }

  #readMap(count: number, depth: number): ValueMap {
    this.#enter(count, 2, depth);
    if (count > PLAIN_ENTRIES) return this.#fill(new Dict(), count, depth);
    const map: ValueMap = new Map();
    for (let left = count; left > 0; left--) {
      const key = this.#readKey(depth);
      if (!isPlain(key)) {
        const dict = new Dict(map).set(key, this.#read(depth - 1));
        return this.#fill(dict, left - 1, depth).plain();
      }
      map.set(key, this.#read(depth - 1));
    }
    return map;
  }

  /** Separate from {@linkcode #readMap}, so that V8 sees only plain Maps in that loop. */
  #fill(dict: Dict, count: number, depth: number): Dict {
    for (; count > 0; count--) {
      const key = this.#readKey(depth);
      dict.set(key, this.#read(depth - 1));
    }
    return dict;
  }

  #readKey(depth: number): Value {
    const code = this.#bytes[this.#position];
    if (code >= 0xa0 && code < 0xc0) {
      const key = this.#readShortKey(code & 0x1f);
      if (typeof key !== "string") this.#countOtherKey();
      return key;
    }
    const sizes = lengthBytes(code);
    if (sizes !== 0) {
      this.#position++;
      const length = this.#length(sizes);
      if (length > this.#bounds.keyBytes) throw new MsgpackError(`A key of ${length} bytes`);
      const key = code >= 0xd9 ? this.#readText(length) : this.#readBin(length);
      if (typeof key === "string") return key;
      this.#countOtherKey();
      if (length > MAX_BYTES_OF_KEY) throw new MsgpackError(`A key of ${length} bytes that is no text`);
      return key;
    }
    this.#countOtherKey();
    const key = this.#read(depth - 1);
    if (Array.isArray(key) || key instanceof Map) throw new MsgpackError("A list or map is no key of a map");
    return key;
  }

  #countOtherKey(): void {
    if (++this.#otherKeys > this.#bounds.otherKeys) throw new MsgpackError("Too many keys that are no text");
  }

  #readShortKey(length: number): string | Uint8Array {
    const bytes = this.#bytes;
    const start = this.#position + 1;
    if (start + length > bytes.length) throw new MsgpackError(`Truncated: ${length} bytes expected at ${start}`);
    let hash = length;
    for (let i = start; i < start + length; i++) hash = (hash * 31 + bytes[i]) | 0;
    const slot = hash & 1023;
    const text = knownKeys[slot];
    if (text.length === length) {
      let i = 0;
      while (i < length && text.charCodeAt(i) === bytes[start + i]) i++;
      if (i === length) {
        this.#position = start + length;
        return text;
      }
    }
    this.#position = start;
    const key = this.#readText(length);
    // Only ASCII text has as many characters as bytes.
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

/**
 * The text from `start` to `end` if it is ASCII. Converts several characters at a time: one at a time would create a
 * string for each.
 */
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

/** Whether the first bytes may be UTF-8. Encrypted or signed data seldom passes the first few. */
function looksLikeText(bytes: Uint8Array): boolean {
  const end = Math.min(bytes.length, PROBED);
  for (let i = 0; i < end; i++) {
    const lead = bytes[i];
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    for (let rest = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3; rest > 0; rest--) {
      // Past the last byte this is undefined, which has no bits set.
      if ((bytes[++i] & 0xc0) !== 0x80) return false;
    }
  }
  return true;
}

/** The `str()` of the datetime in `text` (`20240102T03:04:05.000006`). */
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

/** Number of length bytes of the text or byte string that begins with `code`; 0 if it is neither, or a short one. */
function lengthBytes(code: number): 0 | 1 | 2 | 4 {
  if (code === 0xd9 || code === 0xc4) return 1;
  if (code === 0xda || code === 0xc5) return 2;
  return code === 0xdb || code === 0xc6 ? 4 : 0;
}

/** Whether a Map compares `key` as Python does, and cheaply. */
function isPlain(key: Value): boolean {
  return typeof key === "string" ? key.length <= PLAIN_KEY_LENGTH : typeof key === "number" || key === null ||
    typeof key === "bigint";
}
