/** @module */
import { EventLogReader, type LoggedEvent } from "#lib/event_log/reader.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { listSegments, makeLogId } from "#lib/event_log/segment.ts";
import { offsetText, parseOffset } from "#lib/event_log/offset.ts";
import { seekSince } from "#lib/event_log/since.ts";
import { CommandError } from "#lib/errors.ts";
import { float } from "#lib/values/value.ts";
import { yamlifyArg } from "#lib/yaml/arguments.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LIMITS = { keepS: 3600, maxBytes: 1 << 30 };
const text = new TextEncoder(), plain = new TextDecoder();

function open(directory: string, options: { segmentBytes?: number; maxBytes?: number; keepS?: number } = {}) {
  const errors: string[] = [], infos: string[] = [];
  const told: [number, number][] = [];
  const writer = new EventLogWriter(directory, { ...LIMITS, ...options }, {
    log: { error: (line) => void errors.push(line), info: (line) => void infos.push(line) },
    onWritten: (next, unwritten) => void told.push([next, unwritten?.length ?? 0]),
    ...options.segmentBytes && { segmentBytes: options.segmentBytes },
  });
  return { writer, errors, infos, told };
}

function append(writer: EventLogWriter, ...events: readonly string[]): void {
  for (const event of events) writer.append(text.encode(event));
}

function readAll(reader: EventLogReader): { events: string[]; missed: number } {
  const events: string[] = [];
  let missed = 0;
  for (let batch = reader.read(); batch.events.length > 0; batch = reader.read()) {
    missed += batch.missed;
    events.push(...batch.events.map(({ frame }: LoggedEvent) => plain.decode(frame)));
  }
  return { events, missed };
}

function readFrom(directory: string, number: number): { events: string[]; missed: number } {
  using reader = new EventLogReader(directory);
  reader.seek(number);
  return readAll(reader);
}

Deno.test("an offset is a text that tells its log", () => {
  const offset = { log: "3f2a9c01", number: 12 };
  assertEquals(parseOffset(offsetText(offset)), offset);
  for (const other of ["", "12", "3f2a9c01.", "3f2a9c01.-1", "XYZ.1", "3f2a9c01.1 "]) {
    assertEquals(parseOffset(other), undefined);
  }
});

Deno.test("an offset in a command's arguments stays as it is: no log has an id of digits alone", async () => {
  assertEquals(yamlifyArg("12345678.3320"), float(12345678.332));
  for (let i = 0; i < 300; i++) {
    await withTemporaryDirectory((directory) => {
      const offset = offsetText({ log: makeLogId(directory), number: 3320 });
      assertEquals([yamlifyArg(offset), parseOffset(offset)?.number], [offset, 3320]);
    });
  }
});

Deno.test("events are read from each number on, also those that come meanwhile, and by another writer afterwards", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(directory);
    using reader = new EventLogReader(directory);
    append(writer, "a", "b");
    writer.flush();
    assertEquals(readAll(reader), { events: ["a", "b"], missed: 0 });
    append(writer, "c");
    assertEquals(readAll(reader).events, []);
    writer.close();
    assertEquals(readAll(reader).events, ["c"]);
    const { writer: second } = open(directory);
    assertEquals(second.next, 3);
    append(second, "d");
    second.close();
    assertEquals(readAll(reader), { events: ["d"], missed: 0 });
    assertEquals([0, 1, 2, 3, 4].map((number) => readFrom(directory, number).events.join("")), [
      "abcd",
      "bcd",
      "cd",
      "d",
      "",
    ]);
  }));

Deno.test("the files are for their owner alone", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(`${directory}/log`);
    append(writer, "a");
    writer.close();
    const modes = [`${directory}/log`, `${directory}/log/id`, listSegments(`${directory}/log`)[0].path];
    assertEquals(modes.map((path) => (Deno.statSync(path).mode ?? 0) & 0o777), [0o700, 0o600, 0o600]);
  }));

