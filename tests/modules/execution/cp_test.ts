/**
 * `cp` without a master, compared with the results of Salt 3008.3 on the same tree: `corpus/cp_calls.json`, made by
 * `corpus/make_cp_calls.py`.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { messageOf } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, toNumber, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

testRecordedCases("execution", "cp");

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

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("cp.recv says of each file whether it could be written", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/there`);
    const files = new Map<Value, Value>([["/from/a", "text"], ["/from/there", Uint8Array.of(1)]]);
    const result = await resultOrError(minion(), "cp.recv", [files, root]);
    assertEquals(result, new Map([[`${root}/a`, true], [`${root}/there`, false]]));
    assertEquals(Deno.readTextFileSync(`${root}/a`), "text");
  });
});

Deno.test("cp.get_url without a destination returns text, or bytes if the content is not text", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/text`, "caf\u00e9\n");
    Deno.writeFileSync(`${root}/bytes`, Uint8Array.of(0xff, 0));
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", file_roots: new Map([["base", [root]]]) }),
    });
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://text", null]), "caf\u00e9\n");
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://bytes", null]), Uint8Array.of(0xff, 0));
    assertEquals(await resultOrError(context, "cp.get_url", ["salt://none", null]), false);
  });
});

Deno.test("cp.cache_file fetches a file from the web once in a job", async () => {
  await withTemporaryDirectory(async (root) => {
    let requestCount = 0;
    await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
      requestCount++;
      return new Response("text\n");
    });
    const url = `http://127.0.0.1:${server.addr.port}/a.txt`;
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", cachedir: `${root}/cache` }),
    });
    const first = await resultOrError(context, "cp.cache_file", [url]);
    assert(typeof first === "string" && Deno.readTextFileSync(first) === "text\n", String(first));
    const before = requestCount;
    assertEquals(await resultOrError(context, "cp.cache_file", [url]), first);
    assertEquals(requestCount, before);
    Deno.removeSync(first);
    assertEquals(await resultOrError(context, "cp.cache_file", [url]), first);
    assert(requestCount > before);
  });
});

Deno.test("cp.cache_file_ssh and hash_file_ssh are other names of cache_file and hash_file", async () => {
  await withTemporaryDirectory(async (root) => {
    const server = new ScriptedFileServer({ base: { "a.txt": "text\n" } });
    const { outside } = testContext();
    const opts = { ...testOpts(), cachedir: `${root}/cache` };
    const context = testContext({ opts, outside: { ...outside, request: server.request } });
    const path = await context.call("cp.cache_file_ssh", ["salt://a.txt"]);
    assert(typeof path === "string" && path.startsWith(root));
    assertEquals(Deno.readTextFileSync(path), "text\n");
    assertEquals(await context.call("cp.cache_file_ssh", ["salt://none"]), false);
    const hash = await context.call("cp.hash_file_ssh", ["salt://a.txt"]);
    assertEquals(isMap(hash) && hash.get("hsum"), hashHex(new TextEncoder().encode("text\n"), "sha256"));
  });
});
