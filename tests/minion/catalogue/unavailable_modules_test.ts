/**
 * Functions of built-in modules that this host does not have the programs for: each is refused, in Salt's words.
 * @module
 */

import { packOpts } from "#lib/config/opts_transfer.ts";
import { isMap, map, str, type Value } from "#lib/values/value.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { EXECUTION_MODULES } from "#modules/execution/_built_in.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A function of every module that does not load here, by the name of the module. */
async function unavailableFunctions(): Promise<[fun: string, module: string][]> {
  const catalogue = loadCatalogue({ grains: () => new Map() });
  await catalogue.all();
  const functions = await Promise.all(
    Object.entries(EXECUTION_MODULES).map(async ([name, load]): Promise<[string, string][]> => {
      const known = await load();
      const virtual: unknown = Reflect.get(known, "virtual");
      const fun = Object.keys(known).find((key) => key !== "virtual" && !key.startsWith("_"));
      const named = typeof virtual === "object" && virtual !== null && "name" in virtual ? String(virtual.name) : name;
      return fun === undefined ? [] : [[`${named}.${fun.replace(/_$/, "")}`, named]];
    }),
  );
  const calls: [string, string][] = [];
  for (const [fun, module] of functions.flat()) if (await catalogue.get(fun) === undefined) calls.push([fun, module]);
  return calls;
}

Deno.test("a function whose module does not load is refused at once, in a job of its own and among others", async () => {
  const refused = await unavailableFunctions();
  assert(refused.length > 5, `this host has everything but ${refused}`);
  await withTemporaryDirectory(async (root) => {
    const { log } = memoryLog();
    const pool = new JobPool({
      opts: packOpts("minion", testOpts({ root_dir: root, cachedir: root })),
      hostData: { grains: pack(new Map()), pillar: pack(new Map()) },
      log,
      answer: () => Promise.resolve(true),
    });
    try {
      let jids = 0;
      const run = async (fun: Value, arg: Value) => {
        const jid = `2026010100000000${String(++jids).padStart(4, "0")}`;
        return await pool.run(map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root" }));
      };
      for (const [fun, module] of refused) {
        const outcome = await run(fun, []);
        const text = str(outcome.get("return") ?? null);
        assert(/__virtual__ returned False|is not available/.test(text), `${fun}: ${text}`);
        assertStringIncludes(text, module);
        assertEquals(outcome.get("success"), false, fun);
      }
      // The others need all permissions, and none: their worker is another one each time.
      const [[unavailable]] = refused;
      for (const others of [["test.ping"], ["cmd.run"], ["test.ping", "cmd.run"]]) {
        const outcome = await run([unavailable, ...others], [
          [],
          ...others.map((fun) => fun === "cmd.run" ? ["echo 1"] : []),
        ]);
        const returned = outcome.get("return");
        assert(isMap(returned), str(returned ?? null));
        for (const fun of others) assertEquals(returned.get(fun), fun === "cmd.run" ? "1" : true);
      }
    } finally {
      await pool.close();
    }
  });
});
