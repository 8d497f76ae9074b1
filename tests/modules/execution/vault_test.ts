/**
 * The module `vault`, its state, its driver of sdb and its source of pillar, against a server with the part of Vault's
 * interface that they use; none of a real Vault.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { vaultAuthorities } from "#lib/host/vault/settings.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";
import { ROLE_ID, SECRET_ID, startVault, VAULT_TOKEN, type VaultServer } from "#tests/support/servers/vault_server.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const TOKEN = { method: "token", token: VAULT_TOKEN };

/** A job of a minion with this option. */
function job({ url }: Pick<VaultServer, "url">, auth: Readonly<Record<string, unknown>> = TOKEN) {
  return testContext({ opts: testOpts({ vault: map({ server: { url }, auth }), store: map({ driver: "vault" }) }) });
}

/** Calls functions in one job. */
function caller(context: ReturnType<typeof job>) {
  return (fun: string, args: Value[] = [], kwargs: Readonly<Record<string, unknown>> = {}) =>
    resultOrError(context, fun, args, kwargs);
}

for (const mount of ["kv", "secret"]) {
  Deno.test(`vault: secrets of ${mount === "kv" ? "version 1" : "version 2"} are written, read, changed, listed and removed`, async () => {
    await using server = startVault();
    const call = caller(job(server));
    const path = `${mount}/app/db`, isSecond = mount === "secret";
    const version = (number: number): Value => isSecond ? map({ version: number, destroyed: false }) : true;
    assertEquals(await call("vault.write_secret", [path], { user: "foo", password: "ä'\"" }), version(1));
    assertEquals(await call("vault.read_secret", [path]), map({ user: "foo", password: "ä'\"" }));
    assertEquals(await call("vault.read_secret", [path, "user"]), "foo");
    assertEquals(await call("vault.read_secret", [path, "no"]), "Failed to read secret! KeyError: 'no'");
    assertEquals(
      await call("vault.read_secret", [path], { metadata: true }),
      isSecond
        ? map({ data: { user: "foo", password: "ä'\"" }, metadata: { version: 1, destroyed: false } })
        : map({ user: "foo", password: "ä'\"" }),
    );
    assertEquals(await call("vault.patch_secret", [path], { password: "new", user: null }), version(2));
    assertEquals(await call("vault.read_secret", [path]), map({ password: "new" }));
    assertEquals(await call("vault.write_raw", [path, map({ a: 1, b: [true] })]), version(3));
    assertEquals(await call("vault.read_secret", [path]), map({ a: 1, b: [true] }));
    assertEquals(await call("vault.list_secrets", [`${mount}/`]), map({ keys: ["app/"] }));
    assertEquals(await call("vault.list_secrets", [`${mount}/app/`], { keys_only: true }), ["db"]);
    assertEquals(await call("vault.destroy_secret", [path, 1]), isSecond);
    assertEquals(await call("vault.delete_secret", [path, "1"]), isSecond);
    assertEquals(await call("vault.delete_secret", [path, "x"]), false);
    assertEquals(await call("vault.delete_secret", [path]), true);
    assertEquals(await call("vault.read_secret", [path]), "Failed to read secret! VaultNotFoundError: ");
    assertEquals(await call("vault.read_secret", [path], { default: 7 }), 7);
    assertEquals(await call("vault.read_secret", [path], { default: null }), null);
    assertEquals(await call("vault.list_secrets", [`${mount}/none/`]), "Failed to list secrets! VaultNotFoundError: ");
    assertEquals(await call("vault.destroy_secret", [path]), "Need at least one version to destroy.");
  });
}

Deno.test("vault: a path stays below its mount, and is one path", async () => {
  await using server = startVault();
  const call = caller(job(server));
  assertStringIncludes(String(await call("vault.read_secret", ["kv/../sys/policy/x"])), "Invalid path");
  assertStringIncludes(String(await call("vault.policy_delete", ["a/b"])), "Invalid policy");
  await call("vault.write_secret", ["kv/a b?c#d%2e"], { x: "1" });
  assertEquals(server.requests.at(-1), `POST kv/a b?c#d%2e ${VAULT_TOKEN}`);
});

