/**
 * Who sends a request of a client, and what that user may run: key files, and names of external_auth.
 * @module
 */

import { Access } from "#lib/auth/access.ts";
import { Attempts } from "#lib/auth/attempts.ts";
import { Callers } from "#lib/auth/callers.ts";
import { ExternalAuth } from "#lib/auth/external_auth.ts";
import type { MasterCall } from "#lib/auth/rules.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { RefusedError } from "#lib/errors.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { ownConnection } from "#tests/support/fleet/attempts.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/**
 * Key files of root, alice and mallory, and `external_auth` with fred and mallory; the blacklist bans mallory and
 * cmd.*.
 */
function withCallers(act: (callers: Callers, sent: (user: string) => ValueMap) => Promise<void>): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    const may = ["test.*", "cmd.*", "@runner", { "@wheel": ["key.list_all"] }];
    const { opts } = loadMasterConfig({
      configDir: root,
      overrides: { root_dir: root, id: "m", external_auth: map({ file: { fred: may, mallory: may } }) },
    });
    const keys = new Map(["root", "alice", "mallory"].map((user) => [user, `${user}-key`]));
    const acl = map({ alice: may, mallory: may });
    const blacklist = map({ users: ["mallory"], modules: ["cmd.*"] });
    const access = new Access(keys, { owner: "root", acl, blacklist });
    const log = recordingLogger([]);
    const system = { authenticate: () => Promise.resolve({ groups: [] }) };
    const attempts = new Attempts({ now: () => 0, random: () => 0, sleep: () => Promise.resolve() });
    const external = new ExternalAuth({
      opts,
      log,
      warn: log.warning,
      attempts,
      load: () => Promise.resolve(system),
      onWait: ownConnection,
    });
    const sent = (user: string) =>
      user.startsWith("file:")
        ? map({ eauth: "file", username: user.slice(5), password: "x" })
        : map({ user, key: `${user}-key` });
    await act(new Callers({ access, external }), sent);
  });
}

const master = (form: "runner" | "wheel", fun: string): MasterCall => ({ form, fun, args: [], kwargs: new Map() });
const TARGET = { minions: ["web1"], matching: () => new Set<string>() };

async function kindOf(act: () => unknown): Promise<string> {
  try {
    await act();
    return "allowed";
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    return error.kind;
  }
}

Deno.test("a job is allowed by the rules of its user alone, and by no rule if the blacklist bans the user or the function", () =>
  withCallers(async (callers, sent) => {
    const job = async (user: string, fun: string) => {
      const caller = await callers.authenticate(sent(user));
      return await kindOf(() => callers.authorizeJob(caller, [{ fun, arg: [] }], TARGET));
    };
    for (const user of ["alice", "file:fred"]) {
      assertEquals([await job(user, "test.ping"), await job(user, "grains.items")], ["allowed", "AuthorizationError"]);
    }
    for (const user of ["mallory", "file:mallory"]) assertEquals(await job(user, "test.ping"), "AuthorizationError");
    for (const user of ["alice", "file:fred", "root"]) assertEquals(await job(user, "cmd.run"), "AuthorizationError");
    assertEquals(await job("root", "grains.items"), "allowed");
  }));

Deno.test("a call on the master is allowed by the rules of its user alone; the blacklist bans its users there, too", () =>
  withCallers(async (callers, sent) => {
    const call = (user: string, one: MasterCall) => kindOf(() => callers.forMasterCall(sent(user), one));
    const [listed, deleted] = [master("wheel", "key.list_all"), master("wheel", "key.delete")];
    for (const user of ["root", "alice", "file:fred"]) assertEquals(await call(user, listed), "allowed", user);
    assertEquals([await call("root", deleted), await call("alice", deleted)], ["allowed", "AuthorizationError"]);
    assertEquals(await call("file:fred", deleted), "AuthorizationError");
    for (const user of ["mallory", "file:mallory"]) {
      for (const one of [listed, master("runner", "jobs.active")]) {
        assertEquals(await call(user, one), "AuthorizationError", user);
      }
    }
    // What is no function is told as such.
    for (const user of ["alice", "file:fred"]) {
      assertEquals(await call(user, master("wheel", "key")), "SaltInvocationError", user);
    }
    const error = await assertRejects(() => callers.forMasterCall(sent("file:fred"), deleted), RefusedError);
    const odd = await assertRejects(
      () => callers.forMasterCall(sent("file:fred"), master("wheel", "key")),
      RefusedError,
    );
    assertEquals(odd.message, "A command invocation error occurred: Check syntax.");
    assertEquals(error.message, "Authorization error occurred: user fred may not run the wheel key.delete.");
  }));

