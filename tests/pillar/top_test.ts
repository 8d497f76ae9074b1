/**
 * Top files of pillar, and the option `decrypt_pillar`: what is refused, what is left out, and in which order the rest
 * is.
 * @module
 */

import { PillarTopError } from "#lib/errors.ts";
import { decryptPillar } from "#lib/pillar/decrypt.ts";
import { mergePillarTops, topMatches } from "#lib/pillar/top.ts";
import { float, map, repr, str, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const merged = (...tops: unknown[]) => mergePillarTops(tops.map((top) => ({ saltenv: "base", top: toValue(top) })));

Deno.test("what has not the form of a top file is refused with the reason; include, and entries that are no names, are left out", () => {
  const refused = [
    [["a"], "a top file is not a map"],
    [{ base: ["a"] }, "the targets of an environment are not a map"],
    [{ base: "a" }, "the targets of an environment are not a map"],
    [{ base: { "*": 5 } }, "the entry of a target is not a list"],
    [{ base: { "*": [{ order: [] }] } }, "an order is not a number"],
    [{ base: { "*": [{ order: {} }] } }, "an order is not a number"],
  ] as const;
  for (const [top, why] of refused) assertThrows(() => merged(top), PillarTopError, why);
  const endless = map({ base: map({ "*": [map({ order: float(Infinity) })] }) });
  assertThrows(() => mergePillarTops([{ saltenv: "base", top: endless }]), PillarTopError, "an order is not a number");
  const { targets } = merged({
    include: 5,
    base: { "*": ["a", 5, ["b"], { match: "glob" }], empty: [] },
    dev: "",
    qa: [],
  });
  assertEquals([...targets.keys()], ["base"]);
  assertEquals(repr([...(targets.get("base")?.get("*") ?? [])]), "[{'match': 'glob'}, 'a']");
});

Deno.test("targets are in the order that they say, else in the file's; nothing may be missing unless its entry says so", () => {
  const { targets, ignored } = merged({
    base: {
      late: [{ order: 1 }, "l"],
      plain: ["p"],
      zero: [{ order: 0 }, "z"],
      early: [{ order: -1 }, "e", { ignore_missing: true }],
    },
  });
  assertEquals([...targets.get("base")?.keys() ?? []], ["early", "plain", "zero", "late"]);
  assertEquals([...ignored].map(([env, names]) => [env, [...names]]), [["base", ["e"]]]);
});

Deno.test("a minion gets what matches, each once, of all environments or of the one that is wanted", () => {
  const top = merged({ base: { "*": ["a", "b"], web: ["b", "c"], db: ["d"] }, dev: { "*": ["x"] } });
  const of = (pillarenv: string | null) =>
    Object.fromEntries(topMatches(top, { pillarenv, matches: (target) => target !== "db" }));
  const all = { base: ["a", "b", "c"], dev: ["x"] };
  assertEquals([of(null), of(""), of("dev"), of("none")], [all, all, { dev: ["x"] }, {}]);
});

Deno.test("decrypt_pillar uses the renderers that are allowed, skips keys without a value, and says if it is malformed", async () => {
  const decrypted = async (decrypt_pillar: unknown, decrypt_pillar_renderers = ["gpg"]) => {
    const opts = {
      decrypt_pillar: toValue(decrypt_pillar),
      decrypt_pillar_default: "gpg",
      decrypt_pillar_delimiter: ":",
      decrypt_pillar_renderers,
    };
    const pillar = toValue({ a: { b: "1" }, none: null, list: ["x"] });
    const by = (value: Value, renderer: string) => Promise.resolve(`${renderer} ${str(value)}`);
    return repr(await decryptPillar(pillar instanceof Map ? pillar : new Map(), opts, by));
  };
  const rest = "'none': None, 'list': ['x']";
  assertEquals(await decrypted([]), `{'a': {'b': '1'}, ${rest}}`);
  for (
    const option of [["a:b"], [{ "a:b": null }], { "a:b": "gpg", none: "gpg" }, ["a:b", "none", "nowhere", "a:b:c"]]
  ) {
    assertEquals(await decrypted(option), `{'a': {'b': 'gpg 1'}, ${rest}}`);
  }
  assertEquals(
    await decrypted([{ "a:b": "own" }], []),
    `{'a': {'b': 'own 1'}, ${rest}}`,
    "no renderer is listed: all are",
  );
  const invalid = await decrypted([{ "a:b": "own" }]);
  assertEquals(
    invalid.includes("'b': '1'") && invalid.includes("is not a valid decryption renderer. Valid choices are: gpg"),
    true,
    invalid,
  );
  for (const malformed of ["a:b", [["a:b"]], [{ "a:b": "gpg", none: "gpg" }], [{}]]) {
    const result = await decrypted(malformed);
    assertEquals(result, `{'a': {'b': '1'}, ${rest}, '_errors': ['decrypt_pillar config option is malformed']}`);
  }
});
