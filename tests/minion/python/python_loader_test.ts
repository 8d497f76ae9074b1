/**
 * The rules of Salt's loader for execution modules in Python, as Salt 3008.3 answers (recorded_loader.json): which file
 * is which module, which functions it has, why it does not load, and what its values become.
 * @module
 */

import { equals, isMap, map, str, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import recorded from "./recorded_loader.json" with { type: "json" };
import { PythonPool } from "./python_pool.ts";

/** The recorded value: a map whose keys are not all texts is written as a list of pairs. */
function valueOf(written: unknown): Value {
  if (Array.isArray(written)) return written.map(valueOf);
  if (typeof written !== "object" || written === null) return toValue(written);
  if ("map" in written && Array.isArray(written.map)) {
    return new Map(written.map.map(([key, value]: unknown[]) => [valueOf(key), valueOf(value)] as const));
  }
  return new Map(Object.entries(written).map(([key, value]) => [key, valueOf(value)] as const));
}

/** A pool with the recorded files. */
function poolWithFiles(): PythonPool {
  const files = Object.entries(recorded.files).map(([path, text]) => [`modules/${path}`, text] as const);
  const grains = map({ id: "m1", kernel: "Linux", os: "Debian", os_family: "Debian" });
  return new PythonPool(Object.fromEntries(files), { options: { id: "m1" }, grains });
}

Deno.test("each function is there, or is missing for the reason that Salt gives", async () => {
  await using pool = poolWithFiles();
  const different: string[] = [];
  for (const [name, expected] of recorded.calls) {
    assert(typeof name === "string" && typeof expected === "object");
    const outcome = await pool.job(name);
    const returned = outcome.get("return") ?? null;
    // Ours names the function that may be meant.
    const missing = str(returned).replace(/ Did you mean .*\?$/, "");
    const given = map(outcome.get("success") === true ? { return: returned } : { missing });
    const wanted = valueOf(expected);
    if (!equals(given, wanted)) different.push(`${name}: ${str(given)}, and not ${str(wanted)}`);
  }
  assertEquals(different, []);
});

Deno.test("functions are described as Salt does", async () => {
  await using pool = poolWithFiles();
  for (const [call, expected] of Object.entries(recorded.described)) {
    if (call === "functions") continue;
    const [fun, name = "br_spec"] = call.split(" ");
    assertEquals([call, await pool.run(fun, name)], [call, valueOf(expected)]);
  }
  const listed = await pool.run("sys.list_functions");
  assert(Array.isArray(listed) && !isMap(listed));
  const own = listed.map(str).filter((name) => /^br[-_][pla d-]/.test(name)).sort();
  assertEquals(own, [...recorded.described.functions].sort());
});