Deno.test("an API token may do what both its user and its own rules allow", () =>
  withCallers(async (callers) => {
    const sentBy = (rules: readonly Value[] | undefined) => {
      const token = { name: "fred", eauth: "file", groups: [], apiToken: { id: "ci", rules } };
      return map({ token: callers.external.tokens.make(token, 60).data.get("token") ?? null });
    };
    const job = async (rules: readonly Value[] | undefined, fun: string) => {
      const caller = await callers.authenticate(sentBy(rules));
      return await kindOf(() => callers.authorizeJob(caller, [{ fun, arg: [] }], TARGET));
    };
    const call = (rules: readonly Value[] | undefined, one: MasterCall) =>
      kindOf(() => callers.forMasterCall(sentBy(rules), one));
    const [runner, wheel] = [master("runner", "jobs.active"), master("wheel", "key.list_all")];
    assertEquals([await job(undefined, "test.echo"), await call(undefined, runner)], ["allowed", "allowed"]);
    const narrow = ["test.ping", "grains.*", map({ "@wheel": ["key.*"] })];
    assertEquals(await job(narrow, "test.ping"), "allowed");
    // The user may, the token may not; and the other way round.
    assertEquals(
      [await job(narrow, "test.echo"), await job(narrow, "grains.items")],
      Array(2).fill("AuthorizationError"),
    );
    assertEquals([await call(narrow, wheel), await call(narrow, runner)], ["allowed", "AuthorizationError"]);
    assertEquals(await call(narrow, master("wheel", "key.delete")), "AuthorizationError");
    assertEquals([await job([], "test.ping"), await call([], wheel)], Array(2).fill("AuthorizationError"));
  }));

Deno.test("without a name, a key or a token nobody is authenticated", () =>
  withCallers(async (callers) => {
    for (
      const load of [{}, { user: "root" }, { key: "root-key" }, { user: "root", key: 5 }, {
        user: null,
        key: "root-key",
      }]
    ) {
      assertEquals(await kindOf(() => callers.authenticate(map(load))), "AuthenticationError");
    }
  }));

Deno.test("the key of the master's user alone proves that user; the key of a user in publisher_acl does not", () =>
  withCallers(async (callers) => {
    const caller = await callers.forMasterCall(map({ key: "root-key" }), master("wheel", "key.list_all"));
    assertEquals(caller, { user: "root" });
    const wrong = [{ key: "alice-key" }, { key: "root-key2" }, { key: "" }, {}, { user: null, key: "root-key" }];
    for (const load of wrong) {
      const call = () => callers.forMasterCall(map(load), master("wheel", "key.list_all"));
      assertEquals(await kindOf(call), "AuthenticationError", JSON.stringify(load));
    }
  }));

Deno.test("the key of a user in publisher_acl proves that user only, also where the name looks like that of an operator by sudo", () => {
  const keys = new Map(["root", "salt", "ops", "sudo_bob"].map((user) => [user, `${user}-key`]));
  const access = new Access(keys, { owner: "salt", acl: map({ "sudo_bob": ["test.*"] }) });
  const proves = (key: string, user: string) => kindOf(() => access.authenticate({ user, key: `${key}-key` }));
  return Promise.all([
    proves("sudo_bob", "sudo_bob"),
    proves("sudo_bob", "root"),
    proves("salt", "sudo_bob"),
    // Only operators can read the key of a name that publisher_acl does not have.
    proves("ops", "anybody"),
  ]).then((kinds) => assertEquals(kinds, ["AuthenticationError", "AuthenticationError", "allowed", "allowed"]));
});
