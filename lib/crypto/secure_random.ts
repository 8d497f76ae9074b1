/**
 * Random choices of the system's generator, of which every one is equally likely.
 * @module
 */

/** An int from 0 to below `limit`, which is at most 2^32. */
function randomBelow(limit: number): number {
  const max = 2 ** 32 - 2 ** 32 % limit;
  for (;;) {
    const [word] = crypto.getRandomValues(new Uint32Array(1));
    if (word < max) return word % limit;
  }
}

/** `length` of the characters, of which there is at least one. */
export function randomText(length: number, characters: readonly string[]): string {
  return Array.from({ length }, () => characters[randomBelow(characters.length)]).join("");
}
