/** @module */
import { StoreError } from "#lib/errors.ts";
import { syncFileSystems } from "#lib/libc/sync.ts";
import { Journal, type JournalOptions, replayJournal } from "#lib/os/journal.ts";
import { frameRecord } from "#lib/os/record_file.ts";
import { sleep } from "#lib/os/sleep.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

function options(directory: string, log: string[] = []): JournalOptions {
  return { directory: `${directory}/journal`, files: [directory], log: (line) => log.push(line) };
}

const files = (directory: string) => [...Deno.readDirSync(`${directory}/journal`)].map(({ name }) => name);

async function replayed(directory: string): Promise<Value[]> {
  const records: Value[] = [];
  await replayJournal(options(directory), (record) => records.push(record));
  return records;
}

Deno.test("committed records are read by the next process, once; a journal that was closed leaves nothing", () =>
  withTemporaryDirectory(async (directory) => {
    assertEquals(await replayed(directory), []);
    const journal = new Journal(options(directory));
    await journal.commit(); // nothing is committed
    for (let i = 0; i < 5; i++) journal.append(map({ i }));
    await Promise.all([journal.commit(), journal.commit()]);
    // The copy is the file that a process killed at this point would leave for the next one.
    const [name] = files(directory);
    const left = Deno.readFileSync(`${directory}/journal/${name}`);
    await journal.close();
    await journal.close();
    assertEquals(files(directory), []);
    Deno.writeFileSync(`${directory}/journal/${name}`, left);
    Deno.writeTextFileSync(`${directory}/journal/notes.txt`, "somebody's own");
    assertEquals(await replayed(directory), [0, 1, 2, 3, 4].map((i) => map({ i })));
    assertEquals(files(directory), ["notes.txt"]);
  }));

Deno.test("a large journal is removed when its data are on the disk; it does not grow without limit", () =>
  withTemporaryDirectory(async (directory) => {
    const journal = new Journal(options(directory));
    const large = "x".repeat(1 << 20);
    let max = 0;
    for (let i = 0; i < 40; i++) {
      journal.append(map({ i, large }));
      await journal.commit();
      max = Math.max(max, files(directory).length);
    }
    await eventually(() => files(directory).length === 1, { what: "the removal of what is over" });
    assert(max < 8, `${max} files at once`);
    await journal.close();
  }));

Deno.test("a failed write rejects the waiting callers, and is repeated when the disk works again", () =>
  withTemporaryDirectory(async (directory) => {
    const journal = new Journal(options(directory));
    Deno.writeTextFileSync(`${directory}/journal`, "no directory");
    let refused = 0;
    try {
      journal.append(map({ i: 0 }));
    } catch (error) {
      assert(error instanceof StoreError);
      refused++;
    }
    assertEquals(refused, 1);
    Deno.removeSync(`${directory}/journal`);
    journal.append(map({ i: 1 }));
    await journal.commit();
    assertEquals(files(directory).length, 1);
    await journal.close();
  }));

Deno.test("if a record cannot be restored, the journal is kept for the next start", () =>
  withTemporaryDirectory(async (directory) => {
    Deno.mkdirSync(`${directory}/journal`);
    const name = `${directory}/journal/${"0".repeat(19)}1-0123abcd.log`;
    Deno.writeFileSync(name, frameRecord(Uint8Array.of(0x01), { checked: true })); // msgpack of 1
    await assertRejects(
      () =>
        replayJournal(options(directory), () => {
          throw new StoreError("full", "disk");
        }),
      StoreError,
    );
    assertEquals(await replayed(directory), [1]);
    assertEquals(await replayed(directory), []);
  }));

