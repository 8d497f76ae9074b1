import { openCollections } from "#lib/yaml/open_collections.ts";
import { assertEquals } from "#tests/support/assert.ts";

const TEXTS: readonly (readonly [text: string, open: readonly (readonly [kind: string, start: number])[]])[] = [
  ["a: [1\n", [["block mapping", 0], ["flow sequence", 3]]],
  ["a: 1\n---\n- b", [["block sequence", 9]]],
  ["- a: 1\n...\n", []],
  ["a:\n - \u00a0[b", [["block mapping", 0], ["block sequence", 4], ["flow sequence", 7]]],
];
for (const [text, open] of TEXTS) {
  Deno.test(`the collections that are open at the end of ${JSON.stringify(text)}`, () => {
    assertEquals(
      openCollections(text, text.length).map(({ kind, start }): readonly [string, number] => [kind, start]),
      [...open],
    );
  });
}
