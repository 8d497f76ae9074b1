/**
 * The option `decrypt_pillar` in many forms, compared with Salt: tests/corpus/decrypt_pillar.json.
 * @module
 */

import { decryptPillar } from "#lib/pillar/decrypt.ts";
import { renderValue } from "#lib/render/render_value.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { renderFixture } from "#tests/support/files/render_scope.ts";

function asMap(value: Value | undefined): ValueMap {
  assert(value !== undefined && isMap(value));
  return value;
}

const corpus = asMap(parseJson(Deno.readTextFileSync(new URL("../corpus/decrypt_pillar.json", import.meta.url))));
const cases = corpus.get("cases");
assert(Array.isArray(cases));

/** The words of the renderer differ, but not the key that failed. */
function shown(error: Value): string {
  const text = String(error);
  return text.startsWith("Failed to decrypt") && !text.includes("is not a valid") ? text.split("': ")[0] : text;
}

for (const each of cases) {
  const given = asMap(each);
  Deno.test(`decrypt_pillar: ${repr(given.get("opts") ?? null)}`, async () => {
    const opts = {
      decrypt_pillar: null,
      decrypt_pillar_default: "yaml",
      decrypt_pillar_delimiter: ":",
      decrypt_pillar_renderers: ["gpg", "json", "yaml"],
      ...Object.fromEntries([...asMap(given.get("opts"))].map(([name, value]) => [String(name), value])),
    };
    const host = renderFixture();
    const made = new Map(
      await decryptPillar(asMap(corpus.get("pillar")), opts, (value, renderer) => renderValue(renderer, value, host)),
    );
    const errors = made.get("_errors") ?? [];
    made.delete("_errors");
    assert(Array.isArray(errors));
    const wanted = given.get("errors");
    assert(Array.isArray(wanted));
    assertEquals(errors.map(shown), wanted.map(shown));
    assertEquals(repr(made), repr(given.get("pillar") ?? null));
  });
}
