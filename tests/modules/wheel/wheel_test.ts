import { updateConfig } from "#lib/config/write.ts";
import { CommandError, ConfigError, InvocationError } from "#lib/errors.ts";
import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { isFile, lexistsOrThrow } from "#lib/os/file_kind.ts";
import { dumpJson } from "#lib/values/json.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { type RunnerFixture, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import corpus from "#tests/corpus/wheel.json" with { type: "json" };

const ROOTS =
  `file_roots:\n  base: ["{root}/base", "{root}/none"]\n  dev: ["{root}/dev"]\npillar_roots:\n  base: ["{root}/dev"]\n`;

/** All paths below a directory, with their sizes and owners. */
function* walk(directory: string): Generator<string> {
  for (const { name, isDirectory } of [...Deno.readDirSync(directory)].sort((a, b) => a.name < b.name ? -1 : 1)) {
    const path = `${directory}/${name}`, { size, uid } = Deno.lstatSync(path);
    yield isDirectory ? path : `${path} ${size} ${uid}`;
    if (isDirectory) yield* walk(path);
  }
}

/** The keys and files of the corpus. */
function withFiles(test: (fixture: RunnerFixture) => Promise<void>): Promise<void> {
  return withRunnerFixture(async (fixture) => {
    const { root } = fixture;
    for (const [state, ids] of Object.entries(corpus.keys)) {
      Deno.mkdirSync(`${root}/pki/${state}`, { recursive: true });
      for (const id of ids) Deno.writeTextFileSync(`${root}/pki/${state}/${id}`, corpus.pem);
    }
    Deno.writeTextFileSync(`${root}/pki/master.pub`, `${corpus.pem}\n`);
    for (const [env, files] of Object.entries(corpus.files)) {
      for (const [name, text] of Object.entries(files)) {
        const path = `${root}/${env}/${name}`;
        Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
        Deno.writeTextFileSync(path, text);
      }
    }
    Deno.writeTextFileSync(`${root}/outside`, "secret");
    Deno.symlinkSync(`${root}/outside`, `${root}/base/link`);
    await test(fixture);
  }, ROOTS);
}

for (const [name, args, kwargs, expected] of corpus.wheel as [string, unknown[], Record<string, unknown>, unknown][]) {
  Deno.test(`wheel ${name} of ${JSON.stringify([args, kwargs])} returns the same as Salt`, () =>
    withFiles(async ({ call, root }) => {
      const callArgs = args.map((arg) => typeof arg === "string" ? arg.replaceAll("{root}", root) : arg);
      const result = await call(`wheel.${name}`, callArgs, kwargs);
      assertEquals(JSON.parse(dumpJson(result).replaceAll(root, "{root}")), expected);
      assertEquals(Deno.readTextFileSync(`${root}/outside`), "secret");
    }));
}

Deno.test("wheel functions fire events for changes of keys; deleting and rejecting request a new AES key", () =>
  withFiles(async ({ call, done }) => {
    await call("wheel.key.accept", ["new1"]);
    await call("wheel.key.reject", ["new2"]);
    await call("wheel.key.delete", ["db1"]);
    assertEquals(done, [
      "salt/key accepted new1",
      "salt/key rejected new2",
      "rotate",
      "salt/key delete db1",
      "forget db1",
      "rotate",
    ]);
  }));

Deno.test("key.delete_dict skips a key that is listed under another state, as Salt's documentation says", () =>
  withFiles(async ({ call, done }) => {
    assertEquals(await call("wheel.key.delete_dict", [{ minions: ["new1"] }]), map({ minions_pre: ["new1"] }));
    assertEquals(done, ["rotate"]);
  }));