Deno.test("records that a failed sync may have lost are written to a new file, and the callers get the error", () =>
  withTemporaryDirectory(async (directory) => {
    const journal = new Journal(options(directory));
    journal.append(map({ i: 0 }));
    const { syncData } = Deno.FsFile.prototype;
    Deno.FsFile.prototype.syncData = () => Promise.reject(new Error("Input/output error (os error 5)"));
    try {
      await assertRejects(() => journal.commit(), StoreError, "Input/output error");
    } finally {
      Deno.FsFile.prototype.syncData = syncData;
    }
    journal.append(map({ i: 1 }));
    await journal.commit();
    await eventually(() => files(directory).length === 1, { what: "the removal of the first file" });
    const [name] = files(directory);
    const left = Deno.readFileSync(`${directory}/journal/${name}`);
    await journal.close();
    Deno.writeFileSync(`${directory}/journal/${name}`, left);
    assertEquals(await replayed(directory), [map({ i: 0 }), map({ i: 1 })]);
  }));

Deno.test("a file of the journal stays until those who wait for its sync have written their own files", () =>
  withTemporaryDirectory(async (directory) => {
    const journal = new Journal(options(directory));
    const { syncData } = Deno.FsFile.prototype;
    const [begun, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    Deno.FsFile.prototype.syncData = async function () {
      begun.resolve();
      await released.promise;
      await syncData.call(this);
    };
    const own = `${directory}/own`;
    let stays = false;
    try {
      journal.append(map({ large: "x".repeat(5 << 20) }));
      const written = journal.commit().then(() => Deno.writeTextFileSync(own, "as soon as the record is on the disk"));
      await begun.promise;
      const [old] = files(directory);
      journal.append(map({ i: 1 })); // the old file is full, and closed
      // By then the journal would have synced the file systems, too.
      for (let i = 0; i < 2; i++) await syncFileSystems([directory]);
      await sleep(100);
      stays = files(directory).includes(old);
      released.resolve();
      await written;
      await eventually(() => !files(directory).includes(old), { what: "the removal of the old file" });
    } finally {
      Deno.FsFile.prototype.syncData = syncData;
    }
    assert(stays, "the only copy of the record was removed");
    await journal.close();
  }));

Deno.test("a file of the journal that cannot be removed stays, and this is logged", () =>
  withTemporaryDirectory(async (directory) => {
    const log: string[] = [];
    const journal = new Journal(options(directory, log));
    journal.append(map({ i: 0 }));
    await journal.commit();
    const path = `${directory}/journal/${files(directory)[0]}`;
    Deno.removeSync(path);
    Deno.mkdirSync(`${path}/full`, { recursive: true });
    await journal.close();
    assertEquals(log.length, 1);
    assertMatch(log[0], /^Files of the journal stay, because the files of their records could not be synced: .*/);
    Deno.removeSync(path, { recursive: true });
  }));

Deno.test("a journal is closed before the disk is ready if there is no time, and this is logged", () =>
  withTemporaryDirectory(async (directory) => {
    class Over extends TimeBudget {
      override allows(): Promise<boolean> {
        return Promise.resolve(false);
      }
    }
    const log: string[] = [];
    const journal = new Journal(options(directory, log));
    journal.append(map({ i: 0 }));
    await journal.close(new Over(0));
    assertMatch(log.join("\n"), /^Files of the journal stay, because the disk is too busy/);
    await eventually(() => files(directory).length === 0, { what: "the removal of the file" });
  }));

Deno.test("a record that cannot be read is reported, and the others are restored", () =>
  withTemporaryDirectory(async (directory) => {
    Deno.mkdirSync(`${directory}/journal`);
    const frames = [[0xc1], [0x02]].map((bytes) => frameRecord(Uint8Array.from(bytes), { checked: true }));
    const name = `${"0".repeat(19)}1-0123abcd.log`;
    Deno.writeFileSync(`${directory}/journal/${name}`, new Uint8Array(frames.flatMap((frame) => [...frame])));
    const log: string[] = [];
    const records: Value[] = [];
    assertEquals(await replayJournal(options(directory, log), (record) => records.push(record)), 1);
    assertEquals(records, [2]);
    assertMatch(log.join("\n"), new RegExp(`^A record of .*/${name} cannot be read: `));
  }));
