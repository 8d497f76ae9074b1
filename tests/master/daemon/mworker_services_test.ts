/** Jobs of an MWorker where the disk or the cluster fails: they are published, and what is missing is named. */

import { ownConnection } from "#tests/support/fleet/attempts.ts";
import { createAccessKeys } from "#lib/auth/access.ts";
import { type ClusterHandlers, serveCluster } from "#lib/cluster/cluster_messages.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import { StoreError } from "#lib/errors.ts";
import { FiredReturns } from "#lib/jobs/fired_returns.ts";
import { SessionKeys } from "#lib/keys/sessions.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { openServices } from "#lib/master/daemon/mworker_services.ts";
import { rateMemory } from "#lib/master/requests/rate_limit.ts";
import { signInMemory } from "#lib/master/requests/sign_in_turns.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { ZmqContext } from "#lib/sockets/libzmq.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map } from "#lib/values/value.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const JID = "20260101000000000001";

Deno.test("a job that cannot be kept, or not be given to the other masters, is published and named", async () => {
  using site = await testServices();
  const { opts } = site, { log, lines } = memoryLog(), { port1, port2 } = new MessageChannel();
  const handlers: ClusterHandlers = { publish: () => Promise.reject(new StoreError("the database is away", "")) };
  serveCluster(handlers, port2);
  Deno.mkdirSync(opts.sock_dir, { recursive: true });
  const inbox = Inbox.pull(), context = ZmqContext.create();
  await inbox.bind(`ipc://${publishPullPath(opts.sock_dir)}`);
  const { services: { jobs }, close } = openServices(opts, {
    sharedKey: new SharedKey().memory,
    sessions: new SessionKeys(opts.cachedir, opts.publish_session * 1000).memory,
    verified: new VerifiedTokens().memory,
    fired: new FiredReturns().memory,
    signInLimit: rateMemory(),
    signIns: { turns: signInMemory(), others: rateMemory() },
    events: { context: context.address, address: "inproc://events" },
    masterPem: "",
    jobSecret: "a secret",
    publishPort: 4505,
    accessKeys: createAccessKeys(opts.cachedir, ["root"]),
    owner: "root",
    clusterPort: port1,
  }, {
    log,
    plugins: { backends: BACKENDS, loadEauth: () => Promise.resolve(undefined) },
    onWait: ownConnection,
    post: () => {},
  });
  try {
    Deno.removeSync(`${opts.cachedir}/undelivered`, { recursive: true });
    Deno.writeTextFileSync(`${opts.cachedir}/undelivered`, "no directory");
    const load = map({ jid: JID, fun: "test.ping" }), delivery = { minions: ["web1"], ttlMs: 60_000, live: false };
    await jobs.publish(load, delivery);
    const [frame] = await inbox.receive(30_000) ?? [];
    assert(frame !== undefined);
    const sent = decode(frame, "disk");
    assertEquals(isMap(sent) && sent.get("load"), load);
    await jobs.share(load, delivery);
    const [kept, shared, ...others] = lines;
    assertMatch(kept, new RegExp(`^ERROR .*job ${JID}`));
    assertEquals(shared, `ERROR Job ${JID} is not given to the other masters yet: the database is away`);
    assertEquals(others, []);
  } finally {
    await close(new TimeBudget(1_000));
    inbox.close();
    port2.close();
  }
});
