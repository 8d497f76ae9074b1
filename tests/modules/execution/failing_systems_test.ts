/**
 * Functions on a failing system: files that are directories, names without users, a missing master. Python Salt's texts
 * are in the source of the module of each function.
 * @module
 */

import { CommandError, UnavailableError } from "#lib/errors.ts";
import { callFunction } from "#lib/plugins/execution.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import {
  answeringContext,
  resultOrError,
  type TestContext,
  testContext,
  testOpts,
} from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("saltutil reports that it could not clear a cache, and finds no modules without a directory", async () => {
  await withTemporaryDirectory(async (root) => {
    const none = minion({}, { cachedir: `${root}/none`, extension_modules: `${root}/none` });
    assertEquals(await resultOrError(none, "saltutil.clear_cache"), false);
    assert(none.logged[0].startsWith("error: Attempt to clear cache with saltutil.clear_cache FAILED with: "));
    assertEquals(await resultOrError(none, "saltutil.list_extmods"), new Map());
    Deno.writeTextFileSync(`${root}/minion_jobs`, "");
    const odd = minion({}, { cachedir: root, extension_modules: `${root}/minion_jobs` });
    assertEquals(await resultOrError(odd, "saltutil.clear_job_cache"), false);
    assert(odd.logged[0].startsWith("error: Attempt to clear cache with saltutil.clear_job_cache FAILED with: "));
    await assertRejects(() => odd.call("saltutil.list_extmods"), Deno.errors.NotADirectory);
  });
});

Deno.test("mount reports that its cache cannot be written, and mounts images by their own modules", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/mounts`);
    const context = minion({
      "qemu_nbd.init": map({ "/mnt/image": "/dev/nbd0p1" }),
      "guestfs.umount": true,
    }, { cachedir: root });
    assertEquals(await resultOrError(context, "mount.delete_mount_cache", ["/x"]), true);
    const noted = await resultOrError(context, "mount.write_mount_cache", ["/x", "/dev/x", false, "ext4", []]);
    assertEquals(noted, "Unable to write mount cache.");
    assert(context.logged.at(-1)?.startsWith("error: Failed to cache mounts: "));
    assertEquals(
      await resultOrError(context, "mount.mount", ["/a.img", "/mnt/image"], { util: "qemu_nbd" }),
      "/mnt/image",
    );
    assertEquals(
      await resultOrError(context, "mount.umount", ["/mnt/image"], { util: "guestfs", device: "/a.img" }),
      null,
    );
    const failing = minion({ "qemu_nbd.init": "" });
    assertEquals(await resultOrError(failing, "mount.mount", ["/a.img", "/mnt/image"], { util: "qemu_nbd" }), false);
  });
});

Deno.test("asymmetric names the file, URL or signature that it cannot use", async () => {
  const [{ private: privkey, public: pubkey, signatures }] =
    JSON.parse(Deno.readTextFileSync(new URL("../../corpus/asymmetric.json", import.meta.url))).keys;
  await withTemporaryDirectory(async (root) => {
    const context = minion({ "cp.cache_file": false });
    const at = `${root}/signature`;
    assertEquals(
      await resultOrError(context, "asymmetric.sign", [privkey], { text: "x", path: root }),
      `[Errno 21] Is a directory: '${root}'`,
    );
    const given = { text: "x", digest: "sha256" };
    const lost = "Failed fetching 'https://example.com/x.sig'";
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], {
        ...given,
        pubkey,
        signature: "https://example.com/x.sig",
      }),
      map({ res: false, message: lost }),
    );
    const options = { ...given, signed_by_any: [pubkey], signature: ["https://example.com/x.sig"] };
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], options),
      "Unable to locate any of the provided signatures",
    );
    assertEquals(context.logged.at(-1), `error: ${lost}`);
    assertEquals(
      await resultOrError(context, "asymmetric.verify", [], { ...given, pubkey, signature: "s\u00ebgnature" }),
      map({
        res: false,
        message: "Failed checking signature: Failed loading signature 's\u00ebgnature' as file and/or base64 string",
      }),
    );
    assertEquals(
      await resultOrError(context, "asymmetric.sign", [privkey], { text: "x", path: at }),
      `Signature written to '${at}'`,
    );
    const bytes = new TextEncoder().encode(pubkey);
    const verified = await resultOrError(context, "asymmetric.verify", [], {
      ...given,
      pubkey: bytes,
      signature: `file://${at}`,
    });
    assertEquals(verified, map({ res: true, message: "The signature is valid" }));
    assert(typeof signatures.sha256 === "string");
  });
});

