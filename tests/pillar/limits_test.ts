/**
 * The limits of pillar: trees that are too deep, too large or outside of their directories, and invalid messages.
 * @module
 */

import { unpackNumbered } from "#lib/pillar/messages.ts";
import { PillarCache } from "#lib/pillar/pillar_cache.ts";
import { PillarReads } from "#lib/pillar/reads.ts";
import { unpackPillarRequest } from "#lib/pillar/request.ts";
import { PillarRoots } from "#lib/pillar/roots.ts";
import { WireError } from "#lib/errors.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("no name leads out of the directories of pillar, and an endless tree is not read", () =>
  withTemporaryDirectory((root) => {
    const deep = Array.from({ length: 45 }, () => "d").join("/");
    Deno.mkdirSync(`${root}/in/${deep}`, { recursive: true });
    for (const path of ["secret.sls", "in/a.sls", `in/${deep}/x.sls`, "in/d/b.sls"]) {
      Deno.writeTextFileSync(`${root}/${path}`, "");
    }
    Deno.symlinkSync(`${root}/in`, `${root}/in/loop`);
    const roots = new PillarRoots({ pillar_roots: map({ base: [`${root}/in`, `${root}/nothing`] }) }, "base", {
      path: () => {},
    });
    for (const path of ["../secret.sls", "d/../../secret.sls", "/../secret.sls", "a.sls\0"]) {
      assertEquals(roots.find(path, "base"), undefined, path);
    }
    assertEquals(roots.find("/./a.sls", "base"), `${root}/in/a.sls`);
    const listed = roots.matching("*", "base");
    assertEquals([listed.includes("a"), listed.includes("d.b"), listed.includes("loop.a")], [true, true, true]);
    assertEquals(listed.some((name) => name.endsWith(".x")), false, "45 directories deep");
  }));

Deno.test("a chain of includes that is too deep ends with its error, which is repeated a limited number of times", () =>
  withPillar(
    {
      "pillar/top.sls": "base:\n  '*': [a0]\n",
      ...Object.fromEntries(
        Array.from({ length: 205 }, (_, i) => [`pillar/a${i}.sls`, `include: [a${i + 1}]\nn${i}: 1\n`]),
      ),
    },
    "{}",
    async ({ pillar }) => {
      const result = await pillar();
      assertStringIncludes(result, "'n200': 1");
      // Salt has each error twice at each level: 2 ** 200 of them.
      const times = result.split("SLS 'a200' is included more than 200 levels deep").length - 1;
      assertEquals(times > 1 && times <= 100, true, `${times} times`);
    },
  ));

Deno.test("errors of included files are repeated, as in Salt, up to a hundred; further ones are named once", async () => {
  const shown: number[] = [];
  for (const missing of [98, 99]) {
    const names = Array.from({ length: missing }, (_, i) => `none${i}`);
    const files = {
      "pillar/top.sls": "base:\n  '*': [a]\n",
      "pillar/a.sls": `include: [${names.join(", ")}, b]\na: 1\n`,
      "pillar/b.sls": "include: [nothing]\nb: 1\n",
    };
    // A name that a file has is looked up twice, so the error of that file is there twice.
    await withPillar(files, "{}", async ({ pillar }) => {
      shown.push((await pillar()).split("is not available on the salt master").length - 1);
    });
  }
  assertEquals(shown, [100, 100]);
});

Deno.test("the environment base may be used without directories", () =>
  withPillar(
    { "pillar/top.sls": "base:\n  '*': [x]\n" },
    "pillar_roots: {dev: ['{root}/pillar']}",
    async ({ pillar }) => {
      assertEquals(await pillar(), "{}");
    },
  ));

Deno.test("the cache of pillars keeps the newest ones that fit into it", () => {
  const cache = new PillarCache(10);
  const keep = (key: string, bytes: number) => cache.keep(key, new Uint8Array(bytes), new PillarReads());
  const facts = { grains: new Map<Value, Value>(), own: new Map<Value, Value>() };
  const kept = () => ["a", "b", "c", "large"].filter((key) => cache.find(key, facts, 60_000) !== undefined);
  keep("a", 4), keep("b", 4);
  assertEquals(kept(), ["a", "b"]);
  cache.find("a", facts, 60_000);
  keep("c", 4);
  assertEquals(kept(), ["a", "c"], "b was used least recently");
  keep("large", 11);
  assertEquals(kept(), ["a", "c"]);
  keep("a", 11);
  assertEquals(kept(), ["c"], "the old one is not valid any more");
});

Deno.test("bytes that are not a pillar request are rejected", () => {
  for (const value of [5, [], new Map(), map({ id: 5 }), map({ request: "x" })] as Value[]) {
    const bytes = encode(value, "disk");
    assertThrows(() => unpackPillarRequest(bytes), WireError, "invalid request for a pillar");
    if (value instanceof Map && value.has("request")) continue;
    assertThrows(() => unpackNumbered(bytes), WireError, "invalid request for a pillar");
  }
});

Deno.test("each error of more than a hundred is shown once", () => {
  const names = (letter: string) => Array.from({ length: 60 }, (_, i) => `${letter}${i}`);
  return withPillar(
    {
      "pillar/top.sls": "base:\n  '*': [all]\n",
      "pillar/all.sls": "include: [left, right, again]\n",
      "pillar/left.sls": `include: [${names("l").join(", ")}]\n`,
      "pillar/right.sls": `include: [${names("r").join(", ")}]\n`,
      "pillar/again.sls": `include: [${names("r").join(", ")}, last]\n`,
    },
    "{}",
    async ({ pillar }) => {
      const result = await pillar();
      for (const name of [...names("l"), ...names("r"), "last"]) {
        assertEquals(result.split(`Specified SLS '${name}' in environment`).length - 1, 1, name);
      }
    },
  );
});

Deno.test("reads hold while each grain and option is the same, also one that is missing", () => {
  const reads = new PillarReads();
  reads.grain("role", undefined);
  reads.option("pillarenv", "dev");
  const facts = (grains: ValueMap, own: ValueMap) => reads.holds({ grains, own });
  assertEquals([
    facts(map({}), map({ pillarenv: "dev" })),
    facts(map({ role: "db" }), map({ pillarenv: "dev" })),
    facts(map({}), map({})),
  ], [true, false, false]);
});
