/** @module */
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { samePem } from "#lib/crypto/pem.ts";
import { MasterPairs } from "#lib/keys/master_pairs.ts";
import {
  readMasterFiles,
  rotateMasterPair,
  settleMasterPair,
  undeliveredSecret,
  writeNextPair,
} from "#lib/keys/master_rotation.ts";
import { loadOrCreateMasterKey } from "#lib/keys/pair.ts";
import { undeliveredKey } from "#lib/keys/undelivered_key.ts";
import { KeyError } from "#lib/errors.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const BITS = 1024, ID = "m1_master";
const TIMES = { keysize: BITS, nowMs: 10_000, notBeforeMs: 20_000, notAfterMs: 30_000 };

interface Site {
  readonly place: { readonly pki_dir: string; readonly id: string };
  readonly own: PrivateKey;
}

function site(run: (site: Site) => Promise<void>): Promise<void> {
  return withTemporaryDirectory(async (pki_dir) => {
    await run({ place: { pki_dir, id: ID }, own: await loadOrCreateMasterKey(pki_dir, BITS, { id: ID }) });
  });
}

Deno.test("the next pair is announced, used beside the old one, and then alone", () =>
  site(async ({ place, own }) => {
    let nowMs = 10_000;
    const pairs = new MasterPairs(place, own.pem, () => nowMs);
    const seen = () => [pairs.current, pairs.newest].map(({ publicKey }) => samePem(publicKey.pem, own.publicKey.pem));
    assertEquals([...seen(), pairs.statements.length, pairs.next], [true, true, 0, undefined]);
    const { statement, isNew } = await rotateMasterPair(place, TIMES);
    // What another thread has written is seen within a tenth of a second.
    nowMs += 100;
    assertEquals([isNew, pairs.statements.length, pairs.next?.publicKey.pem], [true, 1, statement.next]);
    assertEquals(seen(), [true, true]);
    nowMs = 20_000;
    assertEquals(seen(), [true, false]);
    nowMs = 30_000;
    assertEquals([...seen(), pairs.next], [false, false, undefined]);
    settleMasterPair(place, nowMs);
    const after = new MasterPairs(place, own.pem, () => nowMs);
    for (const each of [pairs, after]) {
      assertEquals([each.current, each.newest].map(({ publicKey }) => publicKey.pem), [statement.next, statement.next]);
    }
    assertEquals(Deno.readTextFileSync(`${place.pki_dir}/master.pub`).trim(), statement.next);
    assertEquals((await loadOrCreateMasterKey(place.pki_dir, BITS, { id: ID })).publicKey.pem, statement.next);
    assertEquals(undeliveredKey(undeliveredSecret(place.pki_dir, "another")), undeliveredKey(own.pem));
  }));

const FILES = ["master_next.pem", "master_statements.p", "master.pem", "master.pub", "undelivered.key"];

/** The modes of the files of a pair, those that are there. */
function filesIn(directory: string): Record<string, string> {
  const there = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) => FILES.includes(name)).sort();
  return Object.fromEntries(there.map((name) => {
    const { mode } = Deno.statSync(`${directory}/${name}`);
    return [name, ((mode ?? 0) & 0o7777).toString(8)];
  }));
}

Deno.test("private keys are for the master alone, before and after the change; others may read what is public", () =>
  site(async ({ place }) => {
    await rotateMasterPair(place, TIMES);
    const { "master_next.pem": next, "master_statements.p": statements } = filesIn(place.pki_dir);
    assertEquals([next, statements], ["400", "644"]);
    settleMasterPair(place, 30_000);
    assertEquals(filesIn(place.pki_dir), {
      "master.pem": "400",
      "master.pub": "644",
      "master_statements.p": "644",
      "undelivered.key": "400",
    });
  }));