Deno.test("key.gen_accept accepts the public key that it returns, and rejects an invalid id and an id with a key", () =>
  withFiles(async ({ call, root, context }) => {
    const pair = await call("wheel.key.gen_accept", ["fresh"]) as ValueMap;
    assertEquals(Deno.readTextFileSync(`${root}/pki/minions/fresh`), pair.get("pub"));
    assertStringIncludes(String(pair.get("priv")), "PRIVATE KEY");
    assertEquals(await call("wheel.key.gen_accept", ["db1"]), new Map());
    await assertRejects(() => call("wheel.key.gen_accept", ["../escaped"]), InvocationError);
    assertEquals(lexistsOrThrow(`${root}/pki/escaped`), false);
    for (const name of ["key.gen", "key.gen_accept"]) assertEquals((await context.wheel.get(name))?.secret, true, name);
  }));

Deno.test("key.name_match is the old name of key.glob_match", () =>
  withFiles(async ({ call }) => {
    const named = await call("wheel.key.name_match", ["*1"]);
    assertEquals(named, await call("wheel.key.glob_match", ["*1"]));
    assert(isMap(named) && named.size > 0);
  }));

Deno.test("the master's own key is listed, printed and fingerprinted", () =>
  withFiles(async ({ call }) => {
    const all = await call("wheel.key.list_all") as ValueMap;
    assertEquals(all.get("local"), ["master.pub"]);
    const printed = await call("wheel.key.master_key_str");
    assertEquals(printed, map({ local: { "host.pub": corpus.pem } }));
    const fingers = await call("wheel.key.finger", ["*"]) as ValueMap;
    assertEquals(fingers.get("local"), (await call("wheel.key.finger_master") as ValueMap).get("local"));
  }));

Deno.test("key.gen_keys and key.gen_signature write below the pki directory, and overwrite nothing", () =>
  withFiles(async ({ call, root }) => {
    const made = { keydir: `${root}/pki/generated/new`, keyname: "web9" };
    const first = await call("wheel.key.gen_keys", [], made);
    assertEquals(await call("wheel.key.gen_keys", [], made), first);
    assertEquals(isFile(`${root}/pki/generated/new/web9.pem`), true);
    await call("wheel.key.gen_keys");
    assertEquals([isFile(`${root}/pki/minion.pem`), isFile(`${root}/pki/minion.pub`)], [true, true]);
    await assertRejects(
      () => call("wheel.key.gen_keys", [], { keydir: made.keydir, keyname: "../x" }),
      InvocationError,
    );
    assertEquals(await call("wheel.key.gen_signature", ["", "", ""]), "No usable private-key found");
    assertEquals(await call("wheel.key.gen_signature", ["", "", ""], { auto_create: true }), true);
    assertEquals(await call("wheel.key.gen_signature", ["", "", ""]), false);
    const own = [`${root}/pki/master_sign.pem`, `${root}/pki/master.pub`, `${root}/pki/generated`];
    assertEquals(await call("wheel.key.gen_signature", own), true);
  }));

Deno.test("key.gen_keys writes to no other directory, by any path or link, and not where minions' keys are", () =>
  withFiles(async ({ call, root }) => {
    Deno.mkdirSync(`${root}/pki/generated`);
    Deno.symlinkSync(`${root}/base`, `${root}/pki/generated/link`);
    const before = [...walk(root)].join();
    for (
      const keydir of [
        root,
        "/",
        "relative",
        `${root}/pki/minions`,
        `${root}/pki/generated/../minions`,
        `${root}/pki/generated/../../base`,
        `${root}/pki/generated/link`,
        `${root}/pki/generated/link/new`,
        `${root}/pki/generatedx`,
        `${root}/pki/generated/a\0b`,
      ]
    ) {
      const error = await assertRejects(
        () => call("wheel.key.gen_keys", [], { keydir, keyname: "x" }),
        InvocationError,
        "keydir must be",
      );
      assertStringIncludes(error.message, `${root}/pki/generated`);
    }
    assertEquals([...walk(root)].join(), before);
  }));

