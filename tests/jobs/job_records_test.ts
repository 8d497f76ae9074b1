/** What is kept of a job besides its load and its returns: acknowledgements, marks, live output, batches. */
import { StoreError } from "#lib/errors.ts";
import type { SyncJobStore } from "#lib/jobs/store.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { batchState } from "#tests/support/fleet/batch_state.ts";

const JID = "20240102030405678901";
const UNKNOWN = "20240102030405678902";

/** A store with one job, and the directory of that job. */
function withJob(run: (store: SyncJobStore, directory: string, cachedir: string) => void): () => void {
  return () => {
    const cachedir = Deno.makeTempDirSync({ prefix: "job_records_" });
    try {
      const store = jobStore(cachedir, { maxOutputBytes: 200, log: () => {} });
      store.prepare(JID);
      const [top] = [...Deno.readDirSync(`${cachedir}/jobs`)];
      const [rest] = [...Deno.readDirSync(`${cachedir}/jobs/${top.name}`)];
      run(store, `${cachedir}/jobs/${top.name}/${rest.name}`, cachedir);
    } finally {
      Deno.removeSync(cachedir, { recursive: true });
    }
  };
}

Deno.test(
  "acknowledgements are kept by minion; those of no job, of no minion and those cut off are none",
  withJob(({ acks }, directory) => {
    assertEquals([acks.all(JID).size, acks.all(UNKNOWN).size, acks.all("no jid").size], [0, 0, 0]);
    acks.save(JID, "web1", { state: "received", sinceMs: 5 });
    acks.save(JID, "web1", { state: "running", sinceMs: 7 });
    acks.save(JID, "../web2", { state: "running", sinceMs: 7 });
    acks.save(UNKNOWN, "web1", { state: "running", sinceMs: 7 });
    Deno.writeFileSync(`${directory}/.acks/web3`, encode(map({ state: "other" }), "disk"));
    Deno.writeFileSync(`${directory}/.acks/web4`, Uint8Array.of(0x82, 0xa5));
    Deno.writeFileSync(`${directory}/.acks/.web5`, encode(map({ state: "running" }), "disk"));
    Deno.writeFileSync(`${directory}/.acks/web6`, encode(map({ state: "running" }), "disk"));
    assertEquals(
      acks.all(JID),
      new Map([["web1", { state: "running", sinceMs: 7 }], ["web6", { state: "running", sinceMs: 0 }]]),
    );
    // A cleaner may have removed the job meanwhile.
    Deno.removeSync(directory, { recursive: true });
    acks.save(JID, "web1", { state: "running", sinceMs: 8 });
    assertEquals(acks.all(JID).size, 0);
  }),
);

Deno.test(
  "a hidden job has the key that its returns are sealed for, other jobs have none",
  withJob(({ noLog }) => {
    noLog.save(JID, "a key");
    assertEquals([noLog.reader(JID), noLog.reader(UNKNOWN)], ["a key", undefined]);
    assertEquals(noLog.reader("no jid"), undefined);
  }),
);

