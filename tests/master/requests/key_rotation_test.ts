/**
 * A master that replaces its shared key and its sessions.
 * @module
 */

import { lexists } from "#lib/os/file_kind.ts";
import { parsePublished } from "#lib/protocol/payload.ts";
import { assert, assertEquals, assertNotEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually, fleetTest, startFleet } from "#tests/support/fleet/fleet.ts";
import { BOUND_MS, openChannel, scripted } from "#tests/support/fleet/master_requests.ts";
import { Publishes, publishRequest } from "#tests/support/fleet/publishes.ts";
import { asMap, testKey } from "#tests/support/fleet/scripted_minion.ts";

fleetTest("a dropfile rotates the shared key: serials start again, and old keys decrypt nothing", {
  master: { loop_interval: 0.2 },
}, async (fleet) => {
  const { masterOpts } = fleet;
  using channel = openChannel(fleet);
  using events = await fleet.listen("key");
  const minion = scripted(fleet, "web1", await testKey("web1"));
  await minion.signIn();
  using publishes = await Publishes.listen(masterOpts, minion);
  const publish = async () => {
    await channel.request(publishRequest(masterOpts), { timeoutMs: BOUND_MS, tries: 1 });
    return await received();
  };
  const received = async () => parsePublished((await publishes.inbox.receive(BOUND_MS))?.[0] ?? new Uint8Array());
  const old = minion.shared;
  const session = minion.session?.keyString;
  assert(old !== undefined);
  old.loads((await publish()).load);

  const dropfile = `${masterOpts.cachedir}/.dfn`;
  // A dropfile that other users could have created is ignored.
  Deno.writeTextFileSync(dropfile, "", { mode: 0o644 });
  await eventually(() => fleet.logs.some((line) => line.includes("Ignored")), { what: "the refusal" });
  Deno.removeSync(dropfile);
  Deno.writeTextFileSync(dropfile, "another_master", { mode: 0o400 });
  await eventually(() => fleet.logs.some((line) => line.includes("another_master")), { what: "the refusal" });
  if (lexists(dropfile)) Deno.removeSync(dropfile);
  old.loads((await publish()).load);

  Deno.writeTextFileSync(dropfile, masterOpts.id, { mode: 0o400 });
  assertEquals((await events.next(BOUND_MS))?.data.get("rotate_aes_key"), true);
  assert(!lexists(dropfile), "the dropfile is used up");
  assertEquals(asMap(old.loads((await received()).load)).get("cmd"), "_rekey");
  const { load, sig, sigAlgorithm } = await publish();
  let opens = true;
  try {
    old.loads(load);
  } catch {
    opens = false;
  }
  assert(!opens, "the old key still opens what is published");
  const { inner } = await minion.signIn();
  assertNotEquals(minion.shared?.keyString, old.keyString);
  assertEquals(minion.session?.keyString, session, "sessions stay");
  const job = asMap(minion.shared?.loads(load));
  assertEquals(job.get("serial"), 1);
  assert(sig !== undefined && sigAlgorithm === "PKCS1v15-SHA1" && inner.has("pub_key"));
  assertEquals(await minion.request({ cmd: "_master_tops" }), new Map());
});

fleetTest("no job is lost while the shared key and the sessions are replaced by age", {
  minions: ["web1"],
  master: { publish_session: 1, loop_interval: 0.3 },
}, async (fleet) => {
  const shared = new Set<string>();
  const deadline = performance.now() + BOUND_MS;
  for (let n = 0; shared.size < 4 || n < 12; n++) {
    assert(performance.now() < deadline, `${shared.size} keys after ${n} jobs`);
    const run = await fleet.salt("--out=json", "--static", "web1", "test.echo", `job ${n}`);
    assertEquals([run.code, JSON.parse(run.out || "null")], [0, { web1: `job ${n}` }], run.err);
    const rotated = fleet.logs.filter((line) => line.includes("Rotating the AES key")).length;
    shared.add(String(rotated));
  }
});

fleetTest("a new shared key is announced: each minion asks for it under its session before it is used; none signs in", {
  minions: ["web1", "db1"],
  master: { loop_interval: 0.2, auth_events: true },
}, async (fleet) => {
  using signIns = await fleet.listen("salt/auth");
  using rotations = await fleet.listen("key");
  for (let round = 0; round < 3; round++) {
    Deno.writeTextFileSync(`${fleet.masterOpts.cachedir}/.dfn`, "", { mode: 0o400 });
    assertEquals((await rotations.next(BOUND_MS))?.data.get("rotate_aes_key"), true);
    const run = await fleet.salt("--out=json", "--static", "*", "test.echo", `round ${round}`);
    assertEquals(JSON.parse(run.out), { web1: `round ${round}`, db1: `round ${round}` }, run.err);
  }
  const count = (text: string) => fleet.logs.filter((line) => line.includes(text)).length;
  assertEquals([count("Got the next shared key"), count("Took the announced shared key")], [6, 6]);
  assertEquals(count("A publish cannot be decrypted"), 0);
  assertEquals(await signIns.next(0), undefined, "a minion signed in");
});

