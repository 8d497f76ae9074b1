/**
 * The modules for files and keys in the threads of a minion's jobs, where Deno enforces what their functions declare.
 * @module
 */

import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { isMap, map, repr, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

Deno.test("functions for files, hosts, environment and data work with the permissions that they declare", async (t) => {
  const root = await Deno.makeTempDir({ prefix: "file_jobs_" });
  await Deno.writeTextFile(`${root}/f`, "[s]\na = 1\n");
  const opts = testOpts({ root_dir: root, cachedir: `${root}/cache` });
  await Deno.mkdir(opts.cachedir);
  const { log } = memoryLog();
  const pool = new JobPool({
    opts: packOpts("minion", opts),
    hostData: { grains: pack(map({ id: "web1" })), pillar: pack(new Map()) },
    log,
    answer: () => Promise.resolve(true),
  });
  let jids = 0;
  const run = async (fun: string, ...arg: Value[]) => {
    const jid = `2026010100000000${String(++jids).padStart(4, "0")}`;
    return await pool.run(map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root" }));
  };
  const jobs: readonly (readonly [fun: string, arg: Value[], wanted: Value])[] = [
    ["ini.get_option", [`${root}/f`, "s", "a"], "1"],
    [
      "ini.set_option",
      [`${root}/f`, map({ s: map({ b: "2" }) })],
      map({ s: map({ b: map({ before: null, after: "2" }) }) }),
    ],
    ["hashutil.md5_digest", ["x"], "9dd4e461268c8034f5c8564e155c67a6"],
    ["hashutil.digest_file", [`${root}/cache/../g`], "d41d8cd98f00b204e9800998ecf8427e"],
    ["environ.setval", ["FILE_JOBS", "1"], "1"],
    ["environ.get", ["FILE_JOBS"], "1"],
    ["data.update", ["k", 1], true],
    ["data.get", ["k"], 1],
    ["file.gid_to_group", [0], "root"],
    ["file.user_to_uid", ["root"], 0],
    ["file.basename", ["/a/b"], "b"],
    ["file.contains", ["/proc/self/status", "Threads"], true],
    ["file.is_chrdev", ["/dev/null"], true],
    ["random.shadow_hash", ["ab", "MyP@asswd", "crypt"], "abg8.h8WZoxfo"],
    ["alternatives.show_current", ["no-such-name"], false],
  ];
  await Deno.writeTextFile(`${root}/g`, "");
  try {
    for (const [fun, arg, wanted] of jobs) {
      await t.step(`${fun} ${repr(arg)}`, async () => {
        const job = await run(fun, ...arg);
        assertEquals(repr(job.get("return") ?? null), repr(wanted));
      });
    }
    await t.step("hosts.list_hosts and temp.file", async () => {
      assert(isMap((await run("hosts.list_hosts")).get("return")));
      const made = (await run("temp.file", "", "tmp", root)).get("return");
      assert(typeof made === "string" && made.startsWith(`${root}/tmp`), repr(made ?? null));
    });
  } finally {
    await pool.close();
    Deno.env.delete("FILE_JOBS");
    await Deno.remove(root, { recursive: true });
  }
});
