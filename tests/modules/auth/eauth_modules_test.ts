/**
 * The `external_auth` modules as the configuration sets them up: file, sharedsecret, and rest against the test's own
 * web service.
 * @module
 */

import type { AuthRequest } from "#lib/auth/auth_messages.ts";
import { ldapEauth } from "#modules/auth/ldap.ts";
import type { EauthModule } from "#lib/auth/eauth_module.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { eauthUsers } from "#lib/auth/eauth_users.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { ConfigError } from "#lib/errors.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

async function make(root: string, name: string, options: Record<string, Value>): Promise<EauthModule> {
  const { opts } = loadMasterConfig({ configDir: root, overrides: { root_dir: root, ...options } });
  const config = opts.external_auth.get(name);
  const module = await loadEauth(name, { opts, config: isMap(config) ? config : new Map(), log: recordingLogger([]) });
  if (module === undefined) throw new Error(`there is no ${name}`);
  return module;
}

const knows = async (module: EauthModule, username: string, password: string) =>
  await module.authenticate({ username, password }) !== undefined;

Deno.test("external_auth: file is read with its parameters at each use; wrong parameters are named", async () => {
  await withTemporaryDirectory(async (root) => {
    const path = `${root}/users`;
    const provider = { "^filename": path, "^username_field": "2", "^password_field": 1, "^field_separator": "|" };
    const file = await make(root, "file", { external_auth: map({ file: provider }) });
    Deno.writeTextFileSync(path, "secret|fred\n");
    assertEquals([await knows(file, "fred", "secret"), await knows(file, "fred", "x")], [true, false]);
    Deno.writeTextFileSync(path, "changed|fred\n");
    assertEquals([await knows(file, "fred", "secret"), await knows(file, "fred", "changed")], [false, true]);
    const wrong: Record<string, unknown>[] = [
      {},
      { "^filename": path, "^filetype": "passwd" },
      { "^filename": path, "^hashtype": "rot13" },
      { "^filename": path, "^filetype": "htdigest" },
      { "^filename": path, "^password_field": 0 },
    ];
    for (const parameters of wrong) {
      await assertRejects(() => make(root, "file", { external_auth: map({ file: parameters }) }), ConfigError);
    }
  });
});

Deno.test("external_auth: the users of a file are as docs/configuration.md shows them", async () => {
  await withTemporaryDirectory(async (root) => {
    const page = Deno.readTextFileSync(new URL("../../../docs/configuration.md", import.meta.url));
    const [, example = ""] = /### Users of a file[^]*?```yaml\n([^]*?)```/.exec(page) ?? [];
    Deno.writeTextFileSync(`${root}/master`, example.replace("/etc/salt/users", `${root}/users`));
    const { opts } = loadMasterConfig({ configDir: root, overrides: { root_dir: root } });
    const config = opts.external_auth.get("file");
    assert(isMap(config) && config.has("amy"), example);
    const file = await make(root, "file", { external_auth: opts.external_auth });
    Deno.writeTextFileSync(`${root}/users`, `amy:${hashHex("right", "sha512")}\n`);
    assertEquals([await knows(file, "amy", "right"), await knows(file, "amy", "wrong")], [true, false]);
  });
});

Deno.test("external_auth: file takes each form and hash that there is, a realm for htdigest, and whole numbers of fields", async () => {
  await withTemporaryDirectory(async (root) => {
    const path = `${root}/users`;
    const takes = async (parameters: Record<string, unknown>) => {
      try {
        await make(root, "file", { external_auth: map({ file: { "^filename": path, ...parameters } }) });
        return true;
      } catch (error) {
        if (!(error instanceof ConfigError)) throw error;
        return false;
      }
    };
    const good = [
      {},
      { "^filetype": "text" },
      { "^filetype": "HTPASSWD" },
      { "^filetype": "htdigest", "^realm": "r" },
      { "^hashtype": "plaintext" },
      { "^hashtype": "sha512" },
      { "^username_field": "2", "^password_field": 1 },
    ];
    for (const parameters of good) assertEquals(await takes(parameters), true, JSON.stringify(parameters));
    const bad = [
      { "^filetype": "htdigest", "^realm": 5 },
      { "^hashtype": "constructor" },
      { "^username_field": 1.5 },
      { "^username_field": "x" },
      { "^password_field": -1 },
    ];
    for (const parameters of bad) assertEquals(await takes(parameters), false, JSON.stringify(parameters));
  });
});

