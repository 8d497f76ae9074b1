/**
 * The header `Accept`: which of the offered media types a client prefers.
 * Source: RFC 9110, section 12.5.1.
 * @module
 */

/** One range of the header. */
interface MediaRange {
  /** `text/html`, or one with `*`, in lower case. */
  readonly range: string;
  /** 0 to 1. */
  readonly weight: number;
}

/** Maximum number of ranges that are read. */
const MAX_RANGES = 50;

function mediaRanges(header: string): MediaRange[] {
  return header.split(",", MAX_RANGES).flatMap((part) => {
    const [range, ...parameters] = part.split(";").map((text) => text.trim().toLowerCase());
    if (range === "") return [];
    const weight = parameters.map((text) => /^q\s*=\s*(\d(?:\.\d+)?)$/.exec(text)).find((found) => found !== null);
    return [{ range, weight: weight === undefined ? 1 : Math.min(1, Number(weight[1])) }];
  });
}

/** The weight of `type` by the most specific range that names it; 0 if none does. */
function weightOf(type: string, ranges: readonly MediaRange[]): number {
  for (const name of [type, `${type.split("/")[0]}/*`, "*/*"]) {
    const named = ranges.find(({ range }) => range === name);
    if (named !== undefined) return named.weight;
  }
  return 0;
}

/**
 * The type of `offered` that the client prefers; of two with one weight, the first. Without a header, the first.
 * @returns `undefined` if the client takes none of them.
 */
export function preferredType<T extends string>(header: string | null, offered: readonly T[]): T | undefined {
  if (header === null || header.trim() === "") return offered[0];
  const ranges = mediaRanges(header);
  let best: T | undefined;
  let weight = 0;
  for (const type of offered) {
    const own = weightOf(type, ranges);
    if (own > weight) [best, weight] = [type, own];
  }
  return best;
}

/** Whether the header names `type` itself, and gives none of `others` a greater weight: browsers prefer `text/html`. */
export function prefers(header: string | null, type: string, others: readonly string[]): boolean {
  if (header === null) return false;
  const ranges = mediaRanges(header);
  const own = ranges.find(({ range }) => range === type)?.weight ?? 0;
  return own > 0 && others.every((other) => weightOf(other, ranges) <= own && !isBefore(other, type, ranges, own));
}

/** Whether `other` is named by itself with the same weight, and before `type`. */
function isBefore(other: string, type: string, ranges: readonly MediaRange[], weight: number): boolean {
  const at = ranges.findIndex(({ range }) => range === other);
  return at >= 0 && ranges[at].weight === weight && at < ranges.findIndex(({ range }) => range === type);
}
