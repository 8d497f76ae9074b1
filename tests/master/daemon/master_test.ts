import { accessKeyPath } from "#lib/config/master_paths.ts";
import { PreflightError } from "#lib/errors.ts";
import { Master } from "#lib/master/daemon/master.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import {
  BOUND_MS,
  openChannel,
  ping,
  requestAddress,
  scripted,
  subscribe,
} from "#tests/support/fleet/master_requests.ts";
import { Peer } from "#tests/support/fleet/peer.ts";
import { Publishes, publishRequest } from "#tests/support/fleet/publishes.ts";
import { asMap, makeNonce, opened, testKey } from "#tests/support/fleet/scripted_minion.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

Deno.test("a master ends at once, also with open connections, and leaves no socket file", async () => {
  await using fleet = await startFleet();
  using inbox = subscribe(fleet);
  using peer = Peer.dealer();
  peer.connect(requestAddress(fleet));
  assert(await peer.send([new Uint8Array(), clearRequest(map({ cmd: "ping" }))], BOUND_MS));
  assert(await peer.receive(BOUND_MS) !== undefined);
  const { sock_dir } = fleet.masterOpts;
  for (const { name } of Deno.readDirSync(sock_dir)) {
    assertEquals((Deno.statSync(`${sock_dir}/${name}`).mode ?? 0) & 0o077, 0, `others may reach ${name}`);
  }
  const { master } = fleet;
  const start = performance.now();
  await Promise.all([master.close(), master.close(), master.closed]);
  assert(performance.now() - start < AT_ONCE_MS, `it took ${performance.now() - start} ms`);
  assertEquals([...Deno.readDirSync(sock_dir)], []);
  inbox.close();
});

Deno.test("a master that stops answers the requests that it has received", async () => {
  await using fleet = await startFleet({ master: { worker_threads: 1 } });
  // More requests than a thread handles before it reads its other messages, from several clients: a client that reads
  // none of its replies gets 128 of them at most.
  using sockets = new DisposableStack();
  const peers = Array.from({ length: 4 }, () => sockets.use(Peer.dealer({ highWaterMark: 0 })));
  const each = 100;
  for (const peer of peers) peer.connect(requestAddress(fleet));
  for (let n = 0; n < each; n++) {
    for (const peer of peers) {
      const request = clearRequest(map({ cmd: "ping", nonce: makeNonce() }));
      assert(await peer.send([new Uint8Array(), request], BOUND_MS));
    }
  }
  for (const peer of peers) assert(await peer.receive(BOUND_MS) !== undefined);
  await fleet.master.close();
  for (let n = 1; n < each; n++) {
    for (const [i, peer] of peers.entries()) {
      assert(await peer.receive(BOUND_MS) !== undefined, `${n} of client ${i}'s ${each} requests were answered`);
    }
  }
});

fleetTest(
  "a master passes its time limit for ending to its threads, and names those that it aborts",
  {},
  async (fleet) => {
    await fleet.master.close(new TimeBudget(0));
    const cuts = fleet.logs.filter((line) => /(MWorker-\d|Publisher) did not end within 0 ms/.test(line));
    assert(cuts.length > 0, fleet.logs.join("\n"));
  },
);

fleetTest("a second master on the same sock_dir is refused, and the first one does not notice", {}, async (fleet) => {
  const { cachedir, sock_dir } = fleet.masterOpts;
  const before = [...Deno.readDirSync(sock_dir)].map(({ name }) => name).sort();
  const key = Deno.readTextFileSync(accessKeyPath(cachedir, "root"));
  const opts = { ...fleet.masterOpts, publish_port: 0, ret_port: 0 };
  const error = await assertRejects(() => Master.start(opts, SILENT_LOGGER), PreflightError);
  assertStringIncludes(error.message, "already running");
  assertEquals([...Deno.readDirSync(sock_dir)].map(({ name }) => name).sort(), before);
  assertEquals(Deno.readTextFileSync(accessKeyPath(cachedir, "root")), key);
  using events = await fleet.listen("salt/auth");
  await scripted(fleet, "web1", await testKey("web1")).signIn();
  assertEquals((await events.next(BOUND_MS))?.data.get("id"), "web1");
});

fleetTest("a master whose port is taken says which, and leaves nothing behind", {}, async (fleet) => {
  const root = Deno.makeTempDirSync({ prefix: "second_" });
  for (const taken of ["publish_port", "ret_port"] as const) {
    const opts = {
      ...fleet.masterOpts,
      pki_dir: fleet.masterOpts.pki_dir,
      cachedir: `${root}/cache`,
      sock_dir: `${root}/sock`,
      publish_port: 0,
      ret_port: 0,
      [taken]: fleet.masterOpts[taken],
    };
    Deno.mkdirSync(opts.sock_dir, { recursive: true });
    Deno.mkdirSync(opts.cachedir, { recursive: true });
    const logged: string[] = [];
    const log = { ...SILENT_LOGGER, critical: (text: string) => logged.push(text), level: 50 };
    const { message } = await assertRejects(() => Master.start(opts, log), PreflightError);
    assertMatch(message, new RegExp(`^Cannot listen on ${taken} ${opts[taken]}: .*[Aa]ddress already in use`));
    assertEquals([...Deno.readDirSync(opts.sock_dir)], []);
    assertEquals(logged, []);
  }
  Deno.removeSync(root, { recursive: true });
  await ping(fleet);
});

fleetTest("200 jobs published at once go out with increasing serials, each once", {}, async (fleet) => {
  const { masterOpts } = fleet;
  const minion = scripted(fleet, "web1", await testKey("web1"));
  await minion.signIn();
  using publishes = await Publishes.listen(masterOpts, minion);
  const channels = Array.from({ length: 10 }, () => openChannel(fleet));
  const jids = await Promise.all(Array.from({ length: 200 }, async (_, n) => {
    const timeouts = { timeoutMs: BOUND_MS, tries: 1 };
    const reply = asMap(opened(await channels[n % 10].request(publishRequest(masterOpts, { arg: [n] }), timeouts)));
    return asMap(reply.get("load")).get("jid");
  }));
  for (const channel of channels) channel.close();
  // Each MWorker has its own socket to the Publisher: a later job of one MWorker may arrive before an earlier one of
  // another.
  const received = await publishes.rest();
  await eventually(async () => received.length >= jids.length || (received.push(...await publishes.rest()), false), {
    what: "all jobs",
  });
  const serials = received.map((load) => Number(load.get("serial")));
  assertEquals(serials.filter((serial, i) => i > 0 && serial <= serials[i - 1]), []);
  assertEquals(received.map((load) => load.get("jid")).sort(), jids.sort());
});

Deno.test("with fileserver_events a master fires an event of each change of its file roots", () =>
  withTemporaryDirectory(async (root) => {
    await using fleet = await startFleet({
      master: { fileserver_events: true, roots_update_interval: 1, file_roots: { base: [root] } },
    });
    using events = await fleet.listen("salt/fileserver/roots/update");
    Deno.writeTextFileSync(`${root}/new.txt`, "new");
    const added = await eventually(async () => {
      const files = (await events.next(60_000))?.data.get("files");
      const found = isMap(files) ? files.get("added") : undefined;
      return Array.isArray(found) && found.length > 0 && found;
    }, { what: "the event of the file" });
    assertEquals(added, [`${root}/new.txt`]);
  }));
