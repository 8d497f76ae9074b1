/**
 * Logins at registries, in the file of the command `docker` and in a store, which is a program of this test.
 * @module
 */

import { registryHost, registryOf, splitTag } from "#lib/host/docker/image_names.ts";
import {
  allLoginHeaders,
  forgetLogin,
  keepLogin,
  loginHeaders,
  proxyVariables,
} from "#lib/host/docker/registry_logins.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Keeps each login in a file of its own; for `broken.test` it prints no JSON, for `failing.test` it fails. */
const STORE = `#!/bin/sh
dir=$(dirname "$0")
given=$(cat)
case "$1" in
store)
  case "$given" in
  *failing.test*) echo 'the store is locked'; exit 1 ;;
  *silent.test*) exit 3 ;;
  *) printf %s "$given" >"$dir/stored" ;;
  esac ;;
erase) printf %s "$given" >"$dir/erased" ;;
get)
  case "$given" in
  broken.test) echo '{"Username": "u", "Secret": "hidden"' ;;
  failing.test) echo 'the store is locked'; exit 1 ;;
  token.test) echo '{"Username": "<token>", "Secret": "t"}' ;;
  https://index.docker.io/v1/ | kept.test) echo '{"Username": "u", "Secret": "p"}' ;;
  *) echo 'credentials not found in native keychain'; exit 1 ;;
  esac ;;
esac
`;

/** Runs `act` with this as the file, and the store as the program docker-credential-test. */
async function withFile(text: string, act: (directory: string) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (directory) => {
    const before = { PATH: Deno.env.get("PATH") ?? "", DOCKER_CONFIG: Deno.env.get("DOCKER_CONFIG") ?? "" };
    Deno.writeTextFileSync(`${directory}/docker-credential-test`, STORE, { mode: 0o755 });
    Deno.writeTextFileSync(`${directory}/config.json`, text);
    Deno.env.set("PATH", `${directory}:${before.PATH}`);
    Deno.env.set("DOCKER_CONFIG", directory);
    try {
      await act(directory);
    } finally {
      for (const [name, value] of Object.entries(before)) {
        if (value === "") Deno.env.delete(name);
        else Deno.env.set(name, value);
      }
    }
  });
}

/** What the header of a login says. */
function decoded(headers: Readonly<Record<string, string>>): unknown {
  const [header] = Object.values(headers);
  if (header === undefined) return undefined;
  return JSON.parse(new TextDecoder().decode(Uint8Array.fromBase64(header, { alphabet: "base64url" })));
}

const context = testContext();
const HUB = "https://index.docker.io/v1/";
const inStore = (address: string) => ({ ServerAddress: address, Username: "u", Password: "p" });

Deno.test("a login of the file goes to its registry alone", () => {
  const auths = {
    [HUB]: { auth: btoa("hub:a:b") },
    "https://own.test/v2/": { auth: btoa("own:pw"), email: "e" },
    "token.test": { identitytoken: "t" },
    "empty.test": {},
  };
  return withFile(JSON.stringify({ auths }), async () => {
    const login = async (registry: string) => decoded(await loginHeaders(registry, context));
    const hub = { username: "hub", password: "a:b", email: null, serveraddress: HUB };
    const own = { username: "own", password: "pw", email: "e", serveraddress: "https://own.test/v2/" };
    assertEquals(await login("docker.io"), hub);
    assertEquals(await login("own.test"), own);
    assertEquals(await login("token.test"), { IdentityToken: "t" });
    for (const none of ["empty.test", "other.test", "n.test", "own.test:5000"]) {
      assertEquals(await login(none), undefined, none);
    }
    assertEquals(decoded(await allLoginHeaders(context)), {
      [HUB]: hub,
      "https://own.test/v2/": own,
      "token.test": { IdentityToken: "t" },
    });
  });
});

Deno.test("a damaged login is named without what it has", async () => {
  for (const auth of ["no base64!", btoa("nocolon")]) {
    await withFile(JSON.stringify({ auths: { "own.test": { auth } } }), async () => {
      const error = await assertRejects(() => loginHeaders("own.test", context), Error);
      assertEquals(error.message, "The login at own.test in Docker's file is damaged");
    });
  }
  await withFile("{", async (directory) => {
    await assertRejects(() => loginHeaders("own.test", context), Error, `${directory}/config.json is not JSON`);
  });
  await withFile(JSON.stringify({ credsStore: "../x; id" }), async () => {
    await assertRejects(() => loginHeaders("own.test", context), Error, "Invalid credentials store: ../x; id");
  });
});