fleetTest("a minion that missed the announcement asks for the new key under its session", {
  minions: ["web1"],
  // With syndics below it a master announces nothing.
  master: { loop_interval: 0.2, auth_events: true, order_masters: true, syndic_wait: 0 },
}, async (fleet) => {
  using signIns = await fleet.listen("salt/auth");
  using rotations = await fleet.listen("key");
  Deno.writeTextFileSync(`${fleet.masterOpts.cachedir}/.dfn`, "", { mode: 0o400 });
  assertEquals((await rotations.next(BOUND_MS))?.data.get("rotate_aes_key"), true);
  const run = await fleet.salt("--out=json", "--static", "*", "test.ping");
  assertEquals(JSON.parse(run.out), { web1: true }, run.err);
  assertEquals(fleet.logs.filter((line) => line.includes("Got the new shared key")).length, 1);
  assertEquals(await signIns.next(0), undefined, "a minion signed in");
});

fleetTest("an announced key is given to accepted minions only, and not before it is announced", {
  master: { loop_interval: 0.2 },
}, async (fleet) => {
  const [minion, deleted] = [
    scripted(fleet, "web1", await testKey("web1")),
    scripted(fleet, "db1", await testKey("db1")),
  ];
  await minion.signIn();
  await deleted.signIn();
  const ask = async () => asMap(await minion.request({ cmd: "_rekey" }));
  assertEquals((await ask()).get("next"), "");
  using publishes = await Publishes.listen(fleet.masterOpts, minion);
  fleet.keys.remove("db1");
  Deno.writeTextFileSync(`${fleet.masterOpts.cachedir}/.dfn`, "", { mode: 0o400 });
  const { load } = parsePublished((await publishes.inbox.receive(BOUND_MS))?.[0] ?? new Uint8Array());
  const announced = asMap(minion.shared?.loads(load));
  assertEquals([announced.get("cmd"), announced.get("within"), announced.get("tgt")], ["_rekey", 3, []]);
  const next = (await ask()).get("next");
  assert(typeof next === "string" && next !== minion.shared?.keyString);
  await assertRejects(async () => asMap(await deleted.request({ cmd: "_rekey" })));
  const isUsed = async () => {
    const answer = await ask();
    return answer.get("aes") === next && answer.get("next") === "";
  };
  await eventually(isUsed, { what: "the use of the announced key" });
});

fleetTest("a session that is old is replaced by a sign-in, and a deleted key gets no shared key", {
  master: { publish_session: 60 },
}, async (fleet) => {
  const minion = scripted(fleet, "web1", await testKey("web1"));
  const { inner } = await minion.signIn();
  assertEquals(inner.get("rekey"), true);
  const ask = async () => asMap(await minion.request({ cmd: "_rekey" }));
  const young = await ask();
  assertEquals([young.get("aes"), young.get("renew")], [minion.shared?.keyString, false]);
  assert(typeof young.get("generation") === "number");
  const session = `${fleet.masterOpts.cachedir}/sessions/web1`, old = (Date.now() - 61_000) / 1000;
  Deno.utimeSync(session, old, old);
  assertEquals((await ask()).get("renew"), true);
  fleet.keys.remove("web1");
  await assertRejects(ask);
});

fleetTest("ping_on_rotate has every minion fetch the new key", {
  minions: ["web1"],
  master: { ping_on_rotate: true, loop_interval: 0.2 },
}, async (fleet) => {
  using events = await fleet.listen("salt/job/");
  Deno.writeTextFileSync(`${fleet.masterOpts.cachedir}/.dfn`, "", { mode: 0o400 });
  let event = await events.next(BOUND_MS);
  while (event !== undefined && !event.tag.endsWith("/ret/web1")) event = await events.next(BOUND_MS);
  assertEquals([event?.data.get("fun"), event?.data.get("return")], ["test.ping", true]);
});

function mount(...args: string[]): boolean {
  try {
    return new Deno.Command("mount", { args, stderr: "null" }).outputSync().success;
  } catch {
    return false;
  }
}

function canMount(): boolean {
  if (Deno.uid() !== 0 || Deno.build.os !== "linux") return false;
  const dir = Deno.makeTempDirSync({ prefix: "mount_" });
  const mounted = mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", dir);
  if (mounted) new Deno.Command("umount", { args: [dir] }).outputSync();
  Deno.removeSync(dir);
  return mounted;
}

for (const how of ["a file in the way", "a full disk"] as const) {
  const ignore = how === "a full disk" && !canMount();
  Deno.test({
    name: `a job returns to the command when the cache cannot be written: ${how}`,
    ignore,
    fn: async () => {
      await using fleet = await startFleet({ minions: ["web1"] });
      const jobs = `${fleet.masterOpts.cachedir}/jobs`;
      if (lexists(jobs)) Deno.removeSync(jobs, { recursive: true });
      if (how === "a full disk") {
        Deno.mkdirSync(jobs);
        mount("-t", "tmpfs", "-o", "size=64k", "tmpfs", jobs);
        try {
          Deno.writeFileSync(`${jobs}/ballast`, new Uint8Array(1_000_000));
        } catch {
          // the disk is full, as intended
        }
      } else Deno.writeTextFileSync(jobs, "");
      try {
        const run = await fleet.salt("--out=json", "--static", "web1", "test.echo", "through");
        assertEquals([run.code, JSON.parse(run.out || "null")], [0, { web1: "through" }], run.err);
        const errors = fleet.logs.filter((line) => line.includes("[ERROR]"));
        assert(
          errors.some((line) => /Job \d{20} is published, but is not in the job cache/.test(line)),
          errors.join("\n"),
        );
        assert(
          errors.some((line) => /The return of web1 for job \d{20} is not in the job cache/.test(line)),
          errors.join("\n"),
        );
      } finally {
        if (how === "a full disk") new Deno.Command("umount", { args: [jobs] }).outputSync();
      }
    },
  });
}
