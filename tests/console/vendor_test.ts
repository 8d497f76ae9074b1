/** The libraries of the console are those of npm, but for the names that they import each other by. */

import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import {
  installedText,
  licenseName,
  VENDOR,
  VENDORED,
  VENDORED_PACKAGES,
  vendoredText,
} from "#scripts/console/vendor.ts";

const DIRECTORY = new URL(`../../${VENDOR}/`, import.meta.url);

/** A text without what the script changes: names of imports, the lines about types and source maps. */
function bare(text: string): string {
  return text.replace(/^\/\* @ts-self-types=.*\n\/\/ @ts-nocheck.*\n/, "").replace(/\/\/# sourceMappingURL=\S*/, "")
    .replace(/\bfrom"[^"]+"/g, 'from""').trim();
}

Deno.test("each vendored file is npm's, apart from the names of its imports", () => {
  for (const { name, from, file } of VENDORED) {
    const copy = Deno.readTextFileSync(new URL(name, DIRECTORY));
    assertEquals(bare(copy), bare(installedText(from, file)), name);
    assertEquals(copy, vendoredText(name, installedText(from, file)), name);
    assert(!/\beval\(|new Function\b/.test(copy), name);
    for (const [, to] of copy.matchAll(/\bfrom"([^"]+)"/g)) assert(VENDORED.some(({ name }) => to === `./${name}`), to);
  }
});

Deno.test("the licence of each vendored package lies beside it", () => {
  for (const from of VENDORED_PACKAGES) {
    assertEquals(Deno.readTextFileSync(new URL(licenseName(from), DIRECTORY)), installedText(from, "LICENSE"));
  }
});

Deno.test("an import of a package that is not vendored is refused", () => {
  assertThrows(() => vendoredText("x.js", 'import a from"left-pad";'), Error, "left-pad");
});