Deno.test("vault: a sign-in by AppRole is one for a job, and another one if its token is no longer valid", async () => {
  await using server = startVault();
  const auth = { method: "approle", role_id: ROLE_ID, secret_id: SECRET_ID };
  const call = caller(job(server, auth));
  assertEquals(await call("vault.write_secret", ["kv/x"], { a: "1" }), true);
  assertEquals(await call("vault.read_secret", ["kv/x", "a"]), "1");
  const signIns = () => server.requests.filter((one) => one.includes("auth/approle/login")).length;
  assertEquals(signIns(), 1);
  server.revoke();
  assertEquals(await call("vault.read_secret", ["kv/x", "a"]), "1");
  assertEquals(signIns(), 2);
  assertEquals(await call("vault.clear_token_cache"), true);
  assertEquals(await call("vault.clear_cache"), false);
  assertEquals(await call("vault.read_secret", ["kv/x", "a"]), "1");
  assertEquals(signIns(), 3);
  const wrong = caller(job(server, { ...auth, secret_id: "wrong" }));
  const refused = "Failed to read secret! VaultInvocationError: invalid role or secret ID";
  assertEquals(await wrong("vault.read_secret", ["kv/x"]), refused);
});

Deno.test("vault: what the option lacks is said, and both of its forms are read", async () => {
  await using server = startVault();
  const of = (vault: Readonly<Record<string, unknown>>) =>
    caller(testContext({ opts: testOpts({ vault: map(vault) }) }));
  const { url } = server;
  assertEquals(
    await of({ url: `${url}/`, auth: TOKEN, namespace: "team" })("vault.get_server_config"),
    map({ url, namespace: "team", verify: null }),
  );
  for (
    const [vault, text] of [
      [{}, "`vault:server:url` has no address"],
      [{ url, auth: {} }, "`vault:auth:token` is missing"],
      [{ url, auth: { method: "approle" } }, "`vault:auth:role_id` is missing"],
      [{ url, auth: { method: "wrapped_token", token: "x" } }, "'wrapped_token' to sign in is not supported"],
      [{ url, auth: { token: { wrap_info: {} } } }, "a wrapped token is not supported"],
      [{ url, auth: TOKEN, config_location: "master" }, "must be local"],
    ] as const
  ) assertStringIncludes(String(await of(vault)("vault.policies_list")), text);
  const closed = of({ url: "http://127.0.0.1:1", auth: TOKEN });
  assertStringIncludes(String(await closed("vault.read_secret", ["kv/x"])), "Failed to read secret! ConnectionError:");
});

Deno.test("vault.policy_present and policy_absent are reached once, and say in test mode what they would change", async () => {
  await using server = startVault();
  const context = job(server);
  const call = caller(context);
  const rules = 'path "a" {\n  capabilities = ["read"]\n}\n';
  const diff = '--- \n+++ \n@@ -0,0 +1,3 @@\n+path "a" {\n+  capabilities = ["read"]\n+}\n';
  const steps: readonly (readonly [string, boolean, Value, string, Value])[] = [
    ["policy_present", true, null, "Policy would be created", map({ web: diff })],
    ["policy_present", false, true, "Policy has been created", map({ web: diff })],
    ["policy_present", false, true, "Policy exists, and has the correct content", new Map()],
    ["policy_absent", true, null, "Policy would be deleted", map({ deleted: "web" })],
    ["policy_absent", false, true, "Policy has been deleted", map({ deleted: "web" })],
    ["policy_absent", false, true, "Policy is already absent", new Map()],
  ];
  for (const [fun, test, result, comment, changes] of steps) {
    const args = fun === "policy_present" ? { name: "web", rules } : { name: "web" };
    const given = await callState(`vault.${fun}`, args, { job: context, test });
    assertEquals([given.get("result"), given.get("comment"), given.get("changes")], [result, comment, changes]);
  }
  assertEquals(await call("vault.policy_fetch", ["web"]), null);
  assertEquals(await call("vault.policy_delete", ["web"]), false);
  assertEquals(await call("vault.policy_write", ["web", rules]), true);
  assertEquals(await call("vault.policy_fetch", ["web"]), rules);
  assertEquals(await call("vault.policies_list"), ["default", "web"]);
  assertEquals(await call("vault.query", ["get", "sys/policy/web"]), map({ name: "web", rules }));
  assertEquals(
    await call("vault.query", ["GET", "sys/policy/none"]),
    "VaultNotFoundError: No policy named: none",
  );
  const failed = await callState("vault.policy_present", { name: "web", rules }, {
    job: job(server, { ...TOKEN, token: "wrong" }),
  });
  assertEquals(failed.get("comment"), "Failed to read policy: VaultPermissionDeniedError: permission denied");
});

