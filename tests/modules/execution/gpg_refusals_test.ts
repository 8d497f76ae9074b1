/**
 * The module `gpg` with errors of gpg that a test cannot cause in the real program, and with keys of other users of the
 * host: the test replaces gpg and the functions of accounts. Source: Salt 3008.3 `salt/modules/gpg.py`.
 * @module
 */

import { callFunction } from "#lib/plugins/execution.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { type RecordedAnswer, RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { resultOrError, type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";

const PRINT = "0123456789ABCDEF0123456789ABCDEF01234567";
const LISTED = `pub:u:255:22:89ABCDEF01234567:1700000000:::u:::scESC:::::ed25519:::0:\nfpr:::::::::${PRINT}:\n` +
  "uid:u::::1700000000::X::me <me@example.com>::::::::::0:\n";

interface Place extends Disposable {
  readonly directory: string;
  readonly programs: RecordedPrograms;
}

/** A directory, and a gpg with these answers. */
function place(answers: readonly RecordedAnswer[] = []): Place {
  const directory = Deno.makeTempDirSync({ prefix: "gpg_refusals_" });
  const programs = new RecordedPrograms();
  programs.answer("gpg", [...answers, { args: "*--list-keys*", stdout: LISTED }]);
  return {
    directory,
    programs,
    [Symbol.dispose]() {
      programs[Symbol.dispose]();
      Deno.removeSync(directory, { recursive: true });
    },
  };
}

/** A minion with these other functions. */
function minion(answers: Readonly<Record<string, Value>>, calls: [string, Value[], ValueMap][] = []): TestContext {
  const context: TestContext = testContext({
    opts: testOpts({ user: "root" }),
    call: async (name, args = [], kwargs = new Map()) => {
      if (!Object.hasOwn(answers, name)) return await callFunction(name, { args, kwargs, context });
      calls.push([name, args, kwargs]);
      const answer = answers[name];
      return isMap(answer) && name === "user.info" ? answer.get(args[0]) ?? new Map() : answer;
    },
  });
  return context;
}

const ACCOUNTS = map({ root: { uid: 0, gid: 0, home: "/root" }, fred: { uid: 1234, gid: 1235, home: "/home/fred" } });

async function answer(
  fun: string,
  kwargs: Readonly<Record<string, unknown>>,
  context: TestContext = testContext({ opts: testOpts({ user: "root" }) }),
): Promise<Value> {
  return await resultOrError(context, `gpg.${fun}`, [], kwargs);
}

Deno.test("the module gpg returns gpg's message about keys that it does not delete or trust", async () => {
  using p = place([
    { args: "*--delete-key*", stderr: "[GNUPG:] DELETE_PROBLEM 3\n", code: 2 },
    { args: "*--import-ownertrust*", code: 2 },
  ]);
  const keys = { gnupghome: p.directory, fingerprint: PRINT };
  assertEquals(
    await answer("delete_key", keys),
    map({ res: false, message: `Failed to delete public key for ${PRINT}: Ambiguous specification` }),
  );
  assertEquals(await answer("trust_key", { ...keys, trust_level: "fully" }), "gpg returned an error - return code 2");
});

Deno.test("gpg.import_key reports what it imported, or that it imported nothing", async () => {
  using p = place([{ args: "*--import*", stderr: "[GNUPG:] IMPORT_RES 1 1 0 0 0 0 0 0 0 0 0 0 0 0 0\n" }]);
  const given = { gnupghome: p.directory, text: "keys" };
  assertEquals(await answer("import_key", given), map({ res: true, message: "", fingerprints: [] }));
  using none = place([{ args: "*--import*", stderr: "[GNUPG:] NODATA 1\n", code: 2 }]);
  assertEquals(
    await answer("import_key", { ...given, gnupghome: none.directory, select: PRINT }),
    map({ res: false, message: "Unable to import key.", fingerprints: [] }),
  );
  const exports = none.programs.calls().filter((line) => line.includes("--export"));
  assertEquals(exports, [], "nothing is chosen of what was not imported");
});

Deno.test("the module gpg rejects arguments before it starts gpg", async () => {
  using p = place();
  const { directory: gnupghome } = p;
  assertEquals(await answer("export_key", { gnupghome }), "keyids must be passed.");
  assertEquals(
    await answer("export_key", { gnupghome, keyids: PRINT, secret: true, use_passphrase: true }),
    "gpg_passphrase not available in pillar.",
  );
  assertEquals(
    await answer("create_key", { gnupghome, name_comment: "one\n%no-protection" }),
    "Name-Comment has several lines",
  );
  assertEquals(p.programs.calls(), []);
});