Deno.test("external_auth: rest waits ten seconds for an answer, and takes null for no rules", async () => {
  const { timeout } = AbortSignal;
  const asked: number[] = [];
  const never = Promise.withResolvers<Response>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    ({ url }) => url.endsWith("/never") ? never.promise : new Response("null"),
  );
  await withTemporaryDirectory(async (root) => {
    const at = (path: string) =>
      make(root, "rest", { external_auth: map({ rest: { "^url": `http://127.0.0.1:${server.addr.port}/${path}` } }) });
    const [silent, none] = [await at("never"), await at("null")];
    try {
      AbortSignal.timeout = (ms) => (asked.push(ms), timeout.call(AbortSignal, 50));
      await assertRejects(() => silent.authenticate({ username: "fred", password: "x" }), DOMException);
    } finally {
      AbortSignal.timeout = timeout;
      never.resolve(new Response());
    }
    assertEquals(asked.includes(10_000), true, String(asked));
    assertEquals(await knows(none, "fred", "x"), true);
    assertEquals(await none.rules?.({ username: "fred", password: "x" }), undefined);
  });
});

Deno.test("external_auth: sharedsecret refuses every user if no secret is set", async () => {
  await withTemporaryDirectory(async (root) => {
    const set = await make(root, "sharedsecret", { sharedsecret: "s3cret" });
    assertEquals(
      [await knows(set, "fred", "s3cret"), await knows(set, "fred", "s3cre"), await knows(set, "fred", "")],
      [true, false, false],
    );
    const unsets: Record<string, Value>[] = [{}, { sharedsecret: "" }];
    for (const options of unsets) {
      const unset = await make(root, "sharedsecret", options);
      assertEquals([await knows(unset, "fred", ""), await knows(unset, "fred", "None")], [false, false]);
    }
  });
});

Deno.test("external_auth: rest sends a POST, uses the status, adds the rules, and follows no redirection", async () => {
  const requests: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const form = await request.text();
    requests.push(`${request.method} ${form}`);
    const { pathname } = new URL(request.url);
    if (pathname === "/away") return Response.redirect(`${new URL(request.url).origin}/auth`);
    if (pathname === "/large") return new Response("x".repeat(2 << 20));
    if (pathname === "/empty") return new Response("\n");
    if (pathname === "/odd") return new Response('{"a": 1}');
    return form === "username=fred&password=a%26b" ? new Response('["cmd.run"]') : new Response("no", { status: 401 });
  });
  try {
    await withTemporaryDirectory(async (root) => {
      const at = (path: string) => {
        const provider = { "^url": `http://127.0.0.1:${server.addr.port}${path}`, fred: ["test.*"] };
        return make(root, "rest", { external_auth: map({ rest: provider }) });
      };
      const rest = await at("/auth");
      assertEquals([await knows(rest, "fred", "a&b"), await knows(rest, "fred", "x")], [true, false]);
      assertEquals(requests[0], "POST username=fred&password=a%26b");
      assertEquals(await rest.rules?.({ username: "fred", password: "a&b" }), ["test.*", "cmd.run"]);
      assertEquals(await rest.rules?.({ username: "eve", password: "x" }), undefined);
      assertEquals(await (await at("/empty")).rules?.({ username: "fred", password: "a&b" }), ["test.*"]);
      for (const path of ["/away", "/large", "/odd"]) {
        const module = await at(path);
        await assertRejects(() => module.authenticate({ username: "fred", password: "a&b" }), Error);
      }
      await assertRejects(
        () => make(root, "rest", { external_auth: map({ rest: { "^url": "file:///etc/passwd" } }) }),
        ConfigError,
      );
    });
  } finally {
    await server.shutdown();
  }
});

