/**
 * Distinguished names: as DER, in the notation of RFC 4514, and in the form of Salt's arguments (a text, a list of
 * parts, or a map). Source: RFC 4514, RFC 5280; Salt 3008.3 `salt/utils/x509.py` _get_dn, _get_rdn; `cryptography` for
 * the accepted values.
 * @module
 */

import {
  type Der,
  der,
  DerError,
  encodeOid,
  encodeSequence,
  encodeString,
  expectTag,
  readChildren,
  readOid,
  setOf,
  TAG,
} from "./der.ts";
import { NAME_OIDS } from "./oids.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { isMap, str, typeName, type Value } from "#lib/values/value.ts";

/** One attribute of a name. */
export interface NameAttribute {
  readonly oid: string;
  readonly value: string;
}

/** A part of a name; it seldom has more than one attribute. */
export type NamePart = readonly NameAttribute[];

/** A name, its parts in the order of the encoding. */
export type Name = readonly NamePart[];

/** Names of attributes in RFC 4514. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ...["CN", "L", "ST", "O", "OU", "C", "STREET", "UID"].map((name): [string, string] => [
    NAME_OIDS.get(name) ?? "",
    name,
  ]),
  ["0.9.2342.19200300.100.1.25", "DC"],
]);

const PRINTABLE: readonly string[] = ["2.5.4.6", "1.3.6.1.4.1.311.60.2.1.3", "2.5.4.5", "2.5.4.46"];
const IA5: readonly string[] = ["1.2.840.113549.1.9.1", "0.9.2342.19200300.100.1.25"];

/** The minimum and maximum bytes of attributes that have a limit. */
const LIMITS: Readonly<Record<string, readonly [number, number]>> = {
  "2.5.4.6": [2, 2],
  "1.3.6.1.4.1.311.60.2.1.3": [2, 2],
  "2.5.4.3": [1, 64],
};

/** The text of a DER string of any type. */
export function readDerText(value: Der): string {
  switch (value.tag) {
    case TAG.bmp:
      return new TextDecoder("utf-16be").decode(value.body);
    case TAG.universal: {
      const points: number[] = [];
      const view = new DataView(value.body.buffer, value.body.byteOffset, value.body.length);
      for (let at = 0; at + 4 <= value.body.length; at += 4) points.push(view.getUint32(at));
      if (points.some((point) => point > 0x10ffff)) throw new DerError("A character that does not exist");
      return points.map((point) => String.fromCodePoint(point)).join("");
    }
    case TAG.teletex:
      return new TextDecoder("latin1").decode(value.body);
    case TAG.bitString:
      return `#${value.body.subarray(1).toHex()}`;
    default:
      return new TextDecoder("utf-8", { ignoreBOM: true }).decode(value.body);
  }
}

/**
 * Reads a name from a SEQUENCE of sets.
 * @throws {DerError} If it is none.
 */
export function readName(value: Der): Name {
  return readChildren(value, TAG.sequence).map((part) => readNamePart(expectTag(part, TAG.set)));
}

/**
 * Reads a part from a SET of attributes, with any tag.
 * @throws {DerError} If it is none.
 */
export function readNamePart(value: Der): NamePart {
  return readChildren(value).map((attribute) => {
    const [type, content] = readChildren(attribute, TAG.sequence);
    if (content === undefined) throw new DerError("An attribute without a value");
    return { oid: readOid(expectTag(type, TAG.oid)), value: readDerText(content) };
  });
}

/** A name as DER. */
export function encodeName(name: Name): Uint8Array {
  return encodeSequence(...name.map((part) => setOf(encodedAttributes(part))));
}

/** The attributes of a part as DER, without what is around them. */
function encodedAttributes(part: NamePart): Uint8Array[] {
  return part.map(({ oid: type, value }) => encodeSequence(encodeOid(type), encodeString(tagOf(type), value)));
}

function tagOf(type: string): number {
  return PRINTABLE.includes(type) ? TAG.printable : IA5.includes(type) ? TAG.ia5 : TAG.utf8;
}

/** A name as text: the last part first. */
export function nameText(name: Name): string {
  return name.toReversed().map(namePartText).join(",");
}

/** One part of a name as text. */
export function namePartText(part: NamePart): string {
  return part.map(({ oid, value }) => `${SHORT_NAMES.get(oid) ?? oid}=${escapeValue(value)}`).join("+");
}

