/**
 * `external_auth` and `peer` on a running fleet: what a user may do with a password or a token, what is denied, and
 * that passwords and tokens are in no file, event or log.
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel } from "#lib/sockets/request_channel.ts";
import { isMap, map, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { WITHIN_MS } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest } from "#tests/support/fleet/fleet.ts";
import { asMap, opened } from "#tests/support/fleet/scripted_minion.ts";
import { filesBelow, ifThere } from "#tests/support/tree.ts";

const PASSWORD = "correct-horse-battery";

const EXTERNAL_AUTH = {
  file: {
    "^filename": "",
    fred: ["test.*", { "web*": [{ "cmd.run": { args: ["echo [a-z]+"] } }] }],
    anna: ["@runner", { "web1": ["grains.item"] }],
    kim: [{ "@wheel": ["key\\.(list_all|glob_match|print|finger|accept_dict|delete_dict)"] }],
    idle: [],
  },
};

async function clear(fleet: Fleet, load: Record<string, unknown>): Promise<Value> {
  using channel = new RequestChannel(`tcp://127.0.0.1:${fleet.masterOpts.ret_port}`);
  return opened(await channel.request(clearRequest(map(load)), { timeoutMs: WITHIN_MS, tries: 1 }));
}

function errorName(reply: Value): unknown {
  const error = isMap(reply) ? reply.get("error") : undefined;
  return isMap(error) ? error.get("name") : undefined;
}

/** A password file that the master can read, and the options that name it. */
function withUsers(): { readonly path: string; readonly master: Record<string, unknown>; remove(): void } {
  const directory = Deno.makeTempDirSync({ prefix: "users_" });
  const path = `${directory}/users`;
  Deno.writeTextFileSync(path, ["fred", "anna", "kim", "idle", "eve"].map((name) => `${name}:${PASSWORD}\n`).join(""));
  const external_auth = { file: { ...EXTERNAL_AUTH.file, "^filename": path } };
  const peer = { "web.*": ["test.ping", "test.echo", "publish.*"], "db": [".*"] };
  const master = {
    external_auth,
    peer,
    peer_run: { web1: ["test.arg"] },
    token_file: `${directory}/token`,
    publisher_acl_blacklist: { modules: ["test.fib"], users: ["idle"] },
  };
  return { path, master, remove: () => Deno.removeSync(directory, { recursive: true }) };
}

const users = withUsers();

