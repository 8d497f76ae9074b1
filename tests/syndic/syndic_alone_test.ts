/**
 * A syndic between a scripted higher master and a bus without a master: what it does when one of them fails.
 * @module
 */

import { masterBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { loadMasterConfig, loadMinionConfig } from "#lib/config/load.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { SignInError, SocketError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { runSaltSyndic } from "#lib/syndic/salt_syndic.ts";
import { Syndic } from "#lib/syndic/syndic.ts";
import { encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { MasterKeys, memoryLog, ScriptedMaster } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20270131120000000001";
const TOP = await MasterKeys.make();

/** A syndic of the minion `s1` below `root`; its top is `top`. */
async function startSyndic(root: string, top: ScriptedMaster, more: Partial<MasterOpts> = {}) {
  const configDir = `${root}/etc/salt`,
    overrides = { root_dir: root, user: "root", sock_dir: `${root}/s`, keysize: 2048 };
  const { opts } = loadMasterConfig({ configDir, overrides });
  const timeouts = {
    request_channel_timeout: 5,
    request_channel_tries: 1,
    master_tries: 1,
    rejected_retry: false,
    random_reauth_delay: 0,
  };
  const { opts: minion } = loadMinionConfig({ configDir, overrides: { ...overrides, ...timeouts, id: "s1" } });
  for (const directory of [opts.sock_dir, opts.cachedir, minion.pki_dir]) {
    Deno.mkdirSync(directory, { recursive: true });
  }
  const { log, lines } = memoryLog();
  const syndic = await Syndic.start(
    { ...opts, syndic_master: [top.address.slice("tcp://".length)], syndic_event_forward_timeout: 0.05, ...more },
    minion,
    log,
  );
  syndic.closed.catch(() => {}); // the tests ask for it
  const has = (text: string) => lines.some((line) => line.includes(text));
  const told = (text: string) => eventually(() => has(text), { what: text });
  return { syndic, opts, has, told };
}

/** The loads of jobs that the top was given. */
function returned(top: ScriptedMaster): Value[] {
  return top.requests.filter(({ cmd }) => cmd === "_syndic_return").flatMap(({ load }) => load.get("load") ?? []);
}

Deno.test("a syndic tells what its top and the master of its host do not take, and goes on", () =>
  withTemporaryDirectory(async (root) => {
    await using top = await ScriptedMaster.start(TOP);
    const { honest } = top;
    let refuses = true;
    top.script = (request) => refuses && request.cmd === "_minion_event" ? encode("no room", "wire") : honest(request);
    const { syndic, opts, has, told } = await startSyndic(root, top, {
      master_job_cache: "sqlite",
      sqlite: map({ path: root }),
    });
    try {
      await told("did not take the start event: Message authentication failed");
      const paths = masterBus(opts.sock_dir);
      const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
      try {
        using sender = new EventSender(paths.pull);
        // It reads the bus when what it fires by itself comes up.
        await eventually(async () => {
          await sender.fire("a/b", map({ id: "web1" }));
          return has("did not take events: Message authentication failed");
        }, { what: "the refusal of an event" });
        refuses = false;
        await sender.fire(`salt/job/${JID}/ret/web1`, map({ id: "web1", jid: JID, fun: "test.ping", return: true }));
        await told(`The load of job ${JID} does not go to the higher master: `);
        await eventually(() => returned(top).length > 0, { what: "the return" });
        const [job] = returned(top);
        assert(isMap(job));
        assertEquals([job.get("id"), job.get("jid"), job.get("load")], ["s1", JID, new Map()]);
        assertEquals(job.get("return"), map({ web1: map({ return: true }) }));
        // No master publishes here.
        const job2 = { jid: JID, fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", serial: 1 };
        await eventually(async () => {
          await top.publish(TOP.publish(job2));
          return has(`Job ${JID} of a higher master is not published: `);
        }, { what: "that the job is not published" });
      } finally {
        await syndic.close();
        await bus.close();
      }
      await syndic.closed;
    } finally {
      await syndic.close();
    }
  }));

Deno.test("a syndic without a master on its host says so, and waits for it", () =>
  withTemporaryDirectory(async (root) => {
    await using top = await ScriptedMaster.start(TOP);
    const { syndic, told } = await startSyndic(root, top);
    try {
      await told("The master of this host does not run: Nothing answers on the event bus");
    } finally {
      await syndic.close();
    }
  }));

Deno.test("returns of many bytes go up before their turn, and one event above all limits is told", () =>
  withTemporaryDirectory(async (root) => {
    await using top = await ScriptedMaster.start(TOP);
    const { syndic, opts, has } = await startSyndic(root, top, { syndic_event_forward_timeout: 2 });
    const paths = masterBus(opts.sock_dir);
    const bus = await BusPump.open(paths, { log: SILENT_LOGGER });
    try {
      using sender = new EventSender(paths.pull);
      await eventually(() => top.count("_minion_event") > 0, { what: "the start event" });
      const large = new Uint8Array((64 << 20) + 1);
      await eventually(async () => {
        const data = map({ id: "web1", jid: JID, fun: "test.ping", return: true, large });
        await sender.fire(`salt/job/${JID}/ret/web1`, data);
        await sender.fire("a/b", map({ large }));
        return has("1 events are not forwarded: too many came at once");
      }, { what: "the event that is too large", everyMs: 3_000 });
      await eventually(() => returned(top).length > 0, { what: "the return" });
    } finally {
      await syndic.close();
      await bus.close();
    }
  }));

Deno.test("a syndic whose only top refuses it ends, at its start and later", () =>
  withTemporaryDirectory(async (root) => {
    await using top = await ScriptedMaster.start(TOP);
    const { honest } = top;
    top.script = () => encode("bad load", "wire");
    const first = await startSyndic(root, top);
    await assertRejects(() => first.syndic.closed, SignInError, "Unable to sign_in to master");
    top.script = honest;
    const later = await startSyndic(root, top);
    await eventually(() => top.count("_minion_event") > 0, { what: "the start event" });
    top.script = (request) => request.cmd === "_auth" ? TOP.signIn(request.load, { ret: false }) : honest(request);
    // A publish that it cannot read makes it sign in again.
    const job = { jid: JID, fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob", serial: 1 };
    await top.publish(TOP.publish(job, { sharedKey: generateKeyString() }));
    await assertRejects(() => later.syndic.closed, SignInError, "has rejected this minion's public key");
  }));

Deno.test("a syndic whose sockets no system can have ends", () =>
  withTemporaryDirectory(async (root) => {
    await using top = await ScriptedMaster.start(TOP);
    const { syndic } = await startSyndic(root, top, { sock_dir: `${root}/${"x".repeat(120)}` });
    await assertRejects(() => syndic.closed, SocketError);
  }));

Deno.test("salt-syndic has its own log and pid file, and ends where it has no top", () =>
  withTemporaryDirectory(async (root) => {
    const options = { root_dir: root, user: "root", log_level: "quiet", log_level_logfile: "warning", id: "s1" };
    Deno.writeTextFileSync(`${root}/master`, JSON.stringify({ ...options, syndic_master: [] }));
    Deno.writeTextFileSync(`${root}/minion`, JSON.stringify(options));
    for (const directory of ["log/salt", "run"]) Deno.mkdirSync(`${root}/var/${directory}`, { recursive: true });
    const umask = Deno.umask();
    try {
      assertEquals(await runSaltSyndic(["-c", root]), 1);
      assertEquals(await runSaltSyndic(["-c", root, `--log-file=${root}/own`, `--pid-file=${root}/own.pid`]), 1);
    } finally {
      Deno.umask(umask);
    }
    const entry = new URL("../../master.ts", import.meta.url).pathname;
    const args = [...DENO_RUN, entry, "--as", "salt-syndic", "-c", root];
    const { code } = await new Deno.Command(Deno.execPath(), { args, stdout: "null", stderr: "null" }).output();
    assertEquals(code, 1);
    assertEquals([...Deno.readDirSync(`${root}/var/log/salt`)].map(({ name }) => name), ["syndic"]);
    assert(Deno.statSync(`${root}/own`).isFile);
  }));
