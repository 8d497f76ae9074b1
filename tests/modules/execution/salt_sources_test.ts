/** @module */
import { invoke } from "#lib/plugins/call.ts";
import { CommandError, RenderError } from "#lib/errors.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { ScriptedFileServer } from "#tests/support/files/scripted_file_server.ts";

/** A minion whose master serves `files`. */
async function scene(files: Record<string, Record<string, string>>) {
  const root = await Deno.makeTempDir({ prefix: "salt_sources_" });
  const server = new ScriptedFileServer(files);
  const { outside } = testContext();
  const context = testContext({
    opts: { ...testOpts(), cachedir: `${root}/cache` },
    outside: { ...outside, request: server.request },
  });
  const call = async (name: string, args: unknown[], kwargs: Record<string, unknown> = {}): Promise<Value> => {
    const fun = await context.catalogue.get(name);
    if (fun === undefined) throw new Error(`there is no ${name}`);
    return await invoke(fun, { name, args: args.map((arg) => toValue(arg)), kwargs: map(kwargs), context });
  };
  return { root, server, context, call, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

Deno.test("cmd.script runs a script of the file server, from the given environment", async () => {
  await using s = await scene({
    base: { "s.sh": "#!/bin/sh\necho base $1" },
    dev: { "s.sh": "#!/bin/sh\necho dev $1", "t.sh": "#!/bin/sh\necho {{ saltenv }} {{ who }} $1" },
  });
  const out = async (...args: unknown[]) => {
    const result = await s.call("cmd.script", args.slice(0, 2), Object(args[2]));
    return result instanceof Map ? [result.get("stdout"), result.get("retcode"), result.get("cache_error")] : result;
  };
  assertEquals(await out("salt://s.sh", "x"), ["base x", 0, undefined]);
  assertEquals(await out("salt://s.sh", "x", { saltenv: "dev" }), ["dev x", 0, undefined]);
  assertEquals(await out("salt://s.sh?saltenv=dev"), ["dev", 0, undefined]);
  assertEquals(await out("salt://nope.sh"), ["", 1, true]);
  assertEquals(await out("salt://t.sh", "x", { template: "jinja", saltenv: "dev", who: "me" }), [
    "dev me x",
    0,
    undefined,
  ]);
  assertEquals(await s.call("cmd.run", ["echo {{ saltenv }}"], { template: "jinja", python_shell: true }), "base");
});

Deno.test("the functions of file.managed accept sources on the file server: the first existing one, with its digest and mode", async () => {
  await using s = await scene({ base: { "a.conf": "text\n", "sub/x": "y" } });
  const sum = map({ hash_type: "sha256", hsum: hashHex("text\n", "sha256") });
  const list = (source: unknown) => s.call("file.source_list", [source, "", "base"]);
  assertEquals(await list(["salt://nope", "/nope", "salt://a.conf"]), ["salt://a.conf", ""]);
  assertEquals(await list(["salt://nope", { "salt://a.conf": "md5=1" }]), ["salt://a.conf", "md5=1"]);
  await assertRejects(() => list(["salt://nope", "/nope"]), CommandError, "none of the specified sources were found");

  const name = `${s.root}/managed`;
  const managed = (source: string) =>
    s.call("file.get_managed", [name, null, source, null, null, null, null, null, null, "base", null, null]);
  assertEquals(await managed("salt://a.conf"), ["", sum, ""]);
  assertEquals(await managed("salt://nope"), ["", new Map(), "Source file salt://nope not found in saltenv 'base'"]);

  const manage = async () => {
    const args = [name, "", {}, "salt://a.conf", sum, null, null, "keep", null, "base", ""];
    const ret = await s.call("file.manage_file", args, { keep_mode: true });
    return ret instanceof Map ? [ret.get("result"), ret.get("comment"), ret.get("changes")] : ret;
  };
  assertEquals(await manage(), [true, `File ${name} updated`, map({ diff: "New file", mode: "0640" })]);
  assertEquals([Deno.readTextFileSync(name), (Deno.statSync(name).mode ?? 0) & 0o7777], ["text\n", 0o640]);
  assertEquals(await manage(), [true, `File ${name} is in the correct state`, new Map()]);
  s.server.files.base["a.conf"] = "other\n";
  assertStringIncludes(String(await s.call("file.get_diff", [name, "salt://a.conf"])), "-text\n+other\n");
  await assertRejects(() => s.call("file.get_diff", [name, "salt://no"]), CommandError, "File salt://no not found");
});

Deno.test("a template of a managed file gets the file's data, and its output is removed afterwards", async () => {
  const template =
    "{{ name }} {{ source }} {{ user }} {{ mode }} {{ a }}{{ b }} {{ salt['test.echo']('x') }}\n{% include 'sub/i.j' %}";
  await using s = await scene({
    base: { "t.j": template, "sub/i.j": "{{ saltenv }}", "s.sh": "#!/bin/sh\necho {{ saltenv }} $1" },
  });
  const name = `${s.root}/managed`;
  const args = [name, "jinja", "salt://t.j", null, null, "root", null, "0644", null, "base", { b: 3 }, { a: 1, b: 2 }];
  const managed = await s.call("file.get_managed", args);
  if (!Array.isArray(managed)) throw new Error("no list");
  const [sfn, sum, problem] = managed;
  assertEquals([problem, (Deno.statSync(String(sfn)).mode ?? 0) & 0o777], ["", 0o600]);
  await s.call("file.manage_file", [name, sfn, {}, "salt://t.j", sum, null, null, "0644", null, "base", ""], {
    template: "jinja",
  });
  assertEquals(Deno.readTextFileSync(name), `${name} salt://t.j root 0644 13 x\nbase`);
  assertEquals(lexists(String(sfn)), false);
  const checked = await s.call("file.check_managed_changes", [
    name,
    "salt://t.j",
    "",
    null,
    null,
    null,
    null,
    null,
    "jinja",
    { a: 9, b: 9, user: "root" },
    {},
    "base",
  ]);
  assertStringIncludes(String(checked instanceof Map ? checked.get("diff") : checked), "99 x");
  await assertRejects(
    () => s.call("file.get_managed", [name, "jinja", "salt://t.j", null, null, null, null, null, null, "base", {}, {}]),
    RenderError,
    "'a' is undefined",
  );
});

Deno.test("files of digests, keys, archives and a formula's defaults may be on the file server", async () => {
  const key = "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQC1 me@here";
  await using s = await scene({
    base: {
      "sums": `${"a".repeat(64)}  big.tar\n`,
      "no.zip": "no archive",
      "web/defaults.yaml": "port: 80\nuser: {name: w}\n",
      key,
    },
  });
  const summed = await s.call("file.get_source_sum", ["big.tar"], {
    source_hash: "salt://sums",
    source: "salt://big.tar",
  });
  assertEquals(summed, map({ hsum: "a".repeat(64), hash_type: "sha256" }));
  await assertRejects(
    () => s.call("archive.list", ["salt://no.zip"]),
    CommandError,
    `archive location:\n    ${s.root}/cache/files/base/no.zip`,
  );
  await assertRejects(
    () => s.call("archive.list", ["salt://nope.zip"]),
    CommandError,
    "Failed to cache salt://nope.zip",
  );
  assertEquals(await s.call("defaults.get", ["web:user:name"]), "w");
  assertEquals(await s.call("defaults.get", ["web:nope", 5]), 5);
  assertEquals([await s.call("defaults.get", ["web"]), await s.call("defaults.get", ["none"])], [
    map({ port: 80, user: { name: "w" } }),
    null,
  ]);
  await assertRejects(
    () => s.call("ssh.set_auth_key_from_file", ["root", "salt://nope"]),
    CommandError,
    "Failed to pull key file",
  );
});

Deno.test("cp.push and cp.push_dir fail where the master does not take a file, and say so where there is none", async () => {
  await using s = await scene({ base: {} });
  Deno.writeTextFileSync(`${s.root}/a.txt`, "a");
  for (const name of ["cp.push", "cp.push_dir"]) {
    await assertRejects(() => s.call(name, [`${s.root}/nope`]), CommandError, "there is no such file");
    s.context.retcode = 0;
    assertEquals([await s.call(name, [`${s.root}/a.txt`]), s.context.retcode], [false, 1], name);
  }
});