fleetTest("external_auth: a password or a token gives the rights of the rules, and is in no file, event or log", {
  minions: ["db1", "web1"],
  master: users.master,
}, async (fleet) => {
  using events = await fleet.listen("");
  const asFred = ["-a", "file", "--username", "fred", "--password", PASSWORD];
  const run = (...words: string[]) => fleet.salt("--static", "--out=json", ...words);

  // Rules by function, target and argument.
  const ping = await run(...asFred, "*", "test.ping");
  assertEquals([ping.code, JSON.parse(ping.out)], [0, { db1: true, web1: true }], ping.err);
  const echo = await run(...asFred, "web1", "cmd.run", "echo hello");
  assertEquals([echo.code, JSON.parse(echo.out)], [0, { web1: "hello" }], echo.err);
  const refused: string[][] = [
    ["db1", "cmd.run", "echo hello"],
    ["*", "cmd.run", "echo hello"],
    ["web1", "cmd.run", "id"],
    ["web1", "cmd.run", "echo x; id"],
    ["web1", "cmd.run_all", "echo hello"],
    ["web1", "test.ping,cmd.run", ",id"],
    ["web1", "test.fib", "3"],
    ["nobody", "cmd.run", "id"],
  ];
  for (const words of refused) {
    const { code, out, err } = await run(...asFred, ...words);
    assertEquals(code, 77, `${words}: ${out}${err}`);
    assertStringIncludes(out, "Authorization error occurred.");
  }
  const login = { eauth: "file", username: "fred", password: PASSWORD };
  const publish = {
    cmd: "publish",
    user: "root",
    tgt: "*",
    fun: "test.ping",
    arg: [],
    tgt_type: "glob",
    ret: "",
    jid: "",
  };

  // CVE-2020-25592, CVE-2017-5192 and similar ones: an unknown user has no rights.
  const strangers: Record<string, unknown>[] = [
    { ...login, password: "wrong" },
    { ...login, username: "mallory" },
    { eauth: "file" },
    { eauth: "auto", username: "fred", password: PASSWORD },
    { token: "x" },
    { token: "../../etc/passwd" },
    { ...login, token: "0".repeat(64) },
  ];
  const rootKey = Deno.readTextFileSync(accessKeyPath(fleet.masterOpts.cachedir, fleet.masterOpts.user));
  const answers = await Promise.all(strangers.map((kwargs) => clear(fleet, { ...publish, key: rootKey, kwargs })));
  assertEquals(answers.map(errorName), strangers.map(() => "AuthenticationError"));
  // A known user without rules may do nothing, and neither may a user on the blacklist.
  const idle = { ...login, username: "idle" }, eve = { ...login, username: "eve" };
  for (const kwargs of [idle, eve]) {
    assertEquals(errorName(await clear(fleet, { ...publish, kwargs })), "AuthorizationError");
  }

  // Tokens.
  const made = await clear(fleet, { cmd: "mk_token", ...login });
  const token = str(asMap(made).get("token") ?? "");
  assertEquals(asMap(made).get("name"), "fred");
  assertEquals(repr(await clear(fleet, { cmd: "get_token", token })), repr(made));
  assertEquals(await clear(fleet, { cmd: "mk_token", ...login, password: "wrong" }), "");
  assertEquals(repr(await clear(fleet, { cmd: "get_token", token: "0".repeat(64) })), "{}");
  const byToken = await clear(fleet, { ...publish, kwargs: { token } });
  const jid = str(asMap(asMap(byToken).get("load")).get("jid") ?? "");
  const cached = await fleet.saltRun("--out=json", "jobs.list_job", jid);
  assertEquals(JSON.parse(cached.out).User, "fred"); // not root, as the request claims

  // salt-run auth.mk_token and del_token.
  const minted = await fleet.saltRun(
    "--out=json",
    "auth.mk_token",
    "eauth=file",
    "username=fred",
    `password=${PASSWORD}`,
  );
  const fresh = str(map(JSON.parse(minted.out)).get("token") ?? "");
  assertEquals([minted.code, fresh.length], [0, 64], minted.err);
  assertEquals((await fleet.saltRun("--out=json", "auth.del_token", fresh)).out.trim(), "true");
  assertEquals(repr(await clear(fleet, { cmd: "get_token", token: fresh })), "{}");

  // salt-run -a: anna's rules allow the runner, fred's rules allow none.
  const asAnna = (
    user: string,
  ) => ["--out=json", "-a", "file", "--username", user, "--password", PASSWORD, "test.arg", "x", "k=1"];
  const ran = await fleet.saltRun(...asAnna("anna"));
  assertEquals([ran.code, JSON.parse(ran.out)], [0, { args: ["x"], kwargs: { k: 1 } }], ran.err);
  const denied = await fleet.saltRun(...asAnna("fred"));
  assertEquals(denied.code, 77);
  assertStringIncludes(
    denied.out + denied.err,
    "Authorization error occurred: user fred may not run the runner test.arg.",
  );
  const wrong = await fleet.saltRun(...asAnna("anna").map((word) => word === PASSWORD ? "wrong" : word));
  assertEquals(wrong.code, 77);
  assertStringIncludes(wrong.out + wrong.err, "Authentication failure");

  // salt-key --auth: kim's rules allow the wheel functions, fred's rules allow none.
  const pending = `${fleet.masterOpts.pki_dir}/minions_pre`;
  const pem = Deno.readTextFileSync(`${fleet.masterOpts.pki_dir}/minions/web1`);
  Deno.mkdirSync(pending, { recursive: true });
  for (const id of ["new1", "new2"]) Deno.writeTextFileSync(`${pending}/${id}`, pem);
  Deno.writeTextFileSync(`${pending}/odd`, "no key\n");
  const key = (user: string, ...words: string[]) =>
    fleet.saltKeyWith({ stdin: `${user}\n${PASSWORD}\ny\n` }, "--auth", "file", ...words);
  const named = (user: string) => `file username [${callingUser()}]: file password of ${user}: `;
  const accepted = await key("kim", "-a", "new1,odd");
  assertEquals([accepted.code, accepted.err], [1, `${named("kim")}Unable to accept invalid key for odd.\n`]);
  assertEquals(
    accepted.out,
    "The following keys are going to be accepted:\nUnaccepted Keys:\nnew1\nodd\nProceed? [n/Y] Key for minion new1 accepted.\n",
  );
  assertEquals(
    (await key("kim", "-L")).out,
    "Accepted Keys:\ndb1\nnew1\nweb1\nDenied Keys:\nUnaccepted Keys:\nnew2\nodd\nRejected Keys:\n",
  );
  const finger = await key("kim", "-f", "master");
  assertEquals([finger.code, finger.out], [0, (await fleet.saltKey("-f", "master")).out]);
  const one = await key("kim", "-f", "web1");
  assertEquals([one.code, one.out], [0, (await fleet.saltKey("-f", "web1")).out]);
  assertEquals((await key("kim", "-p", "new*")).out, (await fleet.saltKey("-p", "new*")).out);
  const removed = await key("kim", "-y", "-d", "new*,odd");
  assertEquals([removed.code, removed.out.split("\n").length], [0, 10], removed.out);
  assertEquals((await fleet.saltKey("-L", "--out=json")).out.match(/new|odd/), null);
  for (const [user, ...words] of [["fred", "-L"], ["kim", "-y", "-r", "*", "--include-all"], ["mallory", "-L"]]) {
    const { code, out } = await key(user, ...words);
    assertEquals([code, /Key for|Accepted Keys:\ndb1\nnew1/.test(out)], [77, false], out);
  }
  assertEquals((await key("kim", "--gen-keys=x")).code, 64);

  // salt -T stores the token, and the next command uses it.
  const created = await fleet.saltWith(
    { stdin: `fred\n${PASSWORD}\n` },
    "--static",
    "--out=json",
    "-T",
    "-a",
    "file",
    "web1",
    "test.ping",
  );
  assertEquals(
    [created.code, created.err],
    [0, `file username [${callingUser()}]: file password of fred: `],
    created.out,
  );
  const file = str(map(users.master).get("token_file") ?? "");
  const saved = Deno.readTextFileSync(file);
  assertEquals((Deno.statSync(file).mode ?? 0) & 0o777, 0o600);
  assertEquals((await run("-a", "file", "web1", "test.echo", "again")).code, 0);
  assertEquals((await run("-a", "file", "db1", "cmd.run", "echo a")).code, 77);
  assertEquals((await fleet.salt("-a", "fiel", "*", "test.ping")).code, 64);
  assertEquals((await fleet.salt("-T", "*", "test.ping")).code, 64);

  const seen: ValueMap[] = [];
  for (let event = await events.next(100); event !== undefined; event = await events.next(100)) seen.push(event.data);
  assert(seen.length > 10);
  const tokenDir = fleet.masterOpts.token_dir;
  for (const secret of [PASSWORD, token, saved, fresh]) {
    assertEquals(fleet.logs.filter((line) => line.includes(secret)), []);
    assertEquals(seen.map(repr).filter((text) => text.includes(secret)), []);
    const holding = [...filesBelow(fleet.root)].filter((path) => !path.startsWith(tokenDir))
      .filter((path) => ifThere(() => Deno.readTextFileSync(path))?.includes(secret));
    assertEquals(holding, []);
  }
  const refusals = fleet.logs.filter((line) => line.includes("fred") && line.includes("Refused to publish"));
  assert(refusals.length > 0, "the log says who was refused");
  users.remove();
  await provePeers(fleet);
});

