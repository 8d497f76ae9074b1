/** @module */
import { chainPath, olderChainPath, readChain } from "#lib/operators/chain_records.ts";
import { JobChain } from "#lib/operators/job_chain.ts";
import { frameRecord, readRecords } from "#lib/os/record_file.ts";
import { PreflightError } from "#lib/errors.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const FORM = { checked: true } as const;
const HEAD_BYTES = 48;

const load = (n: number) => map({ jid: `2027013112000000000${n}`, fun: "test.ping", arg: [], tgt: "*", user: "root" });

function chainOf(cachedir: string, jobs: number, maxBytes?: number): void {
  const chain = new JobChain(cachedir, SILENT_LOGGER, maxBytes);
  for (let n = 0; n < jobs; n++) {
    chain.accepted(load(n), undefined);
    chain.returned(load(n), 0);
  }
  chain.close();
}

/** The chain's records as they are in the file, after its beginning. */
function frames(cachedir: string): { readonly head: Uint8Array; readonly records: Uint8Array[] } {
  const file = Deno.readFileSync(chainPath(cachedir));
  const read = readRecords(file.subarray(HEAD_BYTES), FORM, (record) => frameRecord(record, FORM));
  return { head: file.slice(0, HEAD_BYTES), records: read.records };
}

function write(cachedir: string, head: Uint8Array, records: readonly Uint8Array[]): void {
  Deno.writeFileSync(chainPath(cachedir), new Uint8Array([head, ...records].flatMap((part) => [...part])));
}

const problems = (cachedir: string) => readChain(cachedir).problems.join("\n");

Deno.test("a chain is whole, and goes on in the next process", () =>
  withTemporaryDirectory((cachedir) => {
    assertEquals(readChain(cachedir), { records: [], head: undefined, problems: [] });
    chainOf(cachedir, 2);
    chainOf(cachedir, 1);
    const { records, head, problems } = readChain(cachedir);
    assertEquals([records.map(({ n }) => n), problems], [[1, 2, 3, 4, 5, 6], []]);
    assertEquals(head?.hash, records[5].hash);
    assertEquals(records.map(({ fields }) => fields.get("kind")), ["job", "return", "job", "return", "job", "return"]);
  }));

Deno.test("a part of a record on a disk that became read-only hides none of the records after it", () =>
  withTemporaryDirectory(async (cachedir) => {
    const { log, lines } = memoryLog();
    const chain = new JobChain(cachedir, log);
    chain.accepted(load(0), undefined);
    const { prototype } = Deno.FsFile,
      fails = () => {
        throw new Error("Read-only file system (os error 30)");
      };
    const half = function (this: Deno.FsFile, bytes: Uint8Array): number {
      if (bytes.length > 10) return writeSync.call(this, bytes.subarray(0, 10));
      throw new Error("No space left on device (os error 28)");
    };
    const { writeSync } = prototype;
    await withReplaced(prototype, { name: "truncateSync", by: fails }, async () => {
      await withReplaced(prototype, { name: "writeSync", by: half }, () => chain.accepted(load(1), undefined));
      // It can be written again, but not repaired: nothing is added behind the part.
      chain.accepted(load(2), undefined);
      assertStringIncludes(problems(cachedir), "no whole record");
    });
    for (const n of [1, 2]) {
      assert(lines.some((line) => line.includes(`Job 2027013112000000000${n} is not in the chain`)));
    }
    assertEquals(chain.returned(load(0), 0)?.n, 2);
    chain.close();
    assertEquals([readChain(cachedir).records.length, problems(cachedir)], [2, ""]);
  }));

Deno.test("a record whose number cannot be written at the beginning is a record", () =>
  withTemporaryDirectory(async (cachedir) => {
    const { log, lines } = memoryLog();
    const chain = new JobChain(cachedir, log);
    const seekSync = () => {
      throw new Error("Input/output error (os error 5)");
    };
    await withReplaced(Deno.FsFile.prototype, { name: "seekSync", by: seekSync }, () => {
      assertEquals(chain.returned(load(0), 0)?.n, 1);
    });
    chain.close();
    assert(lines.some((line) => line.includes("The beginning of the chain of jobs is older")));
    assertEquals([readChain(cachedir).records.length, problems(cachedir)], [1, ""]);
  }));

