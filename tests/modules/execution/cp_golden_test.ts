/**
 * `cp` without a master, compared with the results of Salt 3008.3 on the same tree: `corpus/cp_calls.json`, made by
 * `corpus/make_cp_calls.py`.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import { loadMinionConfig } from "#lib/config/load.ts";
import { messageOf } from "#lib/errors.ts";
import { dumpJson } from "#lib/values/json.ts";
import { isMap, map, str, toNumber, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { filesBelow } from "#tests/support/tree.ts";

const corpus = await Deno.readTextFile(new URL("../../corpus/cp_calls.json", import.meta.url));

/** Deliberate differences from Salt (docs/differences.md): our result, by call. */
const DIFFERENT: Readonly<Record<string, string>> = {
  // The root of an environment is not a file, and a path outside of the cache is not in the cache.
  '["cp.is_cached", ["salt://"], {}]': '{"result": ""}',
  '["cp.cache_dest", ["salt://"], {}]': '{"result": "Invalid path"}',
  '["cp.cache_dest", ["salt://../etc/salt/minion"], {}]': '{"result": "Invalid path"}',
  '["cp.is_cached", ["salt://web/../top.sls"], {}]': '{"result": "{ROOT}/cache/files/base/top.sls"}',
};

function part(name: string, of: Value): ValueMap {
  const value = isMap(of) ? of.get(name) ?? null : null;
  assert(isMap(value));
  return value;
}

function parts(name: string, of: Value): Value[] {
  const list = isMap(of) ? of.get(name) ?? null : null;
  assert(Array.isArray(list));
  return list;
}

/** Writes the tree of the corpus below `root`. */
function plant(root: string, golden: Value): void {
  const place = (path: Value) => {
    const full = `${root}/${str(path)}`;
    Deno.mkdirSync(full.slice(0, full.lastIndexOf("/")), { recursive: true });
    return full;
  };
  for (const [path, text] of part("tree", golden)) {
    Deno.writeTextFileSync(place(path), str(text));
    Deno.chmodSync(place(path), 0o644);
  }
  for (const path of parts("dirs", golden)) Deno.mkdirSync(place(path));
  for (const [path, target] of part("links", golden)) Deno.symlinkSync(str(target), place(path));
  for (const [path, mode] of part("modes", golden)) Deno.chmodSync(place(path), toNumber(mode) ?? 0);
}

Deno.test("cp without a master returns the results of Python Salt, call after call, and writes the same files", async () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "cp_golden_" }));
  try {
    const golden = parseJson(corpus.replaceAll("{ROOT}", root));
    plant(root, golden);
    const roots = map({ base: [`${root}/srv`], dev: [`${root}/dev`] });
    const overrides = {
      id: "web1",
      root_dir: root,
      cachedir: `${root}/cache`,
      file_client: "local",
      file_roots: roots,
    };
    const { opts } = loadMinionConfig({ configDir: `${root}/etc/salt`, overrides });
    const context = testContext({ opts, grains: map({ id: "web1" }) });
    const wrong: string[] = [];
    for (const step of parts("steps", golden)) {
      assert(isMap(step));
      const name = str(step.get("fun") ?? ""), args = parts("args", step), kwargs = part("kwargs", step);
      const fun = await context.catalogue.get(name);
      assert(fun !== undefined, name);
      const error = step.get("error");
      let got: Value;
      try {
        got = map({
          result: toValue(await invoke(fun, { name, args: [...args], kwargs: new Map(kwargs), context })),
        });
      } catch (thrown) {
        got = map({ error: error === "" ? "" : messageOf(thrown) });
      }
      const call = dumpJson([name, args, kwargs]).replaceAll(root, "{ROOT}");
      const expected = error === undefined ? map({ result: step.get("result") ?? null }) : map({ error });
      const expectedText = DIFFERENT[call] ?? dumpJson(expected).replaceAll(root, "{ROOT}");
      const shown = dumpJson(got).replaceAll(root, "{ROOT}");
      if (shown !== expectedText) wrong.push(`${call}\n  ${shown}\n  ${expectedText}`);
    }
    assertEquals(wrong.join("\n"), "");
    const after = [
      "cache/files",
      "cache/localfiles",
      "cache/extrn_files",
      "out",
      "no",
      "none",
      "made",
      ...["1", "2", "3", "4", "5"].map((n) => `dir${n}`),
    ]
      .flatMap((top) => [...filesBelow(`${root}/${top}`)]).map((
        path,
      ): [string, string] => [path.slice(root.length + 1), Deno.readTextFileSync(path)]);
    assertEquals(
      Object.fromEntries(after.sort()),
      Object.fromEntries([...part("after", golden)].map(([path, text]) => [str(path), str(text)])),
    );
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