/** The jobs that minions may publish to each other, with our module `publish`. */
async function provePeers(fleet: Fleet): Promise<void> {
  const ask = (id: string, ...words: string[]) => fleet.saltJson(id, ...words);
  const pinged = await ask("web1", "publish.publish", "*", "test.ping");
  assertEquals(repr(pinged), repr(map({ web1: { db1: true, web1: true } })));
  const full = await ask("web1", "publish.full_data", "db1", "test.echo", "arg=['text=a b']");
  assertEquals(repr(full), repr(map({ web1: { db1: { ret: "a b" } } })));
  const run = await ask("web1", "publish.runner", "test.arg", "arg=['x', 'k=1']", "timeout=30");
  assertEquals(repr(run), repr(map({ web1: { args: ["x"], kwargs: { k: 1 } } })));
  const refused: string[][] = [
    ["db1", "publish.publish", "web1", "test.ping"],
    ["web1", "publish.publish", "*", "cmd.run", "id"],
    ["web1", "publish.publish", "*", "test.ping_all"],
    ["web1", "publish.publish", "*", "test.ping,cmd.run", "['', 'id']"],
    ["web1", "publish.publish", "*", "test.ping,publish.publish", "['', '* test.ping']"],
    ["web1", "publish.publish", "*", "publish.publish", "['*', 'test.ping']"],
    ["web1", "publish.publish", "nobody", "test.ping"],
    ["db1", "publish.runner", "test.arg"],
    ["web1", "publish.runner", "test.get_opts"],
  ];
  for (const [id, ...words] of refused) {
    assertEquals(repr(await ask(id, ...words)), repr(map({ [id]: {} })), words.join(" "));
  }
  assertEquals(fleet.logs.filter((line) => line.includes("Minion db1 may not publish test.ping")).length, 1);
}
