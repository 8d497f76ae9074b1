/** Hosts of rosters that are not reached: keys that are made, passwords, an end before the first host. */

import type { JobIo } from "#lib/commands/cli/run_command.ts";
import { ControlAnswers, type ControlParts } from "#lib/commands/ssh/control_answers.ts";
import { openStores, rosterSources } from "#lib/commands/ssh/roster_sources.ts";
import { runSaltSsh } from "#lib/commands/ssh/salt_ssh.ts";
import { NO_FLAGS, SshFleet } from "#lib/commands/ssh/ssh_fleet.ts";
import type { HostEnd, SshWork } from "#lib/commands/ssh/ssh_work.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { StoreError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20260101000000000001";
/** Nothing listens at this port. */
const HOST = { host: "127.0.0.1", port: 1, timeout: 5 };

/** The ends of hosts, and the lines of the log. */
async function ran(
  opts: MasterOpts,
  work: SshWork,
  { hosts, signal = new AbortController().signal }: {
    readonly hosts: Readonly<Record<string, unknown>>;
    readonly signal?: AbortSignal;
  },
): Promise<{ readonly ends: HostEnd[]; readonly lines: string[] }> {
  const { log, lines } = memoryLog(), ends: HostEnd[] = [];
  using fleet = new SshFleet({ opts, log, signal, user: "root", isOperator: true, flags: NO_FLAGS });
  const entries = Object.entries(hosts).map((
    [id, entry],
  ): [string, Value] => [id, map({ entry }).get("entry") ?? null]);
  await fleet.run(new Map(entries), { work, jid: JID }, (end) => void ends.push(end));
  return { ends, lines };
}

const noSsh = ["ssh", "ssh-keygen"].every((name) => which(name) !== undefined) ? undefined : "needs OpenSSH";

Deno.test({
  name: `hosts without a key of their own get one that is made once; it is a failure of each that it cannot be${
    noSsh === undefined ? "" : ` (${noSsh})`
  }`,
  ignore: noSsh !== undefined,
  async fn() {
    using services = await testServices();
    const { opts } = services, key = `${opts.pki_dir}/ssh/salt-ssh.rsa`;
    Deno.writeTextFileSync(`${opts.pki_dir}/ssh`, "no directory");
    const hosts = { web1: HOST, web2: HOST };
    const refused = await ran(opts, { raw: ["true"] }, { hosts });
    assertEquals(refused.ends.map(({ id, failure }) => [id, failure]).sort(), [["web1", "refused"], [
      "web2",
      "refused",
    ]]);
    for (const end of refused.ends) assertMatch(String(end.return), /^The key .*\/salt-ssh\.rsa cannot be made: /);
    Deno.removeSync(`${opts.pki_dir}/ssh`);
    const { ends } = await ran(opts, { raw: ["true"] }, { hosts });
    assertEquals(ends.map(({ id }) => id).sort(), ["web1", "web2"]);
    assertEquals((Deno.statSync(key).mode ?? 0) & 0o777, 0o600);
  },
});

Deno.test("a run that has ended begins no host", async () => {
  using services = await testServices();
  const work = { fun: "test.ping", arg: [] };
  const ended = await ran(services.opts, work, { hosts: { web1: HOST }, signal: AbortSignal.abort() });
  assertEquals(ended, { ends: [], lines: [] });
});

Deno.test("--askpass asks once without showing the password, which ssh is given; without a terminal it is refused", () =>
  withTemporaryDirectory(async (root) => {
    for (const name of ["bin", "conf"]) Deno.mkdirSync(`${root}/${name}`);
    const fake = `#!/bin/sh\n"$SSH_ASKPASS" "root@127.0.0.1's password: " >> ${root}/given\nexit 255\n`;
    Deno.writeTextFileSync(`${root}/bin/ssh`, fake, { mode: 0o755 });
    Deno.writeTextFileSync(`${root}/conf/master`, JSON.stringify({ root_dir: root, user: "root" }));
    Deno.writeTextFileSync(`${root}/conf/roster`, JSON.stringify({ web1: { ...HOST, priv: "agent-forwarding" } }));
    using _path = new SearchPath(`${root}/bin`);
    const asked: unknown[] = [], written: string[] = [];
    const run = (ask?: JobIo["ask"]) =>
      runSaltSsh(["-c", `${root}/conf`, `--roster-file=${root}/conf/roster`, "--askpass", "-r", "web1", "true"], {
        signal: new AbortController().signal,
        columns: 80,
        isTerminal: false,
        isErrorTerminal: false,
        readStdin: () => Promise.resolve(""),
        write: (text) => void written.push(text),
        writeError: (text) => void written.push(text),
        ...ask && { ask },
      });
    const code = await run((question, how) => (asked.push([question, how]), Promise.resolve("open sesame")));
    assertEquals([code, asked], [20, [["Password: ", { hidden: true }]]], written.join(""));
    assertEquals(Deno.readTextFileSync(`${root}/given`).trim(), "open sesame");
    assertEquals(written.join("").includes("sesame"), false);
    assertEquals([await run(), await run(() => Promise.resolve(undefined))], [64, 64]);
    assertMatch(written.join(""), /--askpass: there is no terminal to ask on/);
  }));

Deno.test("hosts fetch plugins if the file roots have some, or files come from elsewhere; grains that cannot be kept are named", async () => {
  using services = await testServices({ file_roots: map({ base: ["/nowhere"] }) });
  const { opts, root } = services, { log, lines } = memoryLog();
  const stores = openStores(opts, log);
  const data = Object.assign(stores.data, {
    setGrains() {
      throw new StoreError("the disk is full", "grains");
    },
  });
  const parts: ControlParts = {
    ...stores,
    opts,
    data,
    log,
    keepsGrains: true,
    apart: () => undefined,
    signal: new AbortController().signal,
  };
  const hasPlugins = (more: Partial<MasterOpts>) =>
    new ControlAnswers({ ...parts, opts: { ...opts, ...more } }).hasPlugins();
  Deno.mkdirSync(`${root}/srv/_states`, { recursive: true });
  assertEquals(
    [
      hasPlugins({}),
      hasPlugins({ fileserver_backend: ["roots", "gitfs"] }),
      hasPlugins({ file_roots: map({ base: ["/nowhere", `${root}/srv`] }) }),
    ],
    [false, true, true],
  );
  const asked = map({
    cmd: "_pillar",
    id: "web1",
    grains: { os: "Debian" },
    saltenv: "base",
    pillarenv: null,
    ver: "2",
  });
  assertEquals(await new ControlAnswers(parts).answer(asked, "web1"), map({}));
  assertEquals(lines, ["WARNING The grains of web1 are not kept: the disk is full"]);
});

Deno.test("a roster in Python calls execution functions of the operator's host", async () => {
  using services = await testServices();
  const { root } = services;
  Deno.mkdirSync(`${root}/mods/roster`, { recursive: true });
  Deno.writeTextFileSync(
    `${root}/mods/roster/own.py`,
    "import salt.client\ndef targets(tgt, tgt_type='glob', **kwargs):\n" +
      "    return {tgt: {'host': salt.client.Caller().cmd('test.echo', 'here')}}\n",
  );
  const opts = { ...services.opts, module_dirs: [`${root}/mods`] }, { log } = memoryLog();
  const signal = new AbortController().signal;
  const { own } = rosterSources(opts, openStores(opts, log), { log, signal, user: "root" });
  const found = await own.targets("own", { tgt: "web1", tgtType: "glob", delimiter: ":" });
  assertEquals(found, new Map([["web1", map({ host: "here" })]]));
});
