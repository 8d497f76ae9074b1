/**
 * Limits for storms of one tag (`reactor_limits`): how many events of a tag start reactions in a minute.
 * @module
 */

import { compileGlob } from "#lib/text/glob.ts";
import { BoundedMap } from "#lib/values/bounded_map.ts";
import { toNumber, type ValueMap } from "#lib/values/value.ts";

const MINUTE_MS = 60_000;
/** Number of tags that are counted. */
const MAX_TAGS = 10_000;

/** The counts of one reactor. */
export class TagLimits {
  readonly #limits: readonly { readonly matches: (tag: string) => boolean; readonly most: number }[];
  readonly #counts = new BoundedMap<string, { readonly fromMs: number; count: number }>(MAX_TAGS);

  /** @param limits Numbers by globs of tags; what is no number is left out. */
  constructor(limits: ValueMap) {
    this.#limits = [...limits].flatMap(([glob, value]) => {
      const most = toNumber(value);
      return typeof glob === "string" && most !== undefined ? [{ matches: compileGlob(glob), most }] : [];
    });
  }

  /**
   * Counts an event that has files.
   * @returns Whether it starts reactions; `first` if it is the first of this minute that does not.
   */
  take(tag: string, nowMs: number): "yes" | "no" | "first" {
    const limit = this.#limits.find(({ matches }) => matches(tag));
    if (limit === undefined) return "yes";
    const known = this.#counts.get(tag);
    const counted = known !== undefined && nowMs >= known.fromMs && nowMs < known.fromMs + MINUTE_MS
      ? known
      : { fromMs: nowMs, count: 0 };
    this.#counts.set(tag, counted);
    counted.count++;
    if (counted.count <= limit.most) return "yes";
    return counted.count === Math.floor(limit.most) + 1 ? "first" : "no";
  }
}