Deno.test("an incomplete record at the end is cut off at the next start, whatever was cut, and later events follow", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(`${directory}/whole`);
    append(writer, "first", "second", "third");
    writer.close();
    const [{ path }] = listSegments(`${directory}/whole`);
    const whole = Deno.readFileSync(path), record = whole.length - 8 - 8 - "third".length;
    for (let length = record + 1; length < whole.length; length++) {
      const cut = `${directory}/${length}`;
      Deno.mkdirSync(cut);
      Deno.copyFileSync(`${directory}/whole/id`, `${cut}/id`);
      // A power failure leaves zeros where bytes were to be.
      const zeros = new Uint8Array(whole.length);
      zeros.set(whole.subarray(0, length));
      Deno.writeFileSync(`${cut}/${path.slice(-24)}`, length % 2 === 0 ? zeros : whole.subarray(0, length));
      const { writer: next } = open(cut);
      assertEquals(next.next, 2);
      append(next, "fourth");
      next.close();
      assertEquals(readFrom(cut, 0), { events: ["first", "second", "fourth"], missed: 0 });
    }
  }));

Deno.test("a file of which not one record is whole is removed at the next start, and its number is given again", () =>
  withTemporaryDirectory((directory) => {
    for (const event of ["first", "second"]) {
      const { writer } = open(directory);
      append(writer, event);
      writer.close();
    }
    const last = listSegments(directory).at(-1);
    assert(last !== undefined);
    Deno.truncateSync(last.path, 5);
    const { writer } = open(directory);
    assertEquals([writer.next, listSegments(directory).length], [1, 1]);
    append(writer, "third");
    writer.close();
    assertEquals(readFrom(directory, 0), { events: ["first", "third"], missed: 0 });
  }));

Deno.test("the oldest segments go when all take too many bytes, and a reader learns how many events it missed", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(directory, { segmentBytes: 1_000, maxBytes: 5_000 });
    using late = new EventLogReader(directory);
    for (let n = 0; n < 100; n++) {
      append(writer, `${n} ${"x".repeat(200)}`);
      writer.flush();
      const bytes = listSegments(directory).reduce((sum, { path }) => sum + Deno.statSync(path).size, 0);
      assert(bytes <= 5_000 + 300, `${bytes}`);
    }
    writer.close();
    const { events, missed } = readAll(late);
    assertEquals([events.at(-1)?.split(" ")[0], missed + events.length, missed > 50], ["99", 100, true]);
    assertEquals(readFrom(directory, 10).missed, missed - 10);
  }));

Deno.test("segments whose events are too old are removed when the log is opened", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(directory);
    append(writer, "old");
    writer.close();
    const hourAgo = new Date(Date.now() - 2 * 3600_000);
    Deno.utimeSync(listSegments(directory)[0].path, hourAgo, hourAgo);
    const { writer: next } = open(directory);
    append(next, "new");
    next.close();
    assertEquals(readFrom(directory, 0).events, ["new"]);
  }));

/** Runs `run` while nothing can be written to an open file. */
function withFullDisk(run: () => void): void {
  const { writeSync } = Deno.FsFile.prototype;
  Deno.FsFile.prototype.writeSync = () => {
    throw new Error("No space left on device");
  };
  try {
    run();
  } finally {
    Deno.FsFile.prototype.writeSync = writeSync;
  }
}

