/** @module */
import { Access, aclUsers, createAccessKeys, restoreAccessKeys } from "#lib/auth/access.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { RefusedError } from "#lib/errors.ts";
import { publishCalls } from "#lib/auth/rules.ts";
import { matchesGlob } from "#lib/text/glob.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";
import { asMap } from "#tests/support/fleet/scripted_minion.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

function rules(value: unknown): ValueMap {
  return asMap(toValue(value));
}

/** Requests a job without arguments. */
function authorizeJob(
  access: Access,
  user: string,
  { fun, minions }: { readonly fun: Value; readonly minions: readonly string[] },
): void {
  const matching = (glob: string) => new Set(minions.filter((id) => matchesGlob(glob, id)));
  access.authorizeJob(user, publishCalls(fun, []), { minions, matching });
}

const KEYS = new Map([["root", "root-key"], ["salt", "salt-key"], ["alice", "alice-key"], ["bob", "bob-key"]]);
const ACL = rules({
  alice: ["test.*", "grains.item", { "web*": ["cmd.run"] }],
  "b.*": ["test.ping"],
  "db?": ["test.ping"],
});

Deno.test("a key file authenticates its user; the user of the master may act as any user", () => {
  const access = new Access(KEYS, { owner: "salt", acl: ACL });
  const cases: [user: string, key: string, proved: boolean][] = [
    ["root", "root-key", true],
    ["root", "salt-key", true],
    ["salt", "salt-key", true],
    ["sudo_alice", "root-key", true],
    ["sudo_alice", "salt-key", true],
    ["alice", "alice-key", true],
    ["alice", "root-key", true],
    ["nobody", "root-key", true],
    ["nobody", "alice-key", false],
    ["alice", "bob-key", false],
    // Salt accepts these users, and permits them everything.
    ["root", "alice-key", false],
    ["salt", "alice-key", false],
    ["sudo_alice", "alice-key", false],
    ["root", "", false],
    ["alice", "", false],
    ["", "", false],
    ["root", "root-key ", false],
    ["root", "ROOT-KEY", false],
    ["__proto__", "x", false],
  ];
  for (const [user, key, proved] of cases) {
    if (proved) assertEquals(access.authenticate({ user, key }), user);
    else {
      const { kind, message } = assertThrows(
        () => access.authenticate({ user, key }),
        RefusedError,
        undefined,
        `${user} ${key}`,
      );
      assertEquals([kind, message], ["AuthenticationError", "Authentication error occurred."]);
    }
  }
});

Deno.test("publisher_acl limits what its users may publish, and to which minions", () => {
  const keys = new Map([...KEYS, ["db1", "db1-key"]]);
  const access = new Access(keys, { owner: "salt", acl: ACL });
  const cases: [user: string, fun: unknown, minions: string[], allowed: boolean][] = [
    ["root", "cmd.run", ["db1"], true],
    ["salt", "cmd.run", ["db1"], true],
    ["sudo_alice", "cmd.run", ["db1"], true],
    ["nobody", "cmd.run", ["db1"], true], // sent with an operator's key
    ["alice", "test.ping", ["db1"], true],
    ["alice", "testing.ping", ["db1"], true], // an expression, as in Salt
    ["alice", "grains.item", ["db1"], true],
    ["alice", "grains.items", ["db1"], false],
    ["alice", "cmd.run", ["web1", "web2"], true],
    ["alice", "cmd.run", ["web1", "db1"], false],
    ["alice", "cmd.run_all", ["web1"], false],
    ["alice", ["test.ping", "test.echo"], ["db1"], true],
    ["alice", ["test.ping", "cmd.run"], ["db1"], false],
    ["bob", "test.ping", ["db1"], true],
    ["bob", "test.echo", ["db1"], false],
    ["db1", "test.ping", ["db1"], true],
    ["alice", "saltutil.find_job", ["db1"], true],
    ["bob", ["saltutil.find_job"], ["db1"], true],
    ["bob", ["saltutil.find_job", "cmd.run"], ["db1"], false],
    ["alice", [], ["db1"], false],
    ["alice", null, ["db1"], false],
  ];
  for (const [user, fun, minions, allowed] of cases) {
    const authorize = () => authorizeJob(access, user, { fun: toValue(fun), minions });
    if (allowed) authorize();
    else assertEquals(assertThrows(authorize, RefusedError, undefined, `${user} ${fun}`).kind, "AuthorizationError");
  }
});

