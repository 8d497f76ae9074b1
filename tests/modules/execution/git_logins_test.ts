/**
 * The module and the states `git` with user and password, on a git server with https: calls that work in Salt work, and
 * the password is in no process arguments, no log, no result, and no file that other users can read.
 * @module
 */

import { runChild } from "#lib/programs/child_process.ts";
import { isMap, map, str, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { makeCertificate } from "#tests/support/certificate.ts";
import { GitServer } from "#tests/support/files/git_server.ts";
import { run, type TestContext, testContext } from "#tests/support/calls/job_context.ts";
import { callState } from "#tests/support/calls/state_call.ts";

const USER = "deploy@example.com";
/** Contains characters that a URL must escape. */
const SECRET = "p/w:s3cret @1%";
const QUOTED = "p%2Fw%3As3cret%20%401%25";

const REPOSITORY = `
set -e
git init -q -b main work && cd work
git config user.name Test && git config user.email test@example.com
echo one > one && git add one && git commit -qm first
cd .. && git clone -q --bare work served/repo.git && git -C served/repo.git config http.receivepack true
cd work && git remote add origin ../served/repo.git
`;

const COMMIT = "cd work && echo more >> one && git commit -qam more && git push -q origin main && git rev-parse HEAD";

/** A server, and a minion's context whose git trusts its certificate. */
class Site implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "git_logins_" });
  readonly server: GitServer;
  readonly context: TestContext;
  readonly #env: Record<string, string>;

  constructor() {
    Deno.mkdirSync(`${this.root}/served`);
    const certificate = makeCertificate(this.root);
    this.#env = { HOME: this.root, GIT_CONFIG_NOSYSTEM: "1", GIT_SSL_CAINFO: certificate.authority };
    // The user's own credential helper has a wrong password, and would store the right one.
    Deno.writeTextFileSync(
      `${this.root}/.gitconfig`,
      "[credential]\n\thelper = store\n[user]\n\tname = T\n\temail = t@x\n",
    );
    this.shell(REPOSITORY);
    this.server = new GitServer(`${this.root}/served`, certificate, USER, SECRET);
    Deno.writeTextFileSync(`${this.root}/.git-credentials`, `https://deploy%40example.com:wrong@${this.server.host}\n`);
    this.context = testContext({
      runChild: (spec, options) => runChild({ ...spec, env: { ...spec.env, ...this.#env } }, options),
    });
  }

  get url(): string {
    return `https://${this.server.host}/repo.git`;
  }

  /** The URL as Salt stores it. */
  urlWith(password: string): string {
    return this.url.replace("//", `//deploy%40example.com:${password}@`);
  }

  shell(script: string): string {
    const env = { ...this.#env, GIT_TERMINAL_PROMPT: "0" };
    const { success, stdout, stderr } = new Deno.Command("sh", { args: ["-c", script], cwd: this.root, env })
      .outputSync();
    assert(success, new TextDecoder().decode(stderr));
    return new TextDecoder().decode(stdout).trim();
  }

  /**
   * Like {@linkcode shell}, but the server in this process can answer meanwhile.
   * @returns All output.
   */
  async later(script: string): Promise<string> {
    const env = { ...this.#env, GIT_TERMINAL_PROMPT: "0" };
    const { stdout, stderr } = await new Deno.Command("sh", { args: ["-c", script], cwd: this.root, env }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  }

  /** The result of a function; an error in the form of a job's return. */
  async call(fun: string, args: readonly unknown[], kwargs: Readonly<Record<string, unknown>> = {}): Promise<Value> {
    const words = [...args.map((one) => toValue(one)), new Map<Value, Value>([["__kwarg__", true], ...map(kwargs)])];
    return (await run(`git.${fun}`, words, this.context)).return;
  }

  state(fun: string, args: Readonly<Record<string, unknown>>, test = false): Promise<ValueMap> {
    return callState(`git.${fun}`, args, { test, job: this.context });
  }

  /** Fails if other users can read the password. */
  assertSecret(...answers: readonly unknown[]): void {
    const visible = [...this.server.seen, ...this.context.logged, ...answers.map((one) => text(one))].join("\n");
    for (const secret of [SECRET, QUOTED, "s3cret"]) assert(!visible.includes(secret), visible);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, one) => one instanceof Map ? [...one] : one);
}

const HTTPS = { https_user: USER, https_pass: SECRET };

Deno.test("git with https_pass: the password is in no process arguments, and later calls need none", async () => {
  await using site = new Site();
  const { root, url } = site;
  const clone = `${root}/clone`;
  assertEquals(await site.call("clone", [clone, url], HTTPS), true);
  // Proves that arguments are visible: those of the program that git starts for https.
  assert(
    [...site.server.seen].some((line) => line.includes("remote-https") && line.includes("deploy%40example.com@")),
  );
  const file = `${clone}/.git/salt-credentials`;
  assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  assert(!Deno.readTextFileSync(`${clone}/.git/config`).includes("s3cret"));

  const first = site.shell(COMMIT);
  const fetched = await site.call("fetch", [clone]);
  assert(isMap(fetched) && fetched.has("updated branches"), text(fetched));
  assertStringIncludes(str(await site.call("pull", [clone])), "Fast-forward");
  assertEquals(await site.call("ls_remote", [clone, "origin", "main"]), map({ "refs/heads/main": first }));
  const refs = await site.call("ls_remote", [], { remote: url, ...HTTPS, ref: "main" });
  assertEquals(refs, map({ "refs/heads/main": first }));
  assertEquals(await site.call("remote_refs", [url], { ...HTTPS, heads: true }), refs);
  assertEquals(await site.call("remote_refs", [site.urlWith(QUOTED)], { heads: true }), refs);
  await site.call("branch", [clone, "mine"]);
  await site.call("push", [clone, "origin", "mine"]);
  assertStringIncludes(site.shell("git -C served/repo.git branch"), "mine");
  assertEquals(await site.later("git -C clone fetch"), "");

  const hidden = map({
    fetch: `https://<redacted>@${site.server.host}/repo.git`,
    push: `https://<redacted>@${site.server.host}/repo.git`,
  });
  const whole = map({ fetch: site.urlWith(QUOTED), push: site.urlWith(QUOTED) });
  assertEquals(await site.call("remote_get", [clone]), hidden);
  assertEquals(await site.call("remotes", [clone]), map({ origin: hidden }));
  assertEquals(await site.call("remotes", [clone], { redact_auth: false }), map({ origin: whole }));
  assertEquals(await site.call("remote_get", [clone], { redact_auth: false }), whole);

  const refused = await site.call("clone", [`${root}/other`, url], { https_user: USER, https_pass: "s3cret2" });
  assertStringIncludes(str(refused), "Authentication failed");
  site.assertSecret(refused);
  assert(Deno.readTextFileSync(`${root}/.git-credentials`).includes(":wrong@"));
});

Deno.test("git with https_pass: submodules by relative URLs, and an empty user as in Salt", async () => {
  await using site = new Site();
  const { root, url } = site;
  site.shell("git clone -q --bare work served/sub.git");
  site.shell(
    "cd work && git config -f .gitmodules submodule.s.path s && git config -f .gitmodules submodule.s.url ../sub.git",
  );
  site.shell(
    "cd work && git add . && git update-index --add --cacheinfo 160000,$(git rev-parse HEAD),s && git commit -qm sub",
  );
  site.shell("cd work && git push -q origin main");
  const clone = `${root}/clone`;
  // git sends no password without a user, from any source.
  const refused = await site.call("clone", [clone, url], { https_user: "", https_pass: SECRET });
  assertStringIncludes(str(refused), "Authentication failed");
  assertEquals(await site.call("clone", [clone, url], HTTPS), true);
  const updated = await site.call("submodule", [clone, "update"], { opts: "--init" });
  assertStringIncludes(str(updated), "checked out");
  assertEquals(await site.later("git -C clone fetch --no-recurse-submodules"), "");
  site.assertSecret(refused, updated);
});

Deno.test("git.remote_set stores the password of each remote, and removes that of the previous one", async () => {
  await using site = new Site();
  const { root, url } = site;
  const bare = `${root}/bare.git`;
  await site.call("clone", [bare, url], { ...HTTPS, opts: "--mirror" });
  const file = `${bare}/salt-credentials`;
  const set = (password: string | undefined, more: Readonly<Record<string, unknown>> = {}) =>
    site.call("remote_set", [bare, url], {
      https_user: USER,
      ...password !== undefined && { https_pass: password },
      ...more,
    });
  const second = map({ push_url: "https://two.example.com/r", push_https_user: "two", push_https_pass: "s3cret two" });
  await set("s3cret new", { remote: "other", ...Object.fromEntries(second) });
  assertEquals(Deno.readTextFileSync(file).split("\n").length, 3);
  site.server.password = "s3cret new";
  assertStringIncludes(text(await site.call("ls_remote", [bare, "other"])), "refs/heads/main");
  const whole = await site.call("remote_get", [bare, "other"], { redact_auth: false });
  assertEquals(
    whole,
    map({ fetch: site.urlWith("s3cret%20new"), push: "https://two:s3cret%20two@two.example.com/r" }),
  );
  await site.call("remote_set", [bare, "https://example.com/r"], { remote: "other" });
  assertEquals(Deno.readTextFileSync(file), `${site.urlWith("s3cret%20new").slice(0, -"/repo.git".length)}\n`);
  site.assertSecret(await set(undefined));
  assertEquals([...Deno.readDirSync(bare)].some(({ name }) => name.startsWith("salt-")), false);
  assert(!Deno.readTextFileSync(`${bare}/config`).includes("salt-credentials"));
});

Deno.test("git.latest and git.detached with https_pass: no change in the second run, and a changed password is used", async () => {
  await using site = new Site();
  const { root, url } = site;
  const changed = `Remote 'origin' changed from https://<redacted>@${site.server.host}/repo.git to ` +
    `https://<redacted>@${site.server.host}/repo.git`;
  for (const fun of ["latest", "detached"]) {
    site.server.password = SECRET;
    const args = { name: url, target: `${root}/${fun}`, rev: "main", https_user: USER };
    const cloned = await site.state(fun, { ...args, https_pass: SECRET });
    assertEquals(cloned.get("result"), true, text(cloned));
    const again = await site.state(fun, { ...args, https_pass: SECRET });
    assertEquals([again.get("result"), again.get("changes")], [true, new Map()], text(again));
    assert(!str(again.get("comment") ?? "").includes("emote"), text(again));
    site.server.password = "s3cret new";
    const commit = site.shell(COMMIT);
    const refused = await site.state("latest", { ...args, https_pass: SECRET });
    assertStringIncludes(str(refused.get("comment") ?? ""), "Authentication failed");
    const updated = await site.state(fun, { ...args, https_pass: "s3cret new" });
    assertEquals(updated.get("result"), true, text(updated));
    if (fun === "latest") assertStringIncludes(str(updated.get("comment") ?? ""), changed);
    assertEquals(site.shell(`git -C ${fun} rev-parse HEAD`), commit);
    site.assertSecret(cloned, again, refused, updated);
  }
});

Deno.test("git: a repository with a password in its URL, as Salt stores it, is fetched, and counts as the same remote", async () => {
  await using site = new Site();
  const { root, url } = site;
  await site.later(`git clone -q '${site.urlWith(QUOTED)}' theirs`);
  assert([...site.server.seen].some((line) => line.includes(QUOTED)), "git alone shows it");
  site.server.seen.clear();
  const config = Deno.readTextFileSync(`${root}/theirs/.git/config`);
  const args = { name: url, target: `${root}/theirs`, rev: "main", https_user: USER, https_pass: SECRET };
  const again = await site.state("latest", args);
  assertEquals([again.get("result"), again.get("comment")], [true, `Repository ${root}/theirs is up-to-date`]);
  site.shell(COMMIT);
  const fetched = await site.call("fetch", [`${root}/theirs`]);
  assert(isMap(fetched) && fetched.has("updated branches"), text(fetched));
  assertEquals(Deno.readTextFileSync(`${root}/theirs/.git/config`), config);
  site.assertSecret(again, fetched);
  assert([...site.server.seen].some((line) => line.includes("remote-https")));
});