Deno.test("hosts reports a hosts file that is not text, and ssh a missing key", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeFileSync(`${root}/hosts`, Uint8Array.of(0x31, 0xff, 0xfe, 0x0a));
    const context = minion({ "config.option": `${root}/hosts` });
    const result = await resultOrError(context, "hosts.list_hosts");
    assert(typeof result === "string" && result.includes(`${root}/hosts`), String(result));
    assertEquals(await resultOrError(context, "ssh.key_is_encrypted", [`${root}/none`]), `${root}/none does not exist`);
    assertEquals(
      await resultOrError(context, "ssh.set_known_host", ["nosuch-user", "h"], {
        key: "AAAA",
        config: `${root}/known`,
      }),
      "User 'nosuch-user' does not exist",
    );
  });
});

Deno.test("file names the file or backup that it cannot remove, restore, copy or back up", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { cachedir: `${root}/cache` });
    const path = `${root}/a`;
    Deno.writeTextFileSync(path, "a\n");
    Deno.mkdirSync(`${root}/a.bak`);
    const result = await resultOrError(context, "file.replace", [path], { pattern: "a", repl: "b" });
    assertEquals(
      result,
      `Unable to move the temp file '${path}' to the backup file '${path}.bak'. Exception: Is a directory`,
    );
    assertEquals(Deno.readTextFileSync(path), "a\n");
    Deno.writeFileSync(`${root}/latin`, new TextEncoder().encode("a caf? here\n").with(5, 0xe9));
    const diff = await resultOrError(context, "file.replace", [`${root}/latin`], {
      pattern: "a ",
      repl: "b ",
      backup: false,
    });
    assertEquals(diff, "--- \n+++ \n@@ -1 +1 @@\n-a caf\u00e9 here\n+b caf\u00e9 here\n");
    assertEquals(
      await resultOrError(context, "file.remove", ["/proc/self/environ"]),
      "Could not remove '/proc/self/environ': [Errno 1] Operation not permitted: '/proc/self/environ'",
    );
    const zip = await resultOrError(context, "archive.zip", [`${root}/none/a.zip`, path]);
    assert(typeof zip === "string" && zip.startsWith("Exception encountered creating zipfile: "), String(zip));
    const problems = await resultOrError(context, "file.get_diff", ["http://127.0.0.1:1/x", `${root}/none`]);
    assert(
      typeof problems === "string" && problems.startsWith("Failed to cache one or more files: "),
      String(problems),
    );
  });
});

Deno.test("temp.dir makes a new directory, and names one that cannot be made", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({});
    const made = await resultOrError(context, "temp.dir", [], { prefix: "p-", suffix: "-s", parent: root });
    assert(typeof made === "string" && /\/p-[^/]+-s$/.test(made) && Deno.statSync(made).isDirectory, String(made));
    const result = await resultOrError(context, "temp.dir", [], { parent: `${root}/none` });
    assert(typeof result === "string" && result.startsWith("[Errno 2] No such file or directory: '"), String(result));
  });
});

Deno.test("functions for unsupported systems report that", async () => {
  const context = minion({});
  for (const name of ["set_reboot_required_witnessed", "get_reboot_required_witnessed"]) {
    assertEquals(await resultOrError(context, `system.${name}`), `system.${name} is for NI Linux Real-Time alone`);
  }
  const result = await resultOrError(context, "random.shadow_hash", ["a:b", "secret"]);
  assertEquals(result, "This host's libcrypt is missing, or does not know the method 'sha512'");
});

Deno.test("data.cas sets a key if its value is the expected one", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { cachedir: root });
    await context.call("data.update", ["k", "one"]);
    assertEquals(await resultOrError(context, "data.cas", ["k", "two", "none"]), false);
    assertEquals(await resultOrError(context, "data.get", ["k"]), "one");
    assertEquals(await resultOrError(context, "data.cas", ["k", "two", "one"]), true);
    assertEquals(await resultOrError(context, "data.get", ["k"]), "two");
  });
});

Deno.test("virtualenv.create starts the program that the pillar or the configuration names", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    for (const name of ["one", "two"]) {
      programs.answer(name, [{ args: "--version", stdout: "virtualenv 20.17.1" }]);
    }
    const extra = new Map([["venv_bin", "two"]]);
    for (const [pillar, program] of [[map({ venv_bin: "one" }), "one"], [map({}), "two"]] as const) {
      const context = testContext({ pillar, opts: { ...testOpts(), extra } });
      const result = await resultOrError(context, "virtualenv.create", [`${root}/venv`]);
      assert(result instanceof Map && result.get("retcode") === 0, String(result));
      assertEquals(programs.calls(), [`${program} --version`, `${program} ${root}/venv`]);
    }
  });
});