Deno.test("vault.policy_present and policy_absent say why a policy stays as it is", async () => {
  await using server = startVault();
  const context = job(server);
  await caller(context)("vault.policy_write", ["web", "old\n"]);
  const comment = async (fun: string, args: Readonly<Record<string, Value>>, status?: number) => {
    server.refused = (method) => method === "POST" || method === "DELETE" ? status : undefined;
    const given = await callState(`vault.${fun}`, { name: "web", ...args }, { job: context, test: false });
    return [given.get("result"), given.get("comment"), given.get("changes")];
  };
  const refused = (what: string) => [false, `Failed to ${what}: VaultPermissionDeniedError: refused`, new Map()];
  assertEquals(await comment("policy_present", { rules: "new\n" }, 403), refused("write policy"));
  assertEquals(await comment("policy_absent", {}, 403), refused("delete policy"));
  assertEquals(await comment("policy_absent", {}, 404), [
    false,
    "Failed to delete policy: Policy was initially reported as existent, but seemed to be absent while deleting.",
    new Map(),
  ]);
  const unread = await callState("vault.policy_absent", { name: "web" }, {
    job: job(server, { ...TOKEN, token: "wrong" }),
    test: false,
  });
  assertEquals(unread.get("comment"), "Failed to read policy: VaultPermissionDeniedError: permission denied");
  assertEquals(await caller(context)("vault.policy_fetch", ["web"]), "old\n");
});

Deno.test("vault as driver of sdb reads and writes fields", async () => {
  await using server = startVault();
  const context = job(server);
  const call = caller(context);
  assertEquals(await call("sdb.set", ["sdb://store/secret/app?user", "foo"]), true);
  assertEquals(await call("sdb.get", ["sdb://store/secret/app?user"]), "foo");
  assertEquals(await call("sdb.get", ["sdb://store/secret/app/user"]), "foo");
  assertEquals(await call("sdb.get", ["sdb://store/secret/app"]), map({ user: "foo" }));
  assertEquals(await call("sdb.get", ["sdb://store/secret/app?none"]), null);
  assertEquals(await call("sdb.get", ["sdb://store/kv/nothing/x"]), null);
  assert(context.logged.every((line) => !line.includes("foo")));
  const stranger = caller(job(server, { ...TOKEN, token: "wrong" }));
  assertEquals(await stranger("sdb.get", ["sdb://store/secret/app?user"]), "permission denied");
  assertEquals(await stranger("sdb.set", ["sdb://store/secret/app?user", "x"]), "permission denied");
});

Deno.test("vault as driver of sdb with patch keeps the other fields of a secret, or changes nothing", async () => {
  await using server = startVault();
  const context = testContext({
    opts: testOpts({
      vault: map({ server: { url: server.url }, auth: TOKEN }),
      store: map({ driver: "vault", patch: true }),
    }),
  });
  const call = caller(context);
  const refuse = (...methods: string[]) => (server.refused = (method) => methods.includes(method) ? 403 : undefined);
  for (const mount of ["kv", "secret"]) {
    // There is none yet.
    assertEquals(await call("sdb.set", [`sdb://store/${mount}/app?user`, "foo"]), true);
    assertEquals(await call("sdb.set", [`sdb://store/${mount}/app?pass`, "1"]), true);
    // A token that may not patch, and one that may not even read what it would replace.
    refuse("PATCH");
    assertEquals(await call("sdb.set", [`sdb://store/${mount}/app?pass`, "2"]), true);
    refuse("PATCH", "GET");
    assertEquals(await call("sdb.set", [`sdb://store/${mount}/app?pass`, "3"]), "refused");
    refuse();
    assertEquals(await call("vault.read_secret", [`${mount}/app`]), map({ user: "foo", pass: "2" }));
  }
});

Deno.test("vault: a server without the method to change fields has them changed by reading and writing", async () => {
  await using server = startVault();
  const call = caller(job(server));
  await call("vault.write_secret", ["secret/x"], { a: "1", deep: map({ b: 1, c: 2 }) });
  server.refused = (method) => method === "PATCH" ? 405 : undefined;
  assertEquals(
    await call("vault.patch_secret", ["secret/x"], { a: null, deep: map({ c: null, d: map({ e: 3 }) }) }),
    map({ version: 2, destroyed: false }),
  );
  assertEquals(await call("vault.read_secret", ["secret/x"]), map({ deep: { b: 1, d: { e: 3 } } }));
  server.refused = (method) => method === "PATCH" ? 500 : undefined;
  assertEquals(await call("vault.patch_secret", ["secret/x"], { a: "2" }), false);
});

Deno.test("vault: paths that name the part of the engine already are those of the part that is asked for", async () => {
  await using server = startVault();
  const call = caller(job(server));
  await call("vault.write_secret", ["secret/metadata/app/x"], { a: "1" });
  assertEquals(server.requests.at(-1), `POST secret/data/app/x ${VAULT_TOKEN}`);
  assertEquals(await call("vault.read_secret", ["secret/data/app/x", "a"]), "1");
  assertEquals(await call("vault.list_secrets", ["secret/data/app"]), map({ keys: ["x"] }));
});

