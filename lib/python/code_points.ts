/**
 * Texts by code points, which Python counts, where JavaScript counts UTF-16 units.
 * @module
 */

import { hasSurrogates } from "./kinds.ts";

/** Positions in a text as Python counts them. */
export interface CodePointPlaces {
  readonly length: number;
  /** The code points from `start` to `end`. */
  slice(start: number, end: number): string;
  /** How many code points are before a UTF-16 unit. */
  ofUnit(unit: number): number;
}

/** How Python counts in `text`. */
export function placesOf(text: string): CodePointPlaces {
  if (!hasSurrogates(text)) {
    return {
      length: text.length,
      slice: (start, end) => text.slice(start, Math.max(start, end)),
      ofUnit: (unit) => unit,
    };
  }
  const chars = [...text];
  return {
    length: chars.length,
    slice: (start, end) => chars.slice(start, Math.max(start, end)).join(""),
    ofUnit: (unit) => [...text.slice(0, unit)].length,
  };
}