Deno.test("key.gen_keys gives nobody a pair that was there, and takes no name of the master's own keys", () =>
  withFiles(async ({ call, root }) => {
    Deno.removeSync(`${root}/pki/master.pub`);
    await loadOrCreateKeyPair(`${root}/pki`, "master", 2048);
    const uidOf = (path: string) => Deno.statSync(path).uid;
    for (const keyname of ["master", "master_sign", "host"]) {
      for (const keydir of ["", `${root}/pki`, `${root}/pki/`, `${root}/base/../pki`]) {
        await assertRejects(
          () => call("wheel.key.gen_keys", [], { keydir, keyname, user: "nobody" }),
          InvocationError,
          "keyname must be",
        );
      }
    }
    assertEquals(uidOf(`${root}/pki/master.pem`), Deno.uid());
    const pair = { keydir: `${root}/pki/generated`, keyname: "web9" };
    await call("wheel.key.gen_keys", [], pair);
    await call("wheel.key.gen_keys", [], { ...pair, user: "nobody" });
    assertEquals(uidOf(`${root}/pki/generated/web9.pem`), Deno.uid());
    Deno.symlinkSync(`${root}/pki/master.pem`, `${root}/pki/generated/linked.pem`);
    await call("wheel.key.gen_keys", [], { ...pair, keyname: "linked", user: "nobody" });
    assertEquals(uidOf(`${root}/pki/master.pem`), Deno.uid());
  }));

Deno.test("key.gen_signature signs only the master's public key, with its signing key, and writes below the pki directory", () =>
  withFiles(async ({ call, root }) => {
    await loadOrCreateKeyPair(`${root}/pki`, "master_sign", 2048);
    await loadOrCreateKeyPair(`${root}/other`, "evil", 2048);
    const before = [...walk(root)].join();
    for (
      const [priv, pub, path] of [
        [`${root}/other/evil.pem`, "", ""],
        ["", `${root}/other/evil.pub`, ""],
        ["", `${root}/pki/minions/web1`, ""],
        ["", "/etc/passwd", ""],
        ["", "", `${root}/base`],
        ["", "", `${root}/pki/minions`],
        ["", "", `${root}/pki/generated/../minions`],
      ]
    ) {
      await assertRejects(() => call("wheel.key.gen_signature", [priv, pub, path]), InvocationError, "must be");
    }
    assertEquals([...walk(root)].join(), before);
  }));

Deno.test("config.apply sets one option and keeps the others; a value that would stop the master is rejected", () =>
  withFiles(async ({ call, root }) => {
    assertEquals(await call("wheel.config.apply", ["worker_threads", 8]), null);
    const values = await call("wheel.config.values") as ValueMap;
    assertEquals([values.get("worker_threads"), values.get("id")], [8, "host_master"]);
    const before = Deno.readTextFileSync(`${root}/etc/master`);
    await assertRejects(() => call("wheel.config.apply", ["worker_threads", "many"]));
    await assertRejects(
      () => call("wheel.config.apply", ["fips_mode", true]),
      ConfigError,
      "fips_mode: is not built yet, and cannot be ignored: it protects this master",
    );
    await assertRejects(() => call("wheel.config.apply", ["include", 5]), ConfigError, "include: must be a path or");
    assertEquals(Deno.readTextFileSync(`${root}/etc/master`), before);
    await call("wheel.config.apply", ["mysql.host", "db1"]);
    assertStringIncludes(Deno.readTextFileSync(`${root}/etc/master`), "mysql.host: db1");
    // Of options that are wrong already, each can be mended, and no other one becomes wrong.
    const broken = "loop_interval: often\nworker_threads: many\n";
    Deno.writeTextFileSync(`${root}/etc/master`, `${before}${broken}`.replace("worker_threads: 8\n", ""));
    await assertRejects(() => call("wheel.config.apply", ["timeout", "long"]), ConfigError, "timeout: ");
    assertEquals(await call("wheel.config.apply", ["worker_threads", 7]), null);
    assertEquals(await call("wheel.config.apply", ["loop_interval", 60]), null);
    const mended = await call("wheel.config.values") as ValueMap;
    assertEquals([mended.get("worker_threads"), mended.get("loop_interval")], [7, 60]);
  }));

