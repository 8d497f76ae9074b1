/**
 * User and password of the master's git remotes: they work, and do not appear in process arguments, in errors, or at
 * another server.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { StoreError } from "#lib/errors.ts";
import { configuredPillarRepositories, fetchPillarRepository } from "#lib/files/git/pillar_updates.ts";
import { toValue } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { git } from "#tests/support/files/file_server.ts";
import { GitServer } from "#tests/support/files/git_server.ts";

const USER = "fleet@example.com", SECRET = "p/w:s3cret @1%";
const QUOTED = "fleet%40example.com:p%2Fw%3As3cret%20%401%25";

/** Fetches the one remote of a master in `root`. */
async function fetchRemote(root: string, url: string, options: Readonly<Record<string, unknown>>): Promise<unknown> {
  const remote = toValue({ [`master ${url}`]: Object.entries(options).map(([key, value]) => ({ [key]: value })) });
  const overrides = { root_dir: root, id: "m_master", ext_pillar: toValue([{ git: [remote] }]) };
  const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
  const [repository] = configuredPillarRepositories(optsValues(opts));
  return await fetchPillarRepository(repository);
}

Deno.test("git remotes of the master: a password, of an option or a URL, is in no arguments and no error", async () => {
  const root = Deno.makeTempDirSync({ prefix: "git_remote_logins_" });
  await git(["init", "--quiet", "--bare", "--initial-branch=master", `${root}/repo.git`]);
  const commit =
    "commit refs/heads/master\ncommitter t <t@example.com> 1 +0000\ndata 1\nx\nM 644 inline a\ndata 1\na\n";
  await git(["-C", `${root}/repo.git`, "fast-import", "--quiet"], commit);
  const server = new GitServer(root, makeCertificate(root), USER, SECRET);
  try {
    const options = { ssl_verify: false };
    const url = `https://${server.host}/repo.git`;
    assertEquals(await fetchRemote(`${root}/a`, url, { ...options, user: USER, password: SECRET }), "changed");
    const inUrl = url.replace("//", `//${QUOTED}@`);
    assertEquals(await fetchRemote(`${root}/b`, inUrl, options), "changed");
    server.password = "other";
    for (const [place, given] of [[inUrl, options], [url, { ...options, user: USER, password: SECRET }]] as const) {
      const error = await assertRejects(
        () => fetchRemote(`${root}/c`, place, given),
        StoreError,
        "Authentication failed",
      );
      assert(!error.message.includes("s3cret"), error.message);
    }
    const seen = [...server.seen];
    assert(
      seen.some((line) => line.includes("remote-https") && line.includes("fleet%40example.com@")),
      seen.join("\n"),
    );
    assert(!seen.some((line) => line.includes("s3cret")), seen.join("\n"));
  } finally {
    await server[Symbol.asyncDispose]();
    Deno.removeSync(root, { recursive: true });
  }
});

const ADVERTISED = `${"1".repeat(40)} refs/heads/master\0shallow\n`;
/** The first answer of a git server. Source: gitprotocol-http(5). */
const ADVERTISEMENT = `001e# service=git-upload-pack\n0000${
  (ADVERTISED.length + 4).toString(16).padStart(4, "0")
}${ADVERTISED}0000`;

Deno.test("git remotes of the master: a redirect to another server does not make git send the password to it", async () => {
  const root = Deno.makeTempDirSync({ prefix: "git_remote_logins_" });
  const authorizations: (string | null)[] = [];
  const options = { hostname: "127.0.0.1", port: 0, onListen: () => {} };
  const type = { "content-type": "application/x-git-upload-pack-advertisement" };
  const other = Deno.serve(options, ({ headers, method }) => {
    authorizations.push(headers.get("authorization"));
    return method === "GET" ? new Response(ADVERTISEMENT, { headers: type }) : new Response("", { status: 500 });
  });
  const first = Deno.serve(options, ({ url }) => {
    const { pathname, search } = new URL(url);
    return Response.redirect(`http://127.0.0.1:${other.addr.port}${pathname}${search}`);
  });
  try {
    const url = `http://127.0.0.1:${first.addr.port}/repo.git`;
    const given = { user: USER, password: SECRET, insecure_auth: true };
    await assertRejects(() => fetchRemote(root, url, given), StoreError);
    // git requests the references of the other server, then a commit.
    assertEquals(authorizations, [null, null]);
  } finally {
    await Promise.all([first.shutdown(), other.shutdown()]);
    Deno.removeSync(root, { recursive: true });
  }
});
