/**
 * `mappings` of a source map: what they tell of a text, and those of a text that was put together again from parts of it.
 * Source: ECMA-426.
 * @module
 */

/** A part of a text, from one offset to before another, in characters. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** A part of a text: new words, or a range of an older text. */
export type Piece = string | Range;

/** A mapped offset. */
export interface Place {
  readonly offset: number;
  /** Index of the source, its line, its column, index of the name there: none, the first three or all four. */
  readonly told: readonly number[];
}

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/** All places in `text` of which `mappings` tell, in the order of the text. */
export function placesIn(mappings: string, text: string): Place[] {
  const places: Place[] = [];
  const told = [0, 0, 0, 0];
  let start = 0;
  for (const line of mappings.split(";")) {
    let offset = start;
    for (const segment of line === "" ? [] : line.split(",")) {
      const [columns, ...differences] = numbersOf(segment);
      offset += columns;
      differences.forEach((difference, i) => told[i] += difference);
      places.push({ offset, told: told.slice(0, differences.length) });
    }
    const end = text.indexOf("\n", start);
    start = end < 0 ? text.length : end + 1;
  }
  return places;
}

/** The index of the first of `places` at `offset` or behind it. */
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

/** The mappings of the text that `pieces` make. @param text What they are parts of. @param places What is known of it. */
export function mappingsOf(pieces: readonly Piece[], text: string, places: readonly Place[]): string {
  const mappings = new Mappings();
  for (const piece of pieces) {
    if (typeof piece === "string") {
      mappings.pass(piece);
      continue;
    }
    let at = piece.from;
    for (let i = firstFrom(places, piece.from); i < places.length && places[i].offset < piece.to; i++) {
      const { offset, told } = places[i];
      mappings.pass(text.slice(at, offset));
      mappings.add(told);
      at = offset;
    }
    mappings.pass(text.slice(at, piece.to));
  }
  return mappings.text;
}

/** Writes mappings, from the beginning of the text on. */
class Mappings {
  text = "";
  #column = 0;
  /** The last mapped column; `undefined` at the beginning of a line. */
  #told: number | undefined;
  readonly #last = [0, 0, 0, 0];

  /** Skips `words` of the text. */
  pass(words: string): void {
    const lines = words.split("\n");
    if (lines.length > 1) {
      this.text += ";".repeat(lines.length - 1);
      this.#column = 0;
      this.#told = undefined;
    }
    this.#column += lines[lines.length - 1].length;
  }

  /** Adds a mapping at the current position. */
  add(told: readonly number[]): void {
    const differences = told.map((value, i) => value - this.#last[i]);
    if (this.#told !== undefined) this.text += ",";
    this.text += [this.#column - (this.#told ?? 0), ...differences].map(digitsOf).join("");
    told.forEach((value, i) => this.#last[i] = value);
    this.#told = this.#column;
  }
}

/** The numbers of a segment: base 64 with 5 bits a digit, lowest first, and the sign in the lowest bit. */
function numbersOf(segment: string): number[] {
  const numbers: number[] = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
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
