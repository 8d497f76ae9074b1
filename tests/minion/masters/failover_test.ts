/**
 * A minion with one master of a list at a time: `master_type: failover` and `distributed`.
 * @module
 */

import { jobStore } from "#tests/support/fleet/job_store.ts";
import { runJob, startJob } from "#tests/support/fleet/jobs.ts";
import { mastersTest, untilLogged } from "#tests/support/fleet/masters.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SignInError } from "#lib/errors.ts";
import { type Fleet, untilKey } from "#tests/support/fleet/fleet.ts";
import { fireEvent } from "#lib/bus/fire.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { map } from "#lib/values/value.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";

const FAILOVER = { master_type: "failover", master_alive_interval: 1 };

mastersTest(
  "the next master serves when the first is lost, and gets the return that waits; the first takes over again",
  2,
  {
    minion: { ...FAILOVER, master_failback: true },
  },
  async (site) => {
    const [a, b] = site.fleets, path = `${a.root}/go`;
    await site.serve("web1", {}, [a]);
    const { jid } = await startJob(a, "cmd.run", {
      arg: [`for _ in $(seq 1500); do [ -e ${path} ] && break; sleep 0.02; done; echo late`],
      kwargs: { python_shell: true },
      signal: AbortSignal.abort(),
    });
    await untilLogged(site, "Executing command 'for'");
    using returns = await b.listen(`salt/job/${jid}/ret/`);
    await b.untilServing(["web1"], () => a.stopMaster());
    assertEquals((await runJob(b, "test.ping")).get("web1"), true);
    const options = await runJob(b, "config.get", { arg: ["master_port"] });
    assertEquals(options.get("web1"), b.masterOpts.ret_port);
    Deno.writeTextFileSync(path, "");
    assertEquals((await returns.next(30_000))?.data.get("return"), "late");
    await a.startMaster();
    await untilLogged(site, `The master is ${site.list[0]} now`);
    assertEquals((await runJob(a, "test.ping")).get("web1"), true);
    const { cachedir, hash_type } = a.masterOpts;
    assertEquals(jobStore(cachedir, { hashType: hash_type }).getReturn(jid, "web1"), undefined);
    // A master that refuses the minion by now is left for the next one, and the minion does not end.
    assertEquals((await a.saltKey("--reject", "web1", "--include-accepted", "--yes")).code, 0);
    await untilKey(a, "web1", "rejected");
    const event = map({ tag: "my/tag", data: map({ n: 1 }) });
    await b.untilServing(["web1"], () => fireEvent(minionBus(a.minionOpts("web1")), "fire_master", event));
    assertEquals((await runJob(b, "test.ping")).get("web1"), true);
    assertStringIncludes(site.logs.join("\n"), "refuses this minion: Minion failed to authenticate with the master");
  },
);

mastersTest("a master whose operator has not accepted the key is left for the next", 2, {
  autoAccept: false,
  minion: FAILOVER,
}, async (site) => {
  const [a, b] = site.fleets;
  await site.startMinion("web1");
  await untilLogged(site, "No master could be reached or all masters denied the minion's connection attempt.");
  await b.saltKey("-y", "-a", "web1");
  await untilLogged(site, `Signed in to the master at tcp://${site.list[1]}`);
  assertEquals(a.keys.list("pending"), ["web1"]);
  await eventually(async () => (await b.salt("web1", "test.ping", "-t", "5")).out.includes("True"), {
    what: "a return",
  });
});

mastersTest("without master_alive_interval a minion stays with its master", 2, {
  minion: { master_type: "failover" },
}, async (site) => {
  const [a, b] = site.fleets;
  await site.serve("web1", {}, [a]);
  await a.stopMaster();
  await untilLogged(site, /No master answers at .* \(try 4\)/);
  await a.startMaster();
  await eventually(async () => (await a.salt("web1", "test.ping", "-t", "5")).out.includes("True"), {
    what: "a return",
  });
  assertEquals(b.keys.list("accepted"), []);
});

mastersTest("distributed: the id decides which master serves", 2, { minion: { master_type: "distributed" } }, async (
  site,
) => {
  const [a, b] = site.fleets;
  // crc32 of these ids, modulo 2: 0 and 1.
  await site.serve("web1", {}, [crc32("web1") % 2 === 0 ? a : b]);
  await site.serve("web2", {}, [crc32("web2") % 2 === 0 ? a : b]);
  assertEquals([...a.keys.list("accepted"), ...b.keys.list("accepted")].sort(), ["web1", "web2"]);
});

function crc32(text: string): number {
  let crc = 0xffffffff;
  for (const byte of new TextEncoder().encode(text)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? crc >>> 1 ^ 0xedb88320 : crc >>> 1;
  }
  return ~crc >>> 0;
}

const signer = await PrivateKey.generate(2048);

mastersTest("masters with keys of their own serve in turn, if one key has signed them all", 2, {
  master: { master_sign_pubkey: true },
  minion: { ...FAILOVER, verify_master_pubkey_sign: true },
  sharesKey: false,
  signingKey: signer.pem,
}, async (site) => {
  const [a, b] = site.fleets;
  const pki = `${a.minionConfigDir("web1")}/etc/salt/pki/minion`;
  Deno.mkdirSync(pki, { recursive: true });
  Deno.writeTextFileSync(`${pki}/master_sign.pub`, signer.publicKey.pem);
  await site.serve("web1", {}, [a]);
  const first = Deno.readTextFileSync(`${pki}/minion_master.pub`);
  await b.untilServing(["web1"], () => a.stopMaster());
  assertEquals((await runJob(b, "test.ping")).get("web1"), true);
  assertEquals(Deno.readTextFileSync(`${pki}/minion_master.pub`) === first, false);
});

mastersTest(
  "master_type: func: an execution function names the masters, and a function that fails ends the minion",
  1,
  {
    minion: { master_type: "func" },
  },
  async (site) => {
    const [a] = site.fleets;
    // It returns what the configuration has.
    await site.serve("web1", { master: "mymasters.all", module_dirs: [`${a.root}/modules`] }, [
      withModule(a, site.list),
    ]);
    assertEquals((await runJob(a, "config.get", { arg: ["master_port"] })).get("web1"), a.masterOpts.ret_port);
    assertEquals((await a.saltCall("web1", "--out=json", "test.ping")).out, '{\n    "local": true\n}\n');
    const error = await assertRejects(() => site.startMinion("web2", { master: "no.such_function" }), SignInError);
    assertStringIncludes(error.message, "Failed to load module no.such_function");
  },
);

function withModule(fleet: Fleet, masters: readonly string[]): Fleet {
  Deno.mkdirSync(`${fleet.root}/modules/modules`, { recursive: true });
  Deno.writeTextFileSync(
    `${fleet.root}/modules/modules/mymasters.ts`,
    `export const all = { doc: "Return the masters.", params: {}, run: () => ${JSON.stringify(masters)} };\n`,
  );
  return fleet;
}

mastersTest("salt-call takes the first master that signs the minion in", 2, {}, async (site) => {
  const [a, b] = site.fleets;
  await a.stopMaster();
  a.minionOpts("web1", { master: site.list, auth_tries: 1, auth_timeout: 4 });
  const { code, out, err } = await a.saltCall("web1", "--out=json", "config.get", "master_port");
  assertEquals([code, out], [0, `{\n    "local": ${b.masterOpts.ret_port}\n}\n`]);
  assertStringIncludes(err, "the next of the list is tried");
});
