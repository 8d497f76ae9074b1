/**
 * Access to a remote over HTTPS: certificate, password, proxy. Real git connects to the test's own server.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { gitfsRemotes } from "#lib/files/git/remote_options.ts";
import { GitRemote } from "#lib/files/git/remote.ts";
import { loadYaml } from "#lib/yaml/load.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";

async function run(command: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(command, { args, stdout: "null" }).output();
  assert(success, new TextDecoder().decode(stderr));
}

/**
 * Fetches the one remote of `gitfs_remotes`.
 * @returns The names of its branches.
 */
async function fetched(root: string, remotes: string): Promise<string[]> {
  const { opts } = loadMasterConfig({
    configDir: root,
    readsFiles: false,
    overrides: { root_dir: root, id: "m_master", gitfs_remotes: loadYaml(remotes), gitfs_depth: 0 },
  });
  const [options] = gitfsRemotes(opts, () => {});
  const cacheRoot = await Deno.makeTempDir({ dir: root });
  const remote = new GitRemote(options, { cacheRoot, hashType: "sha256" });
  await remote.fetch();
  return [...(await remote.refs()).keys()];
}

Deno.test("a remote over HTTPS: its certificate is checked unless ssl_verify is off, and user, password and proxy are used", async () => {
  const root = await Deno.makeTempDir({ prefix: "access_" });
  const requests: string[] = [];
  let asksPassword = false;
  try {
    const git = (...args: string[]) => run("git", "-c", "user.name=t", "-c", "user.email=t@example.org", ...args);
    await git("init", "--quiet", "--initial-branch=main", `${root}/work`);
    await git("-C", `${root}/work`, "commit", "--quiet", "--allow-empty", "-m", "first");
    await git("clone", "--quiet", "--bare", `${root}/work`, `${root}/served`);
    await git("-C", `${root}/served`, "update-server-info");
    const [key, cert] = [`${root}/key.pem`, `${root}/cert.pem`];
    const name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"];
    await run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, ...name);
    // git's plain protocol: the files of the repository as they are.
    const serve = async (request: Request): Promise<Response> => {
      const given = request.headers.get("authorization");
      requests.push(`${request.method} ${request.url} ${given}`);
      if (asksPassword && given !== `Basic ${btoa("u:secret")}`) {
        return new Response("", { status: 401, headers: { "www-authenticate": 'Basic realm="t"' } });
      }
      try {
        return new Response(await Deno.readFile(`${root}/served${new URL(request.url).pathname}`));
      } catch {
        return new Response("", { status: 404 });
      }
    };
    const quiet = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
    const tls = { key: await Deno.readTextFile(key), cert: await Deno.readTextFile(cert) };
    await using server = Deno.serve({ ...quiet, ...tls }, serve);
    await using proxy = Deno.serve(quiet, serve);
    const url = `https://localhost:${server.addr.port}/`;
    const { message } = await assertRejects(() => fetched(root, `['${url}']`), Error);
    assertStringIncludes(message, "certificate");
    assertEquals(requests, []);

    const main = ["refs/remotes/origin/main"];
    assertEquals(await fetched(root, `[{'${url}': [{ssl_verify: false}]}]`), main);
    assert(requests.every((line) => line.endsWith(" null")), requests.join("\n"));

    asksPassword = true;
    await assertRejects(() => fetched(root, `[{'${url}': [{ssl_verify: false}]}]`), Error);
    assertEquals(await fetched(root, `[{'${url}': [{ssl_verify: false}, {user: u}, {password: secret}]}]`), main);
    asksPassword = false;

    requests.length = 0;
    const through = `{proxy: 'http://127.0.0.1:${proxy.addr.port}'}`;
    assertEquals(await fetched(root, `[{'http://git.example.org/': [${through}]}]`), main);
    assert(requests.every((line) => line.startsWith("GET http://git.example.org/")), requests.join("\n"));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
