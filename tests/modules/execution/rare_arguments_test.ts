/**
 * Functions with arguments, files and sources that are seldom given together.
 * @module
 */

import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

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

Deno.test("file.manage_file replaces a link that is not followed only if there is something to put in its place", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.symlinkSync("nowhere", `${root}/link`);
    // Salt fails: it asks the file server for the file None.
    const args = [`${root}/link`, null, new Map(), null, new Map(), null, null, null, null, "base", ""];
    const returned = await resultOrError(minion(), "file.manage_file", args, { follow_symlinks: false });
    assert(isMap(returned), str(returned));
    assertEquals([returned.get("result"), returned.get("comment")], [false, "Source file 'None' not found"]);
    assertEquals(Deno.readLinkSync(`${root}/link`), "nowhere");
  });
});

Deno.test("file.check_managed_changes keeps the mode that it is given of a source from the web", async () => {
  await withTemporaryDirectory(async (root) => {
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen: () => {} },
      () => new Response("text\n"),
    );
    const context = testContext({
      opts: testOpts({ root_dir: root, file_client: "local", cachedir: `${root}/cache` }),
    });
    Deno.writeTextFileSync(`${root}/f`, "text\n", { mode: 0o644 });
    const source = `http://127.0.0.1:${server.addr.port}/f`;
    const given = { source, skip_verify: true, keep_mode: true, user: null, group: null };
    const rest = {
      source_hash: "",
      source_hash_name: null,
      template: null,
      context: null,
      defaults: null,
      attrs: null,
    };
    const check = (mode: string) =>
      resultOrError(context, "file.check_managed_changes", [`${root}/f`], { ...given, ...rest, mode, saltenv: "base" });
    assertEquals(await check("0644"), new Map());
    assertEquals(await check("0600"), map({ mode: "0600" }));
  });
});

Deno.test("cron.get_entry prefers the identifier, and says so", async () => {
  using programs = new RecordedPrograms();
  Deno.writeTextFileSync(
    programs.keepCrontab(),
    "# Lines below here are managed by Salt, do not edit\n# SALT_CRON_IDENTIFIER:one\n1 * * * * run\n",
  );
  const context = minion();
  const entry = await resultOrError(context, "cron.get_entry", ["root"], { identifier: "one", cmd: "other" });
  assertEquals(isMap(entry) && entry.get("cmd"), "run");
  assertEquals(context.logged.filter((line) => line.includes("Only using identifier")).length, 1);
});

Deno.test("aliases.set_target leaves the file as it is if the target is the same", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({ "config.option": `${root}/aliases` });
    Deno.writeTextFileSync(`${root}/aliases`, "root:   me@example.com\n");
    assertEquals(await resultOrError(context, "aliases.set_target", ["root", "me@example.com"]), true);
    assertEquals(Deno.readTextFileSync(`${root}/aliases`), "root:   me@example.com\n");
    assertEquals(await resultOrError(context, "aliases.set_target", ["root", "you"]), true);
    assertEquals(await resultOrError(context, "aliases.get_target", ["root"]), "you");
  });
});

Deno.test("debconf logs what it does not take, and takes no template that cannot be had", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("debconf-set-selections", [{ args: "*", stderr: "error: bad line\n", code: 1 }]);
    const debian = map({ os_family: "Debian", os: "Debian", kernel: "Linux" });
    const rendered = `${root}/rendered`;
    const { set_template } = await import("#modules/execution/debconfmod.ts");
    const rest = { args: [], kwargs: new Map<Value, Value>() };
    const given = { path: "salt://x", template: "jinja", context: null, defaults: map({ a: 1 }), saltenv: "base" };
    for (const [template, returned] of [[false, false], [rendered, true]] as const) {
      const context = minion({ "cp.get_template": template }, debian);
      assertEquals(await set_template.run(given, context, rest), returned);
      assertEquals(
        context.logged.filter((line) => line.startsWith("error: debconf-set-selections")).length,
        template === false ? 0 : 1,
      );
    }
  });
});

Deno.test("user.rename takes no name that another user has", async () => {
  const linux = map({ kernel: "Linux", os: "Debian", os_family: "Debian" });
  assertEquals(await resultOrError(minion({}, linux), "user.rename", ["nobody", "root"]), "User 'root' already exists");
});

Deno.test("state.run_request without a request runs nothing", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = testContext({ opts: testOpts({ root_dir: root, cachedir: `${root}/cache` }) });
    assertEquals(await resultOrError(context, "state.run_request", ["none"]), new Map());
  });
});

Deno.test("state.show_sls shows states in test mode, too", async () => {
  await using tree = await openTree({ files: { "t.sls": "a: {test.nop: []}\n" } });
  for (const kwargs of [{}, { test: true }]) {
    const { returned } = await tree.call("state.show_sls", ["t"], kwargs);
    assertEquals(isMap(returned) && [...returned.keys()], ["a"]);
  }
});