Deno.test({
  name: "what root's command writes belongs to the master, whose directory it is",
  ignore: Deno.uid() !== 0,
  fn: () =>
    site(async ({ place }) => {
      const { pki_dir } = place;
      Deno.chownSync(pki_dir, 65534, 65534);
      await rotateMasterPair(place, TIMES);
      const owners = () => Object.keys(filesIn(pki_dir)).map((name) => [name, Deno.statSync(`${pki_dir}/${name}`).uid]);
      const written = Object.fromEntries(owners());
      assertEquals([written["master_next.pem"], written["master_statements.p"]], [65534, 65534]);
      settleMasterPair(place, 30_000);
      assertEquals(owners().filter(([, uid]) => uid !== 65534), []);
    }),
});

Deno.test("a pair that was never replaced is settled already: nothing is written", () =>
  site(async ({ place }) => {
    const names = () => [...Deno.readDirSync(place.pki_dir)].map(({ name }) => name).sort();
    const before = names();
    assertEquals([settleMasterPair(place, 30_000), names()], [undefined, before]);
    await rotateMasterPair(place, TIMES);
    assertEquals(settleMasterPair(place, 20_000), undefined);
  }));

Deno.test("a second rotation waits for the end of the first", () =>
  site(async ({ place }) => {
    const first = await rotateMasterPair(place, TIMES);
    const second = await rotateMasterPair(place, { ...TIMES, nowMs: 25_000 });
    assertEquals([second.isNew, second.statement.next], [false, first.statement.next]);
    const third = await rotateMasterPair(place, { ...TIMES, nowMs: 30_000, notBeforeMs: 40_000, notAfterMs: 50_000 });
    assertEquals([third.isNew, third.statement.old], [true, first.statement.next]);
    assertEquals(readMasterFiles(place).statements.length, 2);
  }));

Deno.test("a crash between any two steps leaves a pair that minions trust, and the next start does the rest", () =>
  site(async ({ place, own }) => {
    const { pki_dir } = place;
    // Killed before the statement was written: the pair is nobody's.
    Deno.writeTextFileSync(`${pki_dir}/master_next.pem`, (await PrivateKey.generate(BITS)).pem, { mode: 0o400 });
    assertEquals(readMasterFiles(place).next, undefined);
    const { statement } = await rotateMasterPair(place, TIMES);
    // Killed between the rename and the public key.
    Deno.renameSync(`${pki_dir}/master_next.pem`, `${pki_dir}/master.pem`);
    assertEquals(Deno.readTextFileSync(`${pki_dir}/master.pub`).trim(), own.publicKey.pem);
    settleMasterPair(place, 31_000);
    assertEquals((await loadOrCreateMasterKey(pki_dir, BITS, { id: ID })).publicKey.pem, statement.next);
    // The next pair alone is lost: the own one goes on, and no statement speaks of the lost one.
    const later = await rotateMasterPair(place, { ...TIMES, nowMs: 31_000, notBeforeMs: 40_000, notAfterMs: 50_000 });
    Deno.removeSync(`${pki_dir}/master_next.pem`);
    const pairs = new MasterPairs(place, own.pem, () => 60_000);
    assertEquals([pairs.current.publicKey.pem, pairs.newest.publicKey.pem], [statement.next, statement.next]);
    assertEquals(pairs.statements.map(({ next }) => next), [statement.next]);
    assert(later.isNew);
  }));

Deno.test("without a key pair there is nothing to replace, and two processes do not replace it at once", () =>
  site(async ({ place }) => {
    using other = Deno.openSync(`${place.pki_dir}/.master_keys.lock`, { create: true, write: true });
    other.lockSync(true);
    await assertRejects(() => rotateMasterPair(place, TIMES), KeyError, "Another process changes the key pair");
    other.unlockSync();
    Deno.removeSync(`${place.pki_dir}/master.pem`);
    await assertRejects(() => rotateMasterPair(place, TIMES), KeyError, "has no master.pem");
    // A statement about a pair that is gone changes nothing.
    writeNextPair(place, { pem: undefined, statements: [] });
    assertEquals(settleMasterPair(place, 30_000), undefined);
  }));
