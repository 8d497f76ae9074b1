/**
 * Lists of seeds, as an option gives them.
 * @module
 */

import { OptionError } from "#scripts/options.ts";

/**
 * The seeds of a list.
 * @param text `1-1000`, `7`, or several of them: `7,33,100-120`.
 * @throws {OptionError} If it is no such list.
 */
export function parseSeeds(text: string): number[] {
  return text.split(",").flatMap((part) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(part) ?? [];
    if (first === undefined || Number(last) < Number(first)) {
      throw new OptionError(`${text} are no seeds: say 1-1000, 7, or 7,33`);
    }
    return Array.from({ length: Number(last) - Number(first) + 1 }, (_, i) => Number(first) + i);
  });
}