Deno.test(
  "live output is kept in order, each batch once, and only of a job that is watched",
  withJob(({ outputs }, directory) => {
    const batch = (seq: number, text = "a") => ({ seq, parts: [{ command: 1, stream: "stdout" as const, text }] });
    assertEquals([outputs.append(JID, "web1", batch(1)), outputs.append(UNKNOWN, "web1", batch(1))], [
      "refused",
      "refused",
    ]);
    assertEquals([outputs.ids(JID), outputs.read(JID, "web1"), outputs.read(JID, "../x")], [[], [], []]);
    outputs.open(JID);
    assertEquals(outputs.has(JID, "web1"), false);
    const seqs = [1, 2, 2, 1, 4].map((seq) => outputs.append(JID, "web1", batch(seq)));
    assertEquals(seqs, ["stored", "stored", "duplicate", "duplicate", "stored"]);
    assertEquals([outputs.has(JID, "web1"), outputs.ids(JID)], [true, ["web1"]]);

    // Another thread of the master has the file as it is, also if a full disk has cut its end.
    const path = `${directory}/.live/web1`;
    Deno.writeFileSync(path, Uint8Array.of(0, 0, 1, 0, 0x82), { append: true });
    const other = jobStore(directory.slice(0, directory.indexOf("/jobs/")), { maxOutputBytes: 200 }).outputs;
    assertEquals([other.append(JID, "web1", batch(4)), other.append(JID, "web1", batch(5))], ["duplicate", "stored"]);
    assertEquals(other.read(JID, "web1").map(({ seq }) => seq), [1, 2, 4, 5]);

    assertEquals(other.append(JID, "web1", batch(6, "b".repeat(300))), "stored");
    assertEquals(other.append(JID, "web1", batch(7)), "refused"); // it has its length
    assertEquals([outputs.append(JID, "../x", batch(1)), outputs.append("no jid", "web1", batch(1))], [
      "refused",
      "refused",
    ]);
    Deno.mkdirSync(`${directory}/.live/web2`);
    Deno.symlinkSync("/dev/full", `${directory}/.live/web3`);
    for (const id of ["web2", "web3"]) {
      assertThrows(() => outputs.append(JID, id, batch(1)), StoreError, "keep what a command wrote");
    }
  }),
);

Deno.test(
  "a record that is no batch ends what is read of live output",
  withJob(({ outputs }, directory) => {
    outputs.open(JID);
    outputs.append(JID, "web1", { seq: 1, parts: [{ leftOut: 3 }] });
    const other = encode("no batch", "disk");
    Deno.writeFileSync(`${directory}/.live/web1`, Uint8Array.of(0, 0, 0, other.length, ...other), { append: true });
    assertEquals(outputs.read(JID, "web1"), [{ seq: 1, parts: [{ leftOut: 3 }] }]);
  }),
);

const BATCH = batchState({
  jid: JID,
  minions: ["web1", "web2", "web3"],
  pending: ["web3"],
  active: new Map([["web2", 1_500]]),
  done: new Map([["web1", 2]]),
  failed: new Map([["web0", "no answer"]]),
  fun: "test.arg",
  arg: [1, "a"],
  kwargs: map({ b: 2 }),
  tgt: "web*",
  failhard: true,
  waitS: 0.5,
  progressMs: 2_000,
  createdMs: 1_000,
  pid: 4711,
});

Deno.test(
  "the state of a batch is read as it was kept, and is active until it is halted or over",
  withJob(({ batches }, _directory, cachedir) => {
    assertEquals([batches.read(JID), batches.active()], [undefined, []]);
    batches.save(BATCH);
    batches.save(BATCH);
    assertEquals([batches.read(JID), batches.active()], [BATCH, [BATCH]]);
    const other = jobStore(cachedir).batches;
    const halted = { ...BATCH, halted: "failhard" };
    other.save(halted);
    assertEquals([batches.read(JID), batches.active()], [halted, []]);
    const over = { ...BATCH, pending: [], active: new Map(), driver: "cli" as const, pid: undefined };
    for (const state of [BATCH, over]) batches.save(state);
    assertEquals([batches.read(JID), batches.active()], [over, []]);
  }),
);

Deno.test(
  "a state of a batch without most of its fields is read with Salt's defaults",
  withJob(({ batches }, directory) => {
    Deno.writeFileSync(
      `${directory}/.batch.p`,
      encode(map({ halted: true, done: map({ web1: 3 }), arg: null }), "disk"),
    );
    const state = batches.read(JID);
    assertEquals(
      [state?.halted, state?.done, state?.arg, state?.size, state?.timeoutS, state?.gatherS, state?.driver, state?.pid],
      ["stop", new Map([["web1", 0]]), [], 1, 60, 10, "cli", undefined],
    );
  }),
);