function escapeValue(value: string): string {
  // deno-lint-ignore no-control-regex
  const plain = value.replace(/[\\"+,;<>]/g, "\\$&").replace(/\x00/g, "\\00");
  const led = plain.startsWith("#") || (plain.startsWith(" ") && plain.length > 1) ? `\\${plain}` : plain;
  return led.endsWith(" ") ? `${led.slice(0, -1)}\\ ` : led;
}

/** Whether both are the same, independent of their string types. */
export function sameName(one: Name, other: Name): boolean {
  const parts = (name: Name) => name.map((part) => part.map(({ oid, value }) => `${oid}=${value}`).sort());
  return JSON.stringify(parts(one)) === JSON.stringify(parts(other));
}

/**
 * The first attribute of a kind.
 * @param name Salt's word: `CN`.
 */
export function attributeOf(name: Name, word: string): string | undefined {
  return name.flat().find(({ oid }) => oid === NAME_OIDS.get(word))?.value;
}

function byteLength(value: string): number {
  return new TextEncoder().encode(value).length;
}

/** The attribute; `undefined` if it is too long or too short. */
function fitting(type: string, value: string): NameAttribute | undefined {
  const [min, max] = LIMITS[type] ?? [0, Infinity];
  const length = byteLength(value);
  return length < min || length > max ? undefined : { oid: type, value };
}

/** @throws {CommandError} If the attribute is too long or too short. */
function attribute(type: string, value: string): NameAttribute {
  const [min, max] = LIMITS[type] ?? [0, Infinity];
  const length = byteLength(value);
  if (length < min || length > max) {
    throw new CommandError(`Attribute's length must be >= ${min} and <= ${max}, but it was ${length}`);
  }
  return { oid: type, value };
}

/** Characters that a backslash escapes, and pairs of hexadecimal digits. */
const PAIR = String.raw`\\(?:[\\ #="+,;<>]|[\da-zA-Z]{2})`;
const STRING = new RegExp(
  String.raw`(?:(?:[\x01-\x1f!$-*\--:=?-\[\]-\u{10ffff}]|${PAIR})` +
    String.raw`(?:(?:[\x01-!#-*\--:=?-\[\]-\u{10ffff}]|${PAIR})*(?:[\x01-\x1f!#-*\--:=?-\[\]-\u{10ffff}]|${PAIR}))?)?`,
  "uy",
);

/** Reads a text of RFC 4514. */
class NameParser {
  #at = 0;
  constructor(readonly text: string) {}

  /** The parts in the order of the text; `undefined` if it is not a name. */
  parse(): NamePart[] | undefined {
    if (this.text === "") return [];
    const parts: NamePart[] = [];
    do {
      const attributes: NameAttribute[] = [];
      do {
        const attribute = this.#attribute();
        if (attribute === undefined) return undefined;
        attributes.push(attribute);
      } while (this.#take("+"));
      parts.push(attributes);
    } while (this.#take(","));
    return this.#at === this.text.length ? parts : undefined;
  }

  #take(letter: string): boolean {
    if (this.text[this.#at] !== letter) return false;
    this.#at += 1;
    return true;
  }

  #match(expression: RegExp): string | undefined {
    expression.lastIndex = this.#at;
    const match = expression.exec(this.text)?.[0];
    this.#at += match?.length ?? 0;
    return match;
  }

  #attribute(): NameAttribute | undefined {
    const dotted = this.#match(/(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*))+/y);
    const word = dotted === undefined ? this.#match(/[a-zA-Z][a-zA-Z\d-]*/y) : undefined;
    const type = dotted ?? [...SHORT_NAMES].find(([, name]) => name === word)?.[0];
    if (type === undefined || !this.#take("=")) return undefined;
    if (this.text[this.#at] === "#") {
      const hex = this.#match(/#(?:[\da-fA-F]{2})+/y);
      return hex === undefined ? undefined : fitting(type, new TextDecoder().decode(Uint8Array.fromHex(hex.slice(1))));
    }
    return fitting(type, unescapeValue(this.#match(STRING) ?? ""));
  }
}

function unescapeValue(value: string): string {
  return value.replace(
    /\\[\\ #="+,;<>]|(?:\\[\da-fA-F]{2})+/g,
    (pair) => pair.length === 2 ? pair[1] : new TextDecoder().decode(Uint8Array.fromHex(pair.replaceAll("\\", ""))),
  );
}

/**
 * One part of a name.
 * @throws {CommandError} If the text is none.
 * @throws {InvocationError} If it is several.
 */
export function namePart(argument: Value): NamePart {
  const parts = typeof argument === "string" ? new NameParser(argument).parse() : undefined;
  if (parts === undefined || parts.length === 0) throw new CommandError(`Failed parsing rdn string: ${str(argument)}`);
  if (parts.length > 1) {
    throw new InvocationError("Specified string is not a Relative Distinguished Name, but a Distinguished Name.");
  }
  return parts[0];
}

/**
 * Builds a name from Salt's arguments.
 * @throws {CommandError} If a text cannot be read, or a value does not fit.
 * @throws {InvocationError} For what is not a text, list or map.
 */
export function nameOf(argument: Value): Name {
  if (typeof argument === "string") {
    const parts = new NameParser(argument).parse();
    if (parts === undefined) throw new CommandError("Failed parsing rfc4514 dirName string");
    return parts.reverse();
  }
  if (Array.isArray(argument)) return argument.map(namePart);
  if (isMap(argument)) {
    return [...NAME_OIDS].filter(([word]) => argument.has(word)).map(([word, type]) => {
      const value = argument.get(word) ?? null;
      if (typeof value !== "string") throw new CommandError(`value argument must be a str, not ${typeName(value)}`);
      return [attribute(type, value)];
    });
  }
  throw new InvocationError("Need string, list or dict to parse distinguished names");
}

/** A part as the implicit contents of a distribution point. */
export function implicitPart(tag: number, part: NamePart): Uint8Array {
  return der(tag, ...encodedAttributes(part));
}