Deno.test("a store has the logins, and the file says so", () =>
  withFile(
    JSON.stringify({ credsStore: "test", auths: { "other.test": { auth: btoa("o:p") } } }),
    async (directory) => {
      const login = async (registry: string) => decoded(await loginHeaders(registry, context));
      assertEquals(await login("docker.io"), inStore(HUB));
      assertEquals(await login("kept.test"), inStore("kept.test"));
      assertEquals(await login("token.test"), { ServerAddress: "token.test", IdentityToken: "t" });
      // What the store does not have, the file may.
      const other = { username: "o", password: "p", email: null, serveraddress: "other.test" };
      assertEquals([await login("other.test"), await login("none.test")], [other, undefined]);
      await assertRejects(() => login("failing.test"), Error, "docker-credential-test get: the store is locked");
      const error = await assertRejects(() => login("broken.test"), Error);
      assertEquals(error.message, "docker-credential-test get: what it has printed is not JSON");

      for (const [name, reason] of [["failing.test", "the store is locked"], ["silent.test", "ended with 3"]]) {
        const keeping = () => keepLogin(name, { username: "u", password: "p" }, context);
        await assertRejects(keeping, Error, `docker-credential-test store: ${reason}`);
      }
      await keepLogin("hub", { username: "u", password: 'p"' }, context);
      const read = (name: string) => Deno.readTextFileSync(`${directory}/${name}`);
      assertEquals(JSON.parse(read("stored")), { ServerURL: HUB, Username: "u", Secret: 'p"' });
      assertEquals(JSON.parse(read("config.json")).auths[HUB], {});
      assertEquals(Deno.statSync(`${directory}/config.json`).mode! & 0o777, 0o600);
      assertEquals([await forgetLogin("hub", context), read("erased")], [true, HUB]);
      assertEquals(Object.keys(JSON.parse(read("config.json")).auths), ["other.test"]);
      assertEquals(await forgetLogin("hub", context), false);
    },
  ));

Deno.test("a build has the logins of registries with a store of their own", () => {
  const credHelpers = { "kept.test": "test", "none.test": "test" };
  return withFile(JSON.stringify({ credHelpers, auths: {} }), async () => {
    assertEquals(decoded(await allLoginHeaders(context)), { "kept.test": inStore("kept.test") });
    assertEquals(await loginHeaders("docker.io", context), {});
  });
});

Deno.test("proxies of an engine are those of the file", () => {
  const proxies = { default: { httpProxy: "http://a:1", noProxy: "" }, "unix:///x": { ftpProxy: "b" } };
  return withFile(JSON.stringify({ proxies }), (): Promise<void> => {
    assertEquals(proxyVariables("http://h:1"), ["http_proxy=http://a:1", "HTTP_PROXY=http://a:1"]);
    assertEquals(proxyVariables("unix:///x"), ["ftp_proxy=b", "FTP_PROXY=b"]);
    return Promise.resolve();
  });
});

Deno.test("the registry of an image", () => {
  const hosts: readonly (readonly [string, string])[] = [
    ["busybox", "docker.io"],
    ["user/image", "docker.io"],
    ["localhost/image", "localhost"],
    ["own.test/image", "own.test"],
    ["own:5000/a/b", "own:5000"],
    ["index.docker.io/a", "docker.io"],
  ];
  for (const [name, host] of hosts) assertEquals(registryOf(name), host, name);
  assertEquals(registryHost("https://own.test/v2/"), "own.test");
  assertThrows(() => registryOf("https://own.test/a"), Error, "Repository name cannot contain a scheme");
  for (const name of ["-own.test/a", "own.test-/a"]) {
    assertThrows(() => registryOf(name), Error, "Cannot begin or end with a hyphen");
  }
  assertEquals(splitTag("own:5000/a"), ["own:5000/a", undefined]);
  assertEquals(splitTag("a@sha256:b"), ["a", "sha256:b"]);
});
