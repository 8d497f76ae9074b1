/** The client `ssh`: functions on a real sshd, with the rights of `external_auth`, and what a chunk may not choose. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { startFleet } from "#tests/support/fleet/fleet.ts";
import { SshDaemon, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { toValue } from "#lib/values/value.ts";

const missing = whyNoSshd();

const RULES = {
  alice: [".*"],
  web: [{ "web*": ["test.*"] }],
  texts: ["test.*"],
  nobody: ["@runner"],
};

async function withSite(
  act: (
    ask: (user: string, low: Record<string, unknown>) => Promise<unknown>,
    host: SshDaemon,
    site: ApiSite,
  ) => Promise<void>,
  more: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await using host = await SshDaemon.start();
  host.roster({ web1: {}, db1: {}, gone: { port: 1 } });
  const master = {
    ...apiMasterOptions(host.root, RULES),
    netapi_allow_raw_shell: true,
    roster_file: `${host.root}/conf/roster`,
    file_roots: { base: [`${host.root}/states`] },
    pillar_roots: { base: [`${host.root}/pillar`] },
    ignore_host_keys: true,
    ...more,
  };
  await using fleet = await startFleet({ master });
  await using site = await ApiSite.start(fleet);
  const tokens: Record<string, string> = {};
  for (const user of Object.keys(RULES)) tokens[user] = await site.logIn(user);
  await act(
    async (user, low) => {
      const { status, body } = await site.post("/", { client: "ssh", ...low }, { "X-Auth-Token": tokens[user] });
      if (status === 200) return body.return;
      return `${status} ${mapOrEmpty(toValue(body.error)).get("message")}`;
    },
    host,
    site,
  );
}

function sshClientTest(name: string, ...[act, more]: Parameters<typeof withSite>): void {
  Deno.test({
    name: missing === undefined ? name : `${name} (${missing})`,
    ignore: missing !== undefined,
    fn: () => withSite(act, more),
  });
}

const FAILED = "The command resulted in a non-zero exit code";

sshClientTest("the client ssh answers as Salt's: returns with their job, failures with ssh's words", async (ask) => {
  const jid = "20261129041528272520";
  const call = { tgt: "web1", fun: "test.ping", jid };
  assertEquals(await ask("alice", call), [{
    web1: { jid, return: true, retcode: 0, id: "web1", fun: "test.ping", fun_args: [] },
  }]);
  const listed = await ask("alice", { ...call, tgt: "db1,gone", tgt_type: "list", fun: "cmd.run", arg: "exit 3" });
  assertEquals(listed, [{
    db1: { jid, return: "", retcode: 3, id: "db1", fun: "cmd.run", fun_args: ["exit 3"] },
    gone: {
      stdout: "",
      stderr: "ssh: connect to host 127.0.0.1 port 1: Connection refused",
      retcode: 255,
      parsed: null,
      _error: FAILED,
    },
  }]);
  const named = await ask("alice", { ...call, fun: "test.kwarg", kwarg: { door: "red $HOME" } });
  assertMatch(JSON.stringify(named), /"return":\{[^}]*"door":"red \$HOME"/);
  assertEquals(await ask("alice", { ...call, tgt: "nosuch" }), [{}]);
  assertEquals(await ask("alice", { ...call, fun: "echo a; exit 4", raw_shell: true }), [{
    web1: { stdout: "a\n", stderr: "", retcode: 4, parsed: null, _error: FAILED },
  }]);
});

sshClientTest("the client ssh runs what external_auth allows, on hosts that it names", async (ask, host, site) => {
  const refusal = "401 Authorization error occurred.";
  const ping = { fun: "test.ping" };
  assertMatch(JSON.stringify(await ask("web", { tgt: "web1", ...ping })), /"return":true/);
  const refused: [string, Record<string, unknown>][] = [
    ["web", { tgt: "*", ...ping }],
    ["web", { tgt: "db1", ...ping }],
    ["web", { tgt: "nosuch", ...ping }],
    ["web", { tgt: "web1", fun: "cmd.run", arg: ["id"] }],
    ["web", { tgt: "nobody", tgt_type: "nodegroup", ...ping }],
    // The line begins as a function that the rules allow.
    ["texts", { tgt: "web1", fun: `test -e / && touch ${host.root}/made`, raw_shell: true }],
    ["nobody", { tgt: "web1", ...ping }],
  ];
  for (const [user, low] of refused) assertEquals(await ask(user, low), refusal, `${user} ${JSON.stringify(low)}`);
  assertEquals([...Deno.readDirSync(host.root)].some(({ name }) => name === "made"), false);
  const { status } = await site.post("/run", {
    ...{ client: "ssh", tgt: "web1", fun: "test.ping", username: "alice", password: "wrong", eauth: "file" },
  });
  assertEquals(status, 401);
});

sshClientTest("a chunk chooses no file of the master, no option of ssh, and no roster", async (ask) => {
  const call = { tgt: "web1", fun: "test.ping" };
  const chosen = {
    ssh_options: ["ProxyCommand=touch /tmp/x"],
    ssh_priv: "/etc/shadow",
    ssh_remote_port_forwards: "8000:127.0.0.1:8000",
    roster_file: "/etc/passwd",
    no_host_keys: true,
  };
  for (const [name, value] of Object.entries(chosen)) {
    assertMatch(String(await ask("alice", { ...call, [name]: value })), new RegExp(`^400 .*does not take ${name}`));
  }
  assertMatch(String(await ask("alice", { ...call, roster: "scan" })), /^400 .*does not name the roster scan/);
});

sshClientTest("a chunk chooses no account and no sshd of a host, and takes no other host for it", async (ask) => {
  const call = { tgt: "web1", fun: "test.ping" };
  const chosen = { ssh_user: "root2", ssh_port: 2222, ssh_sudo: true, ssh_sudo_user: "root2" };
  for (const [name, value] of Object.entries(chosen)) {
    assertMatch(
      String(await ask("alice", { ...call, [name]: value })),
      new RegExp(`^400 .*takes no other ${name} than`),
    );
  }
  const same = { ssh_user: "root", ssh_port: 22, ssh_sudo: false, ignore_host_keys: true };
  assertMatch(JSON.stringify(await ask("alice", { ...call, ...same })), /"return":true/);
});

sshClientTest("a chunk adds no key to the user's keys on a host", async (ask, host) => {
  host.roster({ web1: { passwd: "of the roster" } });
  const call = { tgt: "web1", fun: "test.ping" };
  assertMatch(String(await ask("alice", { ...call, ssh_key_deploy: true })), /^400 .*adds no key to hosts/);
  assertMatch(JSON.stringify(await ask("alice", { ...call, ssh_key_deploy: false })), /"return":true/);
});

sshClientTest("a pillar without an end holds up no other client", async (ask, host, site) => {
  host.roster({ web1: { grains: { endless: true } } });
  host.write("pillar/top.sls", "base: {'*': [site]}\n");
  host.write(
    "pillar/site.sls",
    "{% for a in range(90000) %}{% for b in range(90000) %}{% set x = 'xy' * 50000 %}{% endfor %}{% endfor %}\n",
  );
  let isOver = false;
  const asked = ask("alice", { tgt: "web1", fun: "pillar.items" }).finally(() => isOver = true);
  const answered: boolean[] = [];
  while (!isOver) {
    await site.logIn("web");
    answered.push(isOver);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  assertMatch(JSON.stringify(await asked), /_errors.*it takes more than 2 seconds/);
  assertEquals(answered.filter((late) => !late).length > 3, true, `${answered.length} answers meanwhile`);
}, { pillar_timeout: 2 });

sshClientTest("a chunk does not make an unknown host key known", async (ask) => {
  const chunk = { tgt: "web1", fun: "test.ping", ignore_host_keys: true };
  assertMatch(String(await ask("alice", chunk)), /^400 .*takes no other ignore_host_keys than/);
}, { ignore_host_keys: false });