Deno.test("external_auth: rest takes an answer of 1 MiB and no longer one, and reads no more of it than that", async () => {
  const MIB = 2 ** 20;
  const rules = (bytes: number) => JSON.stringify(["x".repeat(bytes - 4)]);
  let sent = 0;
  const endless = () =>
    new ReadableStream({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536).fill(0x20)); // blanks: as JSON it could still become a list
        if (sent >= 64 * MIB) controller.close();
      },
    });
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, ({ url }) => {
    const { pathname } = new URL(url);
    return new Response(pathname === "/endless" ? endless() : rules(Number(pathname.slice(1))));
  });
  await withTemporaryDirectory(async (root) => {
    const credentials = { username: "fred", password: "x" };
    const at = (path: string | number) => {
      const provider = { "^url": `http://127.0.0.1:${server.addr.port}/${path}` };
      return make(root, "rest", { external_auth: map({ rest: provider }) });
    };
    const most = await (await at(MIB)).rules?.(credentials);
    assertEquals(String(most).length, MIB - 4);
    for (const path of [MIB + 1, "endless"]) {
      const rest = await at(path);
      await assertRejects(() => rest.authenticate(credentials), RangeError, "more than 1048576 bytes");
      await assertRejects(async () => await rest.rules?.(credentials), RangeError, "more than 1048576 bytes");
    }
    assert(sent < 32 * MIB, `${sent} bytes were read`);
  });
});

Deno.test("external_auth: modules that are not built do not exist, and neither do names of object properties", async () => {
  await withTemporaryDirectory(async (root) => {
    for (const name of ["auto", "keystone", "yubico", "constructor", "__proto__", "../file"]) {
      await assertRejects(() => make(root, name, {}), Error, "there is no");
    }
  });
});

Deno.test("external_auth names users and groups; parameters and * name no user", () => {
  const external = map({ pam: { fred: [], "ops%": [], "*": [], "^x": 1 }, file: { anna: [], fred: [] }, odd: 7 });
  assertEquals(eauthUsers(external, (group) => group === "ops" ? ["bert", "anna"] : []), ["fred", "bert", "anna"]);
});

Deno.test("external_auth: ldap asks with its options, and logs why a user is not known", async () => {
  await withTemporaryDirectory(async (root) => {
    const options = { "auth.ldap.server": "ldap.example", "auth.ldap.starttls": true };
    const { opts } = loadMasterConfig({ configDir: root, overrides: { root_dir: root, ...options } });
    const logged: string[] = [];
    const requests: AuthRequest[] = [];
    const ldap = ldapEauth({ opts, config: new Map(), log: recordingLogger(logged) }, (question) => {
      requests.push(question);
      const known = question.credentials.password === "x1";
      return Promise.resolve({ known, groups: ["ops"], problem: known ? undefined : "49 invalid credentials" });
    });
    assertEquals(await ldap.authenticate({ username: "fred", password: "x1" }), { groups: ["ops"] });
    assertEquals(await ldap.authenticate({ username: "fred", password: "x2" }), undefined);
    const sent = requests.map(({ kind, credentials }) => [kind, credentials.password]);
    assertEquals(sent, [["ldap", "x1"], ["ldap", "x2"]]);
    assertEquals(logged, ["INFO: ldap: 49 invalid credentials"]);
    await assertRejects(() => make(root, "ldap", { ...options, "auth.ldap.tls": true }), ConfigError);
    await make(root, "ldap", { ...options, "auth.ldap.starttls": false, "auth.ldap.tls": true });
  });
});