Deno.test("a chain that cannot be continued is told in one sentence", () =>
  withTemporaryDirectory((cachedir) => {
    Deno.mkdirSync(chainPath(cachedir));
    assertThrows(
      () => JobChain.open(cachedir, SILENT_LOGGER),
      PreflightError,
      `${chainPath(cachedir)} cannot be continued, and without it no job would leave a record: Is a directory. Free`,
    );
    const full = () => {
      throw new Error(`No space left on device (os error 28): writefile '${cachedir}/x'`);
    };
    Deno.removeSync(chainPath(cachedir));
    return withReplaced(Deno, { name: "openSync", by: full }, () =>
      void assertThrows(
        () => JobChain.open(cachedir, SILENT_LOGGER),
        PreflightError,
        "no job would leave a record: No space left on device. Free space",
      ));
  }));

Deno.test("a changed byte, a missing record, a cut end and a new order are found", () =>
  withTemporaryDirectory((cachedir) => {
    chainOf(cachedir, 3);
    const { head, records } = frames(cachedir);
    assertEquals(problems(cachedir), "");
    for (const at of [HEAD_BYTES + 20, HEAD_BYTES + records[0].length + 30, 60]) {
      const file = Deno.readFileSync(chainPath(cachedir));
      file[at] ^= 1;
      const before = Deno.readFileSync(chainPath(cachedir));
      Deno.writeFileSync(chainPath(cachedir), file);
      assert(problems(cachedir) !== "", `byte ${at}`);
      Deno.writeFileSync(chainPath(cachedir), before);
    }
    // A return with another return code and the right checksum.
    const forged = records[3].slice(8);
    forged[forged.length - 1] ^= 1;
    write(cachedir, head, [...records.slice(0, 3), frameRecord(forged, FORM), ...records.slice(4)]);
    assertStringIncludes(problems(cachedir), "record 5 does not follow record 4");
    write(cachedir, head, records.filter((_, i) => i !== 2));
    assertStringIncludes(problems(cachedir), "after record 2 comes record 4");
    write(cachedir, head, records.slice(0, 5));
    assertStringIncludes(problems(cachedir), "its last record is 5, and 6 was written");
    write(cachedir, head, [...records.slice(0, 5), records[5].slice(0, -3)]);
    assertStringIncludes(problems(cachedir), "no whole record");
    const other = head.slice();
    other[20] ^= 1;
    write(cachedir, other, records);
    assertStringIncludes(problems(cachedir), "record 6 is not the one that was written");
    write(cachedir, new Uint8Array(HEAD_BYTES), records);
    assertStringIncludes(problems(cachedir), "does not begin as a chain");
  }));

Deno.test("after a cut the chain goes on behind what was written, so that the gap stays visible", () =>
  withTemporaryDirectory((cachedir) => {
    chainOf(cachedir, 3);
    const { head, records } = frames(cachedir);
    write(cachedir, head, [...records.slice(0, 4), records[4].slice(0, 7)]);
    const { log, lines } = memoryLog();
    const chain = new JobChain(cachedir, log);
    assertStringIncludes(lines.join("\n"), "The chain of jobs has a fault");
    assertEquals(chain.returned(load(1), 0)?.n, 7);
    chain.close();
    assertStringIncludes(problems(cachedir), "after record 4 comes record 7");
  }));

Deno.test("a file that cannot become the older one takes no record, and the next record when it can", () =>
  withTemporaryDirectory(async (cachedir) => {
    const { log, lines } = memoryLog();
    const chain = new JobChain(cachedir, log, 1);
    const renameSync = () => {
      throw new Error("No space left on device (os error 28)");
    };
    await withReplaced(Deno, { name: "renameSync", by: renameSync }, () => chain.accepted(load(0), undefined));
    assertEquals(lines, [
      `ERROR Job ${load(0).get("jid")} is not in the chain of jobs: No space left on device (os error 28)`,
    ]);
    assertEquals(chain.returned(load(1), 0)?.n, 1);
    // Twice: what is on the disk is not synced again.
    await chain.sync();
    await withReplaced(Deno.FsFile.prototype, { name: "syncData", by: renameSync }, () => chain.sync());
    chain.close();
    assertEquals([readChain(cachedir).records.length, problems(cachedir)], [1, ""]);
  }));

Deno.test("a large file becomes the older one, and the records of both are one chain", () =>
  withTemporaryDirectory((cachedir) => {
    chainOf(cachedir, 5, 1_000);
    assert(Deno.statSync(olderChainPath(cachedir)).isFile);
    const { records, problems } = readChain(cachedir);
    assertEquals([records.at(-1)?.n, problems], [10, []]);
    assert(records.length > 2);
    // A crash between two files.
    Deno.renameSync(chainPath(cachedir), olderChainPath(cachedir));
    new JobChain(cachedir, SILENT_LOGGER).close();
    assertEquals([readChain(cachedir).head?.n, readChain(cachedir).problems], [10, []]);
    chainOf(cachedir, 1);
    assertEquals(readChain(cachedir).problems, []);
  }));