Deno.test("gpg.sign of a file writes to a file, and reports a file that cannot be written", async () => {
  using p = place([{ args: "*--clearsign*", stdout: "-----BEGIN PGP SIGNED MESSAGE-----\n" }]);
  const filename = `${p.directory}/text`, output = `${p.directory}/signed`;
  Deno.writeTextFileSync(filename, "text\n");
  const context = testContext({ opts: testOpts({ user: "root" }), pillar: map({ gpg_passphrase: "secret" }) });
  const given = { gnupghome: p.directory, filename, output, use_passphrase: true };
  const signed = await answer("sign", given, context);
  assert(signed instanceof Uint8Array, String(signed));
  assertEquals(Deno.readFileSync(output), signed);
  assert(p.programs.calls().at(-1)?.includes("--passphrase-fd 0"));
  assertEquals(
    await answer("sign", { ...given, output: p.directory }, context),
    `[Errno 21] Is a directory: '${p.directory}'`,
  );
});

Deno.test("gpg finds the keys of a user by GNUPGHOME, or below the user's home directory", async () => {
  for (
    const [output, home] of [["~/keys\n", "/home/fred/.gnupg"], ["", "/home/fred/.gnupg"], ["/srv/keys\n", "/srv/keys"]]
  ) {
    using p = place();
    const calls: [string, Value[], ValueMap][] = [];
    const context = minion({ "user.info": ACCOUNTS, "cmd.run_stdout": output, "file.mkdir": true }, calls);
    await answer("list_keys", { user: "fred" }, context);
    assertEquals(p.programs.calls().map((line) => / --homedir (\S+)/.exec(line)?.[1]), [home]);
    assertEquals(calls.find(([name]) => name === "file.mkdir"), [
      "file.mkdir",
      [home],
      map({ user: 1234, group: 1235, mode: "0700" }),
    ]);
    assertEquals(context.logged.some((line) => line.includes("beginning with tilde")), output.startsWith("~"));
  }
});

Deno.test("gpg finds the minion's own keys: those of its user, and those beside its configuration", async () => {
  using p = place();
  const home = `${p.directory}/.gnupg`;
  Deno.mkdirSync(home);
  const own = minion({ "user.info": map({ root: { uid: 0, gid: 0, home: p.directory } }), "environ.get": "" });
  await answer("list_keys", {}, own);
  const salts = minion({
    "user.info": map({ root: { uid: 0, gid: 0 } }),
    "config.get": p.directory,
    "file.mkdir": true,
  });
  await answer("list_keys", { user: "salt" }, salts);
  const homes = p.programs.calls().map((line) => / --homedir (\S+)/.exec(line)?.[1]);
  assertEquals(homes, [home, `${p.directory}/gpgkeys`]);
  const nobody = minion({ "user.info": new Map(), "cmd.run_stdout": "" });
  assertEquals(await answer("list_keys", { user: "nosuch" }, nobody), "User nosuch does not exist");
});

Deno.test("gpg changes the keys of another user as root, and restores the owner of the files", async () => {
  using p = place([{ args: "*--import*", stderr: "[GNUPG:] IMPORT_RES 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0\n" }]);
  const { directory } = p;
  const keyring = `${directory}/ring.gpg`;
  Deno.writeTextFileSync(keyring, "");
  Deno.writeTextFileSync(`${directory}/trustdb.gpg`, "");
  const calls: [string, Value[], ValueMap][] = [];
  const context = minion({
    "user.info": ACCOUNTS,
    "file.chown": null,
    "file.find": [directory, `${directory}/trustdb.gpg`],
  }, calls);
  const result = await answer("import_key", { user: "fred", gnupghome: directory, keyring, text: "keys" }, context);
  assertEquals(isMap(result) && result.get("res"), true);
  const owned = calls.filter(([name]) => name === "file.chown").map((
    [, [path], to],
  ) => [path, str(to.get("user") ?? "")]);
  const paths = [directory, directory, `${directory}/trustdb.gpg`, keyring];
  assertEquals(owned, [...paths.map((path) => [path, "0"]), ...paths.map((path) => [path, "1234"])]);
});