Deno.test("config.update_config writes only one file in master.d, whatever its name is", () =>
  withFiles(async ({ call, root }) => {
    assertEquals(await call("wheel.config.update_config", ["gui", { timeout: 7 }]), "Wrote gui.conf");
    assertEquals(Deno.readTextFileSync(`${root}/etc/master.d/gui.conf`), "timeout: 7\n");
    for (const name of ["../evil", "a/b", "", "..", "x\0y"]) {
      assertEquals(await call("wheel.config.update_config", [name, { timeout: 7 }]), "Invalid path", name);
    }
    assertStringIncludes(String(await call("wheel.config.update_config", ["bad", { timeout: "x" }])), "timeout");
    for (const contents of ["timeout: 7", ["timeout"], 7, null]) {
      assertEquals(await call("wheel.config.update_config", ["bad", contents]), "The options are no dictionary");
    }
    for (const option of ["fips_mode", "include"]) {
      assertStringIncludes(String(await call("wheel.config.update_config", ["bad", { [option]: true }])), option);
    }
    assertEquals([...Deno.readDirSync(`${root}/etc/master.d`)].map(({ name }) => name), ["gui.conf"]);
    // The directory may be anywhere.
    const other = { conf_file: `${root}/etc/master`, config_dir: `${root}/etc`, default_include: `${root}/own/*.conf` };
    assertEquals(updateConfig(other, { name: "gui.conf", contents: map({ timeout: 8 }) }), "Wrote gui.conf");
    assertEquals(Deno.readTextFileSync(`${root}/own/gui.conf`), "timeout: 8\n");
  }));

Deno.test("no path and no link leads out of the directories of file_roots and pillar_roots", () =>
  withFiles(async ({ call, root }) => {
    Deno.symlinkSync(`${root}/missing`, `${root}/base/dangling`);
    Deno.symlinkSync(root, `${root}/base/up`);
    Deno.symlinkSync("/", `${root}/base/slash`);
    const paths = [
      "../outside",
      "a/../../outside",
      "link",
      "up/outside",
      "slash/etc/passwd",
      "dangling",
      "",
      ".",
      "x\0y",
    ];
    for (const module of ["file_roots", "pillar_roots"]) {
      for (const path of paths) {
        assertEquals(await call(`wheel.${module}.find`, [path]), [], path);
        assertEquals(await call(`wheel.${module}.read`, [path]), [], path);
        if (module === "file_roots") {
          assertEquals(await call(`wheel.${module}.write`, ["x", path]), `Invalid path: ${path}`, path);
        }
      }
    }
    assertEquals([Deno.readTextFileSync(`${root}/outside`), lexistsOrThrow(`${root}/missing`)], ["secret", false]);
    assertEquals(
      await call("wheel.file_roots.write", ["x", "up/base/inside"]),
      `Wrote data to file ${root}/base/up/base/inside`,
    );
  }));

Deno.test("minions.connected lists the connected minions", () =>
  withFiles(async ({ call, here }) => {
    here.set("web1", "192.0.2.1").set("db1", undefined);
    assertEquals(await call("wheel.minions.connected"), ["db1", "web1"]);
  }));

Deno.test("file_roots.list_env follows no link, and stops in an endless tree", () =>
  withFiles(async ({ call, root }) => {
    Deno.mkdirSync(`${root}/dev/sub`);
    Deno.symlinkSync(root, `${root}/dev/sub/up`);
    assertEquals(
      JSON.parse(dumpJson(await call("wheel.file_roots.list_env", ["dev"])).replaceAll(root, "")),
      { "/dev": { sub: { up: {} }, "top.sls": "f" } },
    );
  }));