Deno.test("virtualenv.create fetches the installer of pip, and names one that is not available", async () => {
  await withTemporaryDirectory(async (root) => {
    using programs = new RecordedPrograms();
    programs.answer("virtualenv", [{ args: "--version", stdout: "virtualenv 20.17.1" }]);
    Deno.mkdirSync(`${root}/venv/bin`, { recursive: true });
    Deno.writeTextFileSync(`${root}/venv/bin/python`, '#!/bin/sh\ncat "$1"; echo "$VIRTUAL_ENV" >&2\n', {
      mode: 0o755,
    });
    Deno.writeTextFileSync(`${root}/get-pip.py`, "installer\n");
    Deno.writeTextFileSync(`${root}/venv/distribute-0.6.tar.gz`, "");
    const create = (cached: Value) =>
      resultOrError(minion({ "cp.cache_file": cached }), "virtualenv.create", [`${root}/venv`], {
        venv_bin: `${programs.path}/virtualenv`,
        pip: true,
        user: Deno.uid() === 0 ? "root" : null,
        distribute: true,
      });
    const result = await create(`${root}/get-pip.py`);
    assert(result instanceof Map, String(result));
    assertEquals([result.get("retcode"), result.get("stdout"), result.get("stderr")], [0, "installer", `${root}/venv`]);
    assertEquals(
      [...Deno.readDirSync(`${root}/venv`)].map(({ name }) => name),
      ["bin"],
      "what was left over is removed",
    );
    assertEquals(await create(false), "Failed fetching 'https://bootstrap.pypa.io/ez_setup.py'");
    Deno.writeTextFileSync(`${root}/venv/bin/python`, "#!/bin/sh\necho told; echo failed >&2; exit 1\n");
    assertEquals(await resultOrError(minion({}), "virtualenv.get_site_packages", [`${root}/venv`]), "told\nfailed");
    Deno.writeTextFileSync(`${root}/venv/bin/python`, "#!/bin/sh\necho /venv/site-packages\n");
    assertEquals(
      await resultOrError(minion({}), "virtualenv.get_site_packages", [`${root}/venv`]),
      "/venv/site-packages",
    );
    await assertRejects(
      () => minion({}).call("virtualenv.get_site_packages", [`${root}/none`]),
      CommandError,
      "virtualenv",
    );
  });
});

Deno.test("grains.setval sets a grain for this job if the file of grains cannot be written", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({}, { root_dir: root, file_client: "local" });
    assertEquals(await resultOrError(context, "grains.setval", ["role", "web"]), map({ role: "web" }));
    const { config_dir } = context.opts;
    assert(
      context.logged.some((line) => line.startsWith(`error: Unable to write to grains file at ${config_dir}/grains.`)),
    );
    assertEquals(context.grains.get("role"), "web");
  });
});

Deno.test("ini, ssh and archive name the file that they cannot read", async () => {
  await withTemporaryDirectory(async (root) => {
    const context = minion({});
    const path = `${root}/bytes`;
    Deno.writeFileSync(path, Uint8Array.of(0x5b, 0xff, 0xfe, 0x5d));
    assertEquals(
      await resultOrError(context, "ini.get_section", [path, "a"]),
      `Unable to open file '${path}'. Exception: it is not valid utf-8`,
    );
    assertEquals(
      await resultOrError(context, "ini.set_option", [`${root}/none/a.ini`, map({ a: { b: "c" } })]),
      `Unable to write file '${root}/none/a.ini'. Exception: [Errno 2] No such file or directory: '${root}/none/a.ini'`,
    );
    assertEquals(
      await resultOrError(context, "ini.get_section", [root, "a"]),
      `Unable to open file '${root}'. Exception: [Errno 21] Is a directory: '${root}'`,
    );
    assertEquals(
      await resultOrError(context, "ssh.auth_keys", ["root"], { config: path }),
      `Problem reading ssh key file ${path}`,
    );
    const result = await resultOrError(context, "archive.list", [path], { archive_format: "tar" });
    assert(typeof result === "string" && result.includes(`Unable to list contents of ${path}. `), String(result));
  });
});

Deno.test("match.data logs that there is no function for it", async () => {
  const context: TestContext = testContext({
    call: () => Promise.reject(new UnavailableError("data.get")),
  });
  assertEquals(await callFunction("match.data", { args: ["a:b"], context }), false);
  assertEquals(context.logged, ["error: 'data.get' is not available."]);
});
