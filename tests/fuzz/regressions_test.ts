/**
 * Faults that the fuzzer found, or that were found while writing it: one input for each test.
 * @module
 */

import { Autosign } from "#lib/keys/autosign.ts";
import { yamlifyArg } from "#lib/yaml/arguments.ts";
import { TargetError, YamlError } from "#lib/errors.ts";
import { packEvent } from "#lib/bus/event.ts";
import { unpackEvent } from "#tests/support/fleet/events.ts";
import { formatOutput } from "#lib/output/outputters.ts";
import { pformat } from "#lib/values/pformat.ts";
import { resolveTarget } from "#lib/fleet/resolve_target.ts";
import { map, type Value } from "#lib/values/value.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";

Deno.test("a tag after a byte order mark is not read as the tag itself", () => {
  const tag = "\ufeffsalt/auth";
  assertEquals(unpackEvent(packEvent(tag, map({}))).tag, tag);
});

Deno.test("a long tag that is also an event of the old form is still read as a tag", () => {
  // 0xde 0x80 0x20 is a map of 0x8020 entries, which printable ASCII (small ints) fills up to the newlines.
  const tag = `salt/auth${"|".repeat(11)}\u0780 ${"0".repeat(2 * 0x8020 - 3)}`;
  const event = unpackEvent(packEvent(tag, map({ a: 1 })));
  assertEquals([event.tag === tag, event.data], [true, map({ a: 1 })]);
});

/** Runs `act`, which took ten seconds or longer before the fix. */
function returnsSoon<T>(act: () => T): T {
  const results: T[] = [];
  const tookMs = cpuMs(() => results.push(act()));
  assert(tookMs < 8_000, `${tookMs} ms`);
  return results[0];
}

const BLANKS = `a${" ".repeat(100_000)}b`;

Deno.test("a return with a long run of blanks is shown at once", () => {
  assertEquals(returnsSoon(() => formatOutput(BLANKS, { out: "txt", color: false })), BLANKS);
  assertEquals(formatOutput("a \n\t ", { out: "txt", color: false }), "a");
});

Deno.test("an argument with a long run of blanks is read at once", () => {
  assertEquals(returnsSoon(() => yamlifyArg(BLANKS)), BLANKS);
  assertEquals(yamlifyArg(" \u3000\x1c"), " \u3000\x1c");
});

const ENDLESS = "(a*)*\\1b";
const LONG_ID = `${"a".repeat(254)}!`;

Deno.test("a target with recursive references is rejected", () => {
  assertThrows(
    () =>
      returnsSoon(() => resolveTarget({ tgt: ENDLESS, tgtType: "pcre" }, { ids: [LONG_ID], nodegroups: new Map() })),
    TargetError,
    "steps",
  );
});

Deno.test("a line of an autosign_file with endless back references accepts no key and delays no sign-in", () => {
  const path = Deno.makeTempFileSync();
  try {
    Deno.writeTextFileSync(path, `${ENDLESS}\n${LONG_ID}\n`);
    const accepts = (autosign_file: string) =>
      new Autosign({
        pki_dir: "/nonexistent",
        user: "root",
        auto_accept: false,
        autosign_file,
        autoreject_file: null,
        autosign_timeout: 0,
        autosign_grains_dir: null,
        permissive_pki_access: false,
      }, { warn: () => {} }).accepts(LONG_ID);
    assertEquals(returnsSoon(() => accepts(path)), true);
    Deno.writeTextFileSync(path, ENDLESS);
    assertEquals(returnsSoon(() => accepts(path)), false);
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("a configuration that contains itself is rejected, one that only repeats a part is not", () => {
  for (const text of ["a: &a [1, *a]", "a: &a {b: {c: *a}}", "&a {interface: *a}"]) {
    assertThrows(() => loadYamlMapping(text, "master"), YamlError, "contains it");
  }
  const doubling = (times: number) => {
    const lines = Array.from({ length: times }, (_, i) => `k${i + 1}: &a${i + 1} [*a${i}, *a${i}]`);
    return returnsSoon(() => loadYamlMapping(`k0: &a0 x\n${lines.join("\n")}`, "master"));
  };
  assertEquals(doubling(10).value.size, 11);
  assertThrows(() => doubling(60), YamlError, "the aliases stand for more than");
});

Deno.test("a deeply nested value is printed at once", () => {
  let value: Value = "x".repeat(10_000);
  for (let depth = 0; depth < 500; depth++) value = [value];
  const wide = Array.from({ length: 200 }, () => value);
  assert(returnsSoon(() => pformat(wide)).endsWith("]"));
});
