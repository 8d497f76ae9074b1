import { Access } from "#lib/auth/access.ts";
import { publishCalls } from "#lib/auth/rules.ts";
import { RefusedError } from "#lib/errors.ts";
import { map, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const KEYS = new Map([["root", "root-key"], ["salt", "salt-key"], ["alice", "alice-key"]]);
const rules = (value: Record<string, unknown>): ValueMap =>
  map(Object.fromEntries(Object.entries(value).map(([name, rule]) => [name, toValue(rule)])));

Deno.test("root and the master's user stay operators if a rule applies to all users", () => {
  const access = new Access(KEYS, { owner: "salt", acl: rules({ ".*": ["test.ping"] }) });
  for (const key of ["root-key", "salt-key"]) assertEquals(access.authenticate({ user: "nobody", key }), "nobody");
  assertEquals(access.authenticate({ user: "alice", key: "alice-key" }), "alice");
  for (const user of ["nobody", "root", "salt"]) {
    assertThrows(() => access.authenticate({ user, key: "alice-key" }), RefusedError);
  }
});

Deno.test("a rule that is neither a string nor a map allows nothing", () => {
  const wrong: Value[] = [7, null, true, ["test.ping"], new Map([["*", 7]])];
  for (const rule of wrong) {
    const access = new Access(KEYS, { owner: "salt", acl: rules({ alice: [rule] }) });
    assertThrows(
      () =>
        access.authorizeJob("alice", publishCalls("test.ping", []), {
          minions: ["web1"],
          matching: () => new Set(["web1"]),
        }),
      RefusedError,
    );
  }
  const access = new Access(KEYS, { owner: "salt", acl: rules({ alice: [...wrong, "test.ping"] }) });
  access.authorizeJob("alice", publishCalls("test.ping", []), { minions: ["web1"], matching: () => new Set(["web1"]) });
});

Deno.test("publisher_acl limits what its users run on the master; in Salt they can run everything", () => {
  const access = new Access(KEYS, {
    owner: "salt",
    acl: rules({ alice: ["test.*", "@jobs", { "@runner": ["manage.up"] }] }),
  });
  const asks = (user: string, fun: string, form: "runner" | "wheel") => {
    try {
      access.authorizeMasterCall(user, { form, fun, args: [], kwargs: new Map() });
      return "allowed";
    } catch (error) {
      if (!(error instanceof RefusedError)) throw error;
      return error.kind;
    }
  };
  assertEquals(asks("root", "cmd.run", "runner"), "allowed");
  assertEquals(asks("root", "key.accept", "wheel"), "allowed");
  assertEquals(asks("alice", "jobs.list_jobs", "runner"), "allowed");
  assertEquals(asks("alice", "manage.up", "runner"), "allowed");
  assertEquals(asks("alice", "manage.down", "runner"), "AuthorizationError");
  assertEquals(asks("alice", "key.accept", "wheel"), "AuthorizationError");
  assertEquals(asks("alice", "test.arg", "runner"), "AuthorizationError");
  assertEquals(asks("alice", "jobs", "runner"), "SaltInvocationError");
});
