/**
 * Reads the `mappings` of a source map, and makes the mappings of a text that is put together from parts of another
 * text. Source: ECMA-426.
 * @module
 */

/** A part of a text, from one offset to before another, in characters. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A part of a text: new text, or a range of the old text. */
export type Piece = string | Range;

/** A mapped offset. */
export interface Place {
  readonly offset: number;
  /** Index of the source, its line, its column, index of the name there: none, the first three or all four. */
  readonly segment: readonly number[];
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** All mapped places in `text`, in the order of the text. */
export function placesIn(mappings: string, text: string): Place[] {
  const places: Place[] = [];
  const segment = [0, 0, 0, 0];
  let start = 0;
  for (const line of mappings.split(";")) {
    let offset = start;
    for (const text of line === "" ? [] : line.split(",")) {
      const [columns, ...differences] = numbersOf(text);
      offset += columns;
      differences.forEach((difference, i) => segment[i] += difference);
      places.push({ offset, segment: segment.slice(0, differences.length) });
    }
    const end = text.indexOf("\n", start);
    start = end < 0 ? text.length : end + 1;
  }
  return places;
}

/** The index of the first of `places` at `offset` or after it. */
export function firstFrom(places: readonly Place[], offset: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle].offset < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The mappings of the text that `pieces` make.
 * @param text The old text.
 * @param places The mapped places of the old text.
 */
export function mappingsOf(pieces: readonly Piece[], text: string, places: readonly Place[]): string {
  const mappings = new Mappings();
  for (const piece of pieces) {
    if (typeof piece === "string") {
      mappings.pass(piece);
      continue;
    }
    let at = piece.from;
    for (let i = firstFrom(places, piece.from); i < places.length && places[i].offset < piece.to; i++) {
      const { offset, segment } = places[i];
      mappings.pass(text.slice(at, offset));
      mappings.add(segment);
      at = offset;
    }
    mappings.pass(text.slice(at, piece.to));
  }
  return mappings.text;
}

/** Writes mappings, from the beginning of the text to its end. */
class Mappings {
  text = "";
  #column = 0;
  /** The last mapped column; `undefined` at the beginning of a line. */
  #lastColumn: number | undefined;
  readonly #last = [0, 0, 0, 0];

  /** Skips the characters of `words`. */
  pass(words: string): void {
    const lines = words.split("\n");
    if (lines.length > 1) {
      this.text += ";".repeat(lines.length - 1);
      this.#column = 0;
      this.#lastColumn = undefined;
    }
    this.#column += lines[lines.length - 1].length;
  }

  /** Adds a mapping at the current position. */
  add(segment: readonly number[]): void {
    const differences = segment.map((value, i) => value - this.#last[i]);
    if (this.#lastColumn !== undefined) this.text += ",";
    this.text += [this.#column - (this.#lastColumn ?? 0), ...differences].map(digitsOf).join("");
    segment.forEach((value, i) => this.#last[i] = value);
    this.#lastColumn = this.#column;
  }
}

/** The numbers of a segment: base 64 with 5 bits a digit, lowest first, and the sign in the lowest bit. */
function numbersOf(text: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of text) {
    const bits = DIGITS.indexOf(digit);
    value |= (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

function digitsOf(number: number): string {
  let rest = number < 0 ? -number << 1 | 1 : number << 1;
  let text = "";
  do {
    const bits = rest & 31;
    rest >>= 5;
    text += DIGITS[rest > 0 ? bits | 32 : bits];
  } while (rest > 0);
  return text;
}
