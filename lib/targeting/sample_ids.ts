/**
 * Some minions of a target, chosen at random. Source: Fisher-Yates.
 * @module
 */

/** `count` of `ids`, chosen at random; all of them, in random order, if there are no more. */
export function sampleIds(ids: readonly string[], count: number): string[] {
  const mixed = [...ids];
  for (let i = mixed.length - 1; i > 0; i--) {
    const j = Math.floor(Math.random() * (i + 1));
    [mixed[i], mixed[j]] = [mixed[j], mixed[i]];
  }
  return mixed.slice(0, count);
}