Deno.test("publisher_acl_blacklist takes precedence over all rules, also for operators", () => {
  const blacklist = rules({ users: ["^mallory.*$", "eve*"], modules: ["cmd.*", "test.echo"] });
  const access = new Access(KEYS, { owner: "salt", acl: ACL, blacklist });
  const refused = (user: string, fun: unknown) => {
    try {
      authorizeJob(access, user, { fun: toValue(fun), minions: ["web1"] });
      return false;
    } catch (error) {
      assert(error instanceof RefusedError);
      return true;
    }
  };
  assertEquals([refused("root", "test.ping"), refused("root", "cmd.run"), refused("root", ["test.ping", "cmd.run"])], [
    false,
    true,
    true,
  ]);
  assertEquals([refused("mallory", "test.ping"), refused("eve1", "test.ping"), refused("alice", "test.echo")], [
    true,
    true,
    true,
  ]);
});

Deno.test("sudo_acl applies the rules of the user who called sudo", () => {
  const access = new Access(KEYS, { owner: "salt", acl: ACL, sudoAcl: true });
  authorizeJob(access, "sudo_alice", { fun: "test.ping", minions: ["db1"] });
  authorizeJob(access, "root", { fun: "cmd.run", minions: ["db1"] });
  assertThrows(() => authorizeJob(access, "sudo_alice", { fun: "cmd.run", minions: ["db1"] }), RefusedError);
  const open = new Access(KEYS, { owner: "salt", acl: new Map(), sudoAcl: true });
  authorizeJob(open, "sudo_alice", { fun: "cmd.run", minions: ["db1"] });
});

Deno.test("a rule that is no valid expression allows nothing, as in Salt", () => {
  const access = new Access(KEYS, { owner: "salt", acl: rules({ alice: ["(", "*"] }) });
  for (const fun of ["(", "*", "test.ping"]) {
    assertThrows(() => authorizeJob(access, "alice", { fun, minions: ["web1"] }), RefusedError);
  }
});

Deno.test("each start makes new keys, which only their users can read, with names that stay in the directory", () =>
  withTemporaryDirectory((root) => {
    const first = createAccessKeys(root, ["root", "root", "alice", "../evil"]);
    assertEquals([...first.keys()], ["root", "alice", "../evil"]);
    const second = createAccessKeys(root, ["root"]);
    assertNotEquals(second.get("root"), first.get("root"));
    assertEquals(Deno.readTextFileSync(accessKeyPath(root, "root")), second.get("root"));
    assertEquals((Deno.statSync(accessKeyPath(root, "root")).mode ?? 0) & 0o777, 0o400);
    const names = [...Deno.readDirSync(root)].map(({ name }) => name).sort();
    assertEquals(names, ["..._evil_key", ".alice_key", ".root_key"]);
  }));

Deno.test("removed key files are written again, also with the cache directory", () =>
  withTemporaryDirectory((root) => {
    const cachedir = `${root}/cache`;
    Deno.mkdirSync(cachedir);
    const keys = createAccessKeys(cachedir, ["root", "somebody"]);
    assertEquals(restoreAccessKeys(cachedir, keys), []);
    Deno.removeSync(accessKeyPath(cachedir, "somebody"));
    assertEquals(restoreAccessKeys(cachedir, keys), ["somebody"]);
    Deno.removeSync(cachedir, { recursive: true });
    assertEquals(restoreAccessKeys(cachedir, keys), ["root", "somebody"]);
    for (const [user, key] of keys) {
      const path = accessKeyPath(cachedir, user);
      assertEquals(Deno.readTextFileSync(path), key);
      assertEquals((Deno.statSync(path).mode ?? 0) & 0o777, 0o400);
    }
  }));

Deno.test("publisher_acl makes keys for the users that it names, and with client_acl_verify for the host's users that match its patterns", () => {
  const host = ["root", "web1", "web2", "john.doe", "ops"];
  const users = (names: string[], verify: boolean, listed: () => string[] = () => host) =>
    aclUsers(
      { publisher_acl: map(Object.fromEntries(names.map((name) => [name, []]))), client_acl_verify: verify },
      listed,
    );
  assertEquals(users(["ops", "web.*"], true), ["ops", "web1", "web2"]);
  assertEquals(users(["web?", "gone"], true), ["gone", "web1", "web2"]);
  assertEquals(users(["john.doe"], true), ["john.doe"]);
  assertEquals(users(["ops", "web.*"], false), ["ops"]);
  // The users of the host are not listed if the rules hold only plain names.
  assertEquals(
    users(["ops", "gone"], true, () => {
      throw new Error("asked");
    }),
    ["ops", "gone"],
  );
});