Deno.test("vault: what is no answer of Vault's is an error with a reason, and no token", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    if (new URL(request.url).pathname.endsWith("/login")) return Response.json({ auth: null });
    return new Response("<html>gateway</html>", { status: 504 });
  });
  const place = { url: `http://127.0.0.1:${server.addr.port}` };
  const failed = (text: string) => `Failed to read secret! ${text}`;
  assertEquals(await caller(job(place))("vault.read_secret", ["kv/x"]), failed("HTTPError: 504 Gateway Timeout"));
  const auth = { method: "approle", role_id: ROLE_ID };
  assertEquals(
    await caller(job(place, auth))("vault.read_secret", ["kv/x"]),
    failed("VaultAuthError: The sign-in gave no token"),
  );
});

Deno.test("vault: the authorities of a certificate are a file, or are in the option", () =>
  withTemporaryDirectory((root) => {
    const pem = "-----BEGIN CERTIFICATE-----\n";
    Deno.writeTextFileSync(`${root}/ca.pem`, pem);
    const of = (verify: Value) =>
      vaultAuthorities({ url: "https://vault", verify, login: { method: "token", token: "x" } });
    assertEquals([of(null), of(false), of(true)], [undefined, undefined, undefined]);
    assertEquals([of(`${root}/ca.pem`), of(pem)], [pem, pem]);
    assertThrows(() => of(`${root}/no.pem`), CommandError, `the file '${root}/no.pem' of \`verify\` is not there`);
  }));

Deno.test("ext_pillar vault gives a minion the secrets of its id and of its pillar's values", async () => {
  await using server = startVault();
  const call = caller(job(server));
  await call("vault.write_secret", ["secret/minions/web1"], { pass: "s1", nested: map({ a: 1 }) });
  await call("vault.write_secret", ["kv/roles/app"], { role: "app", nested: map({ b: 2 }) });
  await call("vault.write_secret", ["kv/roles/db"], { db: "yes" });
  const options = `
vault: {url: '${server.url}', auth: {method: token, token: ${VAULT_TOKEN}}}
ext_pillar:
  - vault: path=secret/minions/{minion}
  - vault: {conf: 'path=kv/roles/{pillar[roles]}', nesting_key: roles_of}
  - vault: path=secret/none/{pillar[nothing][x]}
  - vault: path=secret/minions/{minion}{
  - vault: path=secret/minions/nobody
  - vault: nothing
`;
  const files = { "pillar/top.sls": "base: {'*': [roles]}\n", "pillar/roles.sls": "roles: [app, db]\n" };
  await withPillar(files, options, async ({ pillar, errors }) => {
    assertEquals(
      await pillar("web1"),
      "{'roles': ['app', 'db'], 'pass': 's1', 'nested': {'a': 1}, 'roles_of': {'role': 'app', 'nested': {'b': 2}, 'db': 'yes'}}",
    );
    assertStringIncludes(errors.join("\n"), '"nothing" is not a valid Vault ext_pillar config');
  });
});

Deno.test("ext_pillar vault gives no minion the secret of another path, whatever its id is", async () => {
  await using server = startVault();
  const call = caller(job(server));
  await call("vault.write_secret", ["secret/pass"], { pass: "of nobody" });
  for (const id of ["database1", "metadata-1"]) await call("vault.write_secret", [`secret/${id}/pass`], { pass: id });
  const options = `
vault: {url: '${server.url}', auth: {method: token, token: ${VAULT_TOKEN}}}
ext_pillar: [{vault: 'path=secret/{minion}/pass'}]
`;
  await withPillar({}, options, async ({ pillar }) => {
    // Ids that begin as the kinds of paths do are names.
    for (const id of ["database1", "metadata-1"]) assertEquals(await pillar(id), `{'pass': '${id}'}`);
    // With these, the server would be asked for secret/data/pass.
    for (const id of ["data", "metadata"]) assertEquals(await pillar(id), "{}", id);
    for (const id of ["..", "."]) assertStringIncludes(await pillar(id), "Invalid path: ");
  });
});

Deno.test("vault.query refuses a method that is no word", async () => {
  const context = job({ url: "http://127.0.0.1:1" });
  for (const method of ["", "GET /", "GET\r\nX: y"]) {
    assertEquals(await caller(context)("vault.query", [method, "sys/policy"]), `Invalid method: ${method}`);
  }
});

Deno.test("vault.update_config has nothing to do", async () => {
  assertEquals(await resultOrError(job({ url: "http://127.0.0.1:1" }), "vault.update_config"), true);
});