Deno.test("a full disk is reported once, the events meanwhile are told to the readers, and writing goes on later", async () => {
  await withTemporaryDirectory(async (directory) => {
    const { writer, errors, infos, told } = open(directory, { segmentBytes: 100 });
    append(writer, "a", "b", "x".repeat(100));
    writer.flush();
    // The next segment cannot be made: its name is a directory.
    const blocked = `${directory}/${"3".padStart(20, "0")}.log`;
    Deno.mkdirSync(blocked);
    append(writer, "lost 1", "lost 2");
    writer.flush();
    // The disk of another log takes a new file, but nothing into it.
    const other = open(`${directory}/other`);
    withFullDisk(() => {
      append(other.writer, "lost");
      other.writer.flush();
    });
    assertEquals(listSegments(`${directory}/other`), []);
    assert(other.errors[0].endsWith("cannot be written, and misses events: No space left on device"), other.errors[0]);
    append(writer, "lost 3");
    writer.flush();
    assertEquals(errors.length, 1, errors.join());
    assert(errors[0].startsWith(`The event log in ${directory} cannot be written, and misses events: `), errors[0]);
    assertEquals(told.map(([next, bytes]) => [next, bytes > 0]), [[3, false], [5, true], [6, true]]);
    Deno.removeSync(blocked);
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    append(writer, "again");
    writer.close();
    assertEquals(infos, ["The event log is written again; 3 events are not in it"]);
    assertEquals(readFrom(directory, 0), { events: ["a", "b", "x".repeat(100), "again"], missed: 3 });
    append(other.writer, "again");
    other.writer.close();
    assertEquals(readFrom(`${directory}/other`, 0), { events: ["again"], missed: 1 });
  });
});

Deno.test("a reader begins at an offset, a time, a duration, the start, or now", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(directory);
    append(writer, "a", "b");
    writer.close();
    const read = (since: string, nowMs = Date.now()) => {
      using reader = new EventLogReader(directory);
      seekSince(reader, since, nowMs);
      return readAll(reader).events.join("");
    };
    using reader = new EventLogReader(directory);
    const log = reader.id ?? "";
    assertEquals(read(offsetText({ log, number: 0 })), "b");
    assertEquals([read("start"), read("now"), read("10m"), read("1.5h"), read("60")], ["ab", "", "ab", "ab", "ab"]);
    assertEquals(read("1s", Date.now() + 60_000), "");
    assertEquals([read(new Date(Date.now() - 60_000).toISOString()), read("2126-01-01 10:00")], ["ab", ""]);
    // A segment that is removed while it is looked for does not count.
    Deno.symlinkSync(`${directory}/gone`, `${directory}/${"2".padStart(20, "0")}.log`);
    assertEquals([read("10m"), read("0s", Date.now() + 60_000)], ["ab", ""]);
    for (const since of ["yesterday", "-5", "", "5w"]) assertThrows(() => read(since), CommandError, "since: ");
    assertThrows(() => read("00000000.1"), CommandError, "is gone");
  }));

Deno.test("a log without an id is another log: what is there does not count", () =>
  withTemporaryDirectory((directory) => {
    const { writer } = open(directory);
    append(writer, "a");
    writer.close();
    using reader = new EventLogReader(directory);
    const old = reader.id;
    Deno.removeSync(`${directory}/id`);
    open(directory).writer.close();
    assert(reader.id !== undefined && reader.id !== old);
    assertEquals(readFrom(directory, 0).events, []);
  }));

Deno.test("after a boot no number is given again that was lost with the power, and nothing counts as missed", async () => {
  await withTemporaryDirectory((directory) => {
    const first = open(directory).writer;
    append(first, "a", "b", "c");
    first.close();
    const [, number] = Deno.readTextFileSync(`${directory}/boot`).split(" ");
    assertEquals(Number(number), 0);
    // The power failed, and the last event was not on the disk; a reader knows that it has had the number 2.
    Deno.truncateSync(`${directory}/00000000000000000000.log`, 2 * (8 + 8 + 1));
    Deno.writeTextFileSync(`${directory}/boot`, "another-boot 0\n");
    const second = open(directory).writer;
    assertEquals(second.next, 2 ** 21);
    second.close();
    // Nothing was written until the next start.
    const third = open(directory).writer;
    append(third, "d", "e");
    third.close();
    assertEquals(readFrom(directory, 0), { events: ["a", "b", "d", "e"], missed: 0 });
    assertEquals(readFrom(directory, 3), { events: ["d", "e"], missed: 0 });
    assertEquals(readFrom(directory, 2 ** 21 + 1), { events: ["e"], missed: 0 });
  });
});
