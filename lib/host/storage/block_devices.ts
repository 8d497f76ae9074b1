/**
 * Output of programs about block devices: `blkid`, `hdparm`, `smartctl`, `iostat`.
 * Source: Salt 3008.3, `salt/modules/disk.py`; blkid(8), hdparm(8), smartctl(8), iostat(1).
 * @module
 */

import { stripChars } from "#lib/values/python_text.ts";
import { float, type Value } from "#lib/values/value.ts";

/** Parses the output of `blkid`: the attributes of each device. */
export function parseBlkid(text: string): Map<string, Map<string, string>> {
  return new Map(
    text.split("\n").filter((line) => line !== "").map((line): [string, Map<string, string>] => {
      const [device] = line.trim().split(/\s+/);
      const attributes = [...line.slice(line.indexOf(" ")).matchAll(/([^\s=]+)="([^"]*)"/g)];
      return [device.slice(0, -1), new Map(attributes.map(([, key, value]) => [key, value]))];
    }),
  );
}

function integer(text: string): number | undefined {
  return /^\s*[+-]?\d+\s*$/.test(text) ? Number(text) : undefined;
}

/**
 * Parses the output of `hdparm`: the parameters of a disk.
 * @param device Its path, which has a line of its own in the output.
 */
export function parseHdparm(text: string, device: string): Map<string, Value> {
  const settings = new Map<string, Value>();
  for (const line of text.split("\n").map((one) => one.trim())) {
    if (line === "" || line === `${device}:`) continue;
    const sign = line.includes(":") ? ":" : "=";
    const at = line.indexOf(sign);
    if (at < 0) continue;
    const name = sign === ":" ? line.slice(0, at).replace(/ is$/, "") : line.slice(0, at);
    const value = hdparmValue(line.slice(at + 1).trim());
    if (value !== undefined) settings.set(name.trim().toLowerCase().replaceAll(" ", "_"), value);
  }
  return settings;
}

/** One value, a list of several, or at its end a map of those with a name; `undefined` if there is none. */
function hdparmValue(text: string): Value | undefined {
  if (/^[0-9]+ \(.*\)/.test(text)) {
    const [number, word] = text.split(" ");
    return [Number(number), stripChars(word, "()")];
  }
  const values: Value[] = [];
  const fields = new Map<Value, Value>();
  for (const part of text.split(/[/,]/).map((one) => one.trim())) {
    const number = integer(part);
    const equals = part.indexOf("=");
    if (number !== undefined) values.push(number);
    else if (equals >= 0) {
      const value = part.slice(equals + 1).trim();
      if (value !== "") fields.set(part.slice(0, equals).trim(), value);
    } else if (part !== "") values.push(part);
  }
  if (fields.size > 0) values.push(fields);
  return values.length === 0 ? undefined : values.length === 1 ? values[0] : values;
}

/** Which attributes of `smartctl --attributes` are wanted; all, if neither says. */
export interface SmartChoice {
  readonly attributes: readonly number[] | undefined;
  /** The names of columns. */
  readonly values: readonly string[] | undefined;
}

/** Parses the output of `smartctl --attributes`: the attributes by number. */
export function parseSmart(text: string, { attributes, values }: SmartChoice): Map<number, Map<string, Value>> {
  const lines = text.split("\n");
  const head = lines.findIndex((line) => line.startsWith("ID#"));
  const fields = (lines[head] ?? "").trim().split(/\s+/).slice(1).map((field) => field.toLowerCase());
  const byNumber = new Map<number, Map<string, Value>>();
  for (const line of head < 0 ? [] : lines.slice(head + 1)) {
    if (!/^\s*\d/.test(line)) break;
    const words = splitMost(line.trim(), fields.length);
    const number = Number(words[0]);
    if (attributes !== undefined && !attributes.includes(number)) continue;
    const data = fields.map((field, i): [string, Value] => [field, smartValue(words[i + 1] ?? "")]);
    byNumber.set(number, new Map(data.filter(([field]) => values === undefined || values.includes(field))));
  }
  return byNumber;
}

/** The words of a line; after `max` of them the rest is one. */
function splitMost(line: string, max: number): string[] {
  const words: string[] = [];
  let rest = line;
  while (words.length < max) {
    const gap = /\s+/.exec(rest);
    if (gap === null) break;
    words.push(rest.slice(0, gap.index));
    rest = rest.slice(gap.index + gap[0].length);
  }
  return [...words, rest];
}

function smartValue(text: string): Value {
  const number = integer(text);
  if (number !== undefined) return number;
  const numbers = text.split(" ").map(integer);
  return numbers.every((one) => one !== undefined) ? numbers : text;
}

/** Parses the output of `iostat -x`: averages by device; those of the processor as `sys`. */
export function parseIostat(text: string): Map<string, Map<string, Value>> {
  let system: string[] = [], device: string[] = [];
  const samples = new Map<string, string[][]>();
  const add = (name: string, words: string[]) => samples.set(name, [...samples.get(name) ?? [], words]);
  let below: "system" | "device" | undefined;
  for (const line of text.split("\n")) {
    const words = line.trim().split(/\s+/);
    if (line.startsWith("avg-cpu:")) {
      system = words.slice(1);
      below = "system";
    } else if (/^Device:?\s/.test(line)) {
      device = words.slice(1);
      below = "device";
    } else if (line.trim() === "") below = undefined;
    else if (below === "system") {
      add("sys", words);
      below = undefined;
    } else if (below === "device") add(words[0], words.slice(1));
  }
  return new Map([...samples].map(([name, rows]) => {
    const header = name === "sys" ? system : device;
    return [
      name,
      new Map(header.map((field, i): [string, Value] => [field, float(average(rows.map((row) => row[i])))])),
    ];
  }));
}

/** The mean of decimal numbers, to two digits, halves to the even one, as Python's `decimal` rounds. */
function average(texts: readonly string[]): number {
  const DIGITS = 8n;
  const scaled = texts.map((text) => {
    const [whole, part = ""] = text.split(".");
    return BigInt(`${whole}${part.padEnd(Number(DIGITS), "0").slice(0, Number(DIGITS))}`);
  });
  const unit = 10n ** (DIGITS - 2n) * BigInt(texts.length);
  const sum = scaled.reduce((total, one) => total + one, 0n);
  const [quotient, rest] = [sum / unit, (sum % unit) * 2n];
  const up = rest > unit || (rest === unit && quotient % 2n === 1n);
  return Number(quotient + (up ? 1n : 0n)) / 100;
}
