/**
 * Functions without a recorded result of Python Salt: they have no counterpart, fail there, or need programs that a
 * test cannot have.
 * @module
 */

import { messageOf, RequestTooLargeError } from "#lib/errors.ts";
import type { ChildSpec } from "#lib/programs/child_process.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { KeptReturns } from "#lib/jobs/kept_returns.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A context whose programs only record their arguments. */
function recordingContext(outputs: (words: readonly string[]) => string) {
  const words: string[][] = [];
  const runChild = ({ argv }: ChildSpec) => {
    const own = argv[0] === "/bin/sh" && argv[3] === "sh" ? argv.slice(4) : argv;
    words.push([...own]);
    const dropped = { stdout: 0, stderr: 0 };
    const stdout = new TextEncoder().encode(outputs(own));
    return Promise.resolve({ pid: 1, retcode: 0, stdout, stderr: new Uint8Array(), timedOut: false, dropped });
  };
  return { words, context: testContext({ runChild }) };
}

Deno.test("postgres.owner_to changes the owner of a database and of its objects, where Salt's fails", async () => {
  using programs = new RecordedPrograms();
  programs.answer("psql");
  let script = "";
  const { context } = recordingContext((words) => {
    const file = words[words.indexOf("-f") + 1];
    if (words.includes("-f")) script = Deno.readTextFileSync(file);
    return words.join(" ").includes("information_schema.schemata") ? "n\npublic\n" : "";
  });
  const result = await context.call("postgres.owner_to", ["shop", "fred"], map({ host: "db" }));
  assertEquals(isMap(result) && result.get("retcode"), 0);
  assertEquals(
    script,
    'begin;\nalter database "shop" owner to "fred";\nalter schema public owner to "fred";\ncommit;\n',
  );
  script = "";
  const recursive = map({ owner: "fred", owner_recurse: true, host: "db" });
  assertEquals(await context.call("postgres.db_alter", ["shop"], recursive), true);
  assertEquals(script.includes('alter database "shop" owner to "fred";'), true, script);
  await assertRejects(
    () => context.call("postgres.owner_to", ["shop", 'fr"ed'], map({ host: "db" })),
    Error,
    "Unsupported",
  );
});

Deno.test("lowpkg.diff compares a file with the one in a package, and requires the programs for it", async () => {
  using programs = new RecordedPrograms();
  for (const name of ["rpm2cpio", "cpio", "diff"]) programs.answer(name);
  const { words, context } = recordingContext(() => "Binary files differ");
  const grains = map({ os: "AlmaLinux", os_family: "RedHat", kernel: "Linux" });
  const job = testContext({ ...context, grains });
  const { diff } = await import("#modules/execution/rpm_lowpkg.ts");
  const args = { package_path: "/it's.rpm", path: "/etc/hosts" };
  const rest = { args: [], kwargs: new Map<Value, Value>() };
  const result = await diff.run({ ...args }, job, rest);
  assertEquals(result, "File '/etc/hosts' is binary and its content has been modified.");
  assertEquals(
    words.at(-1)?.at(-1),
    `rpm2cpio '/it'"'"'s.rpm' | cpio -i --quiet --to-stdout ./etc/hosts | ` +
      "diff -u --label 'A /etc/hosts' --from-file=- --label 'B /etc/hosts' /etc/hosts",
  );
});

Deno.test("file.mknod_chrdev and mknod_blkdev make devices, and in test mode report what they would do", async () => {
  await withTemporaryDirectory(async (directory) => {
    for (const [name, field] of [["mknod_chrdev", "isCharDevice"], ["mknod_blkdev", "isBlockDevice"]] as const) {
      const path = `${directory}/${name}`;
      const result = await testContext({ opts: { ...testOpts(), test: true } }).call(`file.${name}`, [path, 1, 3]);
      assertEquals(isMap(result) && result.get("result"), null);
      const made = await testContext().call(`file.${name}`, [path, 1, 3], map({ mode: "0600" }));
      assertEquals(isMap(made) && made.get("result"), true, String(made));
      const stat = Deno.statSync(path);
      assertEquals([stat[field], stat.rdev, (stat.mode ?? 0) & 0o777], [true, 0x103, 0o600]);
    }
  });
});

Deno.test("cmd.run_chroot runs a command line below another root directory", async () => {
  await withTemporaryDirectory(async (root) => {
    const { words, context } = recordingContext(() => "out\n");
    const job = testContext({
      ...context,
      call: (name, args = [], kwargs) =>
        name.startsWith("mount.") ? Promise.resolve(true) : context.call(name, args, kwargs),
    });
    const { run_chroot } = await import("#modules/execution/cmd/running.ts");
    const { invoke } = await import("#lib/plugins/call.ts");
    const result = await invoke(run_chroot, {
      name: "cmd.run_chroot",
      args: [root, "echo 'a b'"],
      kwargs: new Map(),
      context: job,
    });
    assertEquals(result, map({ pid: 1, retcode: 0, stdout: "out", stderr: "" }));
    assertEquals(words.at(-1), ["chroot", root, "/bin/sh", "-c", "echo 'a b'"]);
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

Deno.test("saltutil.kept_returns lists returns that were too large for the master", async () => {
  await withTemporaryDirectory(async (cachedir) => {
    const jid = "20260101000000000001";
    const ret = map({
      cmd: "_return",
      id: "web1",
      jid,
      fun: "cmd.run",
      fun_args: [],
      return: "x".repeat(100),
      retcode: 0,
    });
    const keeper = new KeptReturns(cachedir, memoryLog().log);
    keeper.keep(ret, new RequestTooLargeError(200, 100));
    keeper.close();
    const result = await testContext({ opts: { ...testOpts(), cachedir } }).call("saltutil.kept_returns");
    assert(Array.isArray(result) && isMap(result[0] ?? null));
    const { since, ...known } = Object.fromEntries(result[0] as ValueMap);
    assertEquals(known, { jid, fun: "cmd.run", bytes: 200, limit: 100, kept: 100 });
    assertEquals(String(since).slice(0, 4), String(new Date().getUTCFullYear()));
  });
});

Deno.test("state.template runs the states of a file of this host, with or without .sls in its name", async () => {
  await withTemporaryDirectory(async (directory) => {
    Deno.writeTextFileSync(`${directory}/t.sls`, "{{ 'a' }}: test.nop\n");
    await using tree = await openTree({ files: {} });
    for (const path of [`${directory}/t.sls`, `${directory}/t`]) {
      const { returned } = await tree.call("state.template", [path]);
      assertEquals(isMap(returned) && [...returned.keys()], ["test_|-a_|-a_|-nop"]);
    }
    const missing = await tree.call("state.template", [`${directory}/none`]).catch(messageOf);
    assert(JSON.stringify(missing).includes("none"));
  });
});