Deno.test("salt.wheel runs a wheel function, but not one that returns a secret", () =>
  withFiles(async ({ call }) => {
    const listed = await call("salt.wheel", ["key.list", "accepted"]);
    assert(isMap(listed));
    assertEquals(listed.get("minions"), ["db1", "web1", "Web2"]);
    await assertRejects(() => call("salt.wheel", ["key.gen"]), CommandError, "secret");
    await assertRejects(() => call("salt.wheel", ["key.acept", "x"]), Error, "key.accept");
  }));

Deno.test("key.gen returns a key pair and does not store it", () =>
  withRunnerFixture(async ({ call, root }) => {
    const pair = await call("wheel.key.gen", []) as ValueMap;
    assertStringIncludes(String(pair.get("priv")), "PRIVATE KEY");
    assertStringIncludes(String(pair.get("pub")), "PUBLIC KEY");
    assertEquals(lexistsOrThrow(`${root}/pki`), false);
  }));

Deno.test("key.gen_keys makes a user the owner of its files, and rejects an unknown user", () =>
  withRunnerFixture(async ({ call, root }) => {
    const keydir = `${root}/pki/generated`;
    const made = (user: string) => call("wheel.key.gen_keys", [], { keydir, keyname: "web9", user });
    await assertRejects(() => made("no-such-user"), InvocationError, "there is no user no-such-user");
    assertEquals(lexistsOrThrow(keydir), false);
    await made("nobody");
    const { uid } = Deno.statSync(`${keydir}/web9.pem`);
    assertEquals([uid !== 0, Deno.statSync(`${keydir}/web9.pub`).uid], [true, uid]);
  }));

Deno.test("a match that is not a glob is rejected, and so is a key that the master has not made yet", () =>
  withRunnerFixture(async ({ call, root }) => {
    await assertRejects(
      () => call("wheel.key.finger", [5]),
      InvocationError,
      "match must be a glob or a list of globs",
    );
    await assertRejects(
      () => call("wheel.key.master_key_str"),
      CommandError,
      `${root}/pki/master.pub is not there: start the master once`,
    );
  }));

Deno.test("key.accept with a fingerprint accepts the one pending key that has it, and no other", () =>
  withFiles(async ({ call }) => {
    const printed = await call("wheel.key.finger", ["new1"]) as ValueMap;
    const print = String(mapOrEmpty(printed.get("minions_pre")).get("new1"));
    const accept = (match: unknown, fingerprint: string) => call("wheel.key.accept", [match], { fingerprint });
    for (
      const [match, why] of [
        [["new1", "new2"], "With fingerprint, match must be one id"],
        ["../new1", "With fingerprint, match must be one id"],
        ["db1", "There is no pending key of db1"],
        // A glob is no id here.
        ["new*", "There is no pending key of new*"],
      ] as const
    ) await assertRejects(() => accept(match, print), CommandError, why);
    await assertRejects(
      () => accept("new1", print.replace(/^../, "zz")),
      CommandError,
      "The pending key of new1 has another fingerprint; it was not accepted",
    );
    assertEquals(mapOrEmpty(await call("wheel.key.list_all")).get("minions_pre"), ["new1", "new2"]);
    assertEquals(await accept("new1", print), map({ minions: ["new1"] }));
  }));

Deno.test("key.accept names an invalid key that it leaves out, and accepts the others", () =>
  withFiles(async ({ call, root, done }) => {
    Deno.writeTextFileSync(`${root}/pki/minions_pre/new1`, "no key");
    assertEquals(await call("wheel.key.accept", ["new*"]), map({ minions_pre: ["new1"], minions: ["new2"] }));
    assertEquals(done, ["salt/key accepted new2", "error: Invalid RSA public key: new1"]);
  }));

Deno.test("key.gen makes no key that would occupy the master for long", () =>
  withRunnerFixture(async ({ call }) => {
    const text = "keysize must be at most 4096 here: salt-key --gen-keys makes longer keys";
    await assertRejects(() => call("wheel.key.gen", [], { keysize: 100_000 }), InvocationError, text);
  }));
