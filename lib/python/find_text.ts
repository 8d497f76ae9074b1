/**
 * Finds a text in another. The runtime's own search compares up to text × wanted characters: `"a" × 10,000,000` for
 * `"a" × 500,000 + "b" + "a" × 500,000` takes it hours, in which nothing ends it. So long searches are made in parts,
 * and the job's stop word is looked at between them.
 * @module
 */

import { countLongStep } from "#lib/values/stop_word.ts";

/** Number of comparisons of one search by the runtime: some 50 ms. */
const MAX_COMPARISONS = 1 << 26;

/** Number of places that are tried at once; `undefined` if the search is short. */
function placesAtOnce(length: number, wanted: string): number | undefined {
  if (length * wanted.length <= MAX_COMPARISONS) return undefined;
  return Math.max(1, Math.floor(MAX_COMPARISONS / wanted.length));
}

/**
 * The first place of `wanted` at or after `from`; -1 if there is none. As `indexOf`.
 * @throws {JobEndedError} If the job is to end.
 */
export function findText(text: string, wanted: string, from = 0): number {
  const places = placesAtOnce(text.length - from, wanted);
  if (places === undefined) return text.indexOf(wanted, from);
  for (let at = from; at + wanted.length <= text.length; at += places) {
    countLongStep();
    const offset = text.slice(at, at + places - 1 + wanted.length).indexOf(wanted);
    if (offset >= 0) return at + offset;
  }
  return -1;
}

/**
 * The last place of `wanted` at or before `from`; -1 if there is none. As `lastIndexOf`.
 * @throws {JobEndedError} If the job is to end.
 */
export function findLastText(text: string, wanted: string, from = text.length): number {
  const last = Math.min(from, text.length - wanted.length);
  const places = placesAtOnce(last + 1, wanted);
  if (places === undefined) return text.lastIndexOf(wanted, from);
  for (let end = last; end >= 0; end -= places) {
    countLongStep();
    const start = Math.max(0, end - places + 1);
    const offset = text.slice(start, end + wanted.length).lastIndexOf(wanted);
    if (offset >= 0) return start + offset;
  }
  return -1;
}

/**
 * The parts of `text` between the places of `separator`, which is not empty. As `split`.
 * @param max Maximum number of separators. Default: all.
 * @throws {JobEndedError} If the job is to end.
 */
export function splitAtText(text: string, separator: string, max = Infinity): string[] {
  if (max === Infinity && placesAtOnce(text.length, separator) === undefined) return text.split(separator);
  const parts: string[] = [];
  let at = 0;
  while (parts.length < max) {
    const next = findText(text, separator, at);
    if (next < 0) break;
    parts.push(text.slice(at, next));
    at = next + separator.length;
  }
  return [...parts, text.slice(at)];
}
