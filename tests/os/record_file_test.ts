/** @module */
import { appendFrame, frameRecord, readRecords } from "#lib/os/record_file.ts";
import { crc32 } from "#lib/values/crc32.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const utf8 = new TextEncoder();
const RECORDS = ["one", "two, which is longer", "three"].map((text) => utf8.encode(text));

function fileOf(checked: boolean): { file: Uint8Array; ends: number[] } {
  const framed = RECORDS.map((record) => frameRecord(record, { checked }));
  const ends = framed.map((_, i) => framed.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0));
  return { file: new Uint8Array(framed.flatMap((bytes) => [...bytes])), ends };
}

const read = (file: Uint8Array, checked: boolean) => readRecords(file, { checked }, (record) => record);

Deno.test("crc32() gives the check value of its standard", () => {
  assertEquals(crc32(utf8.encode("123456789")), 0xcbf43926);
  assertEquals(crc32(new Uint8Array()), 0);
});

for (const checked of [false, true]) {
  Deno.test(`a ${checked ? "checked " : ""}file of records is read up to the last complete record, at every position of a cut`, () => {
    const { file, ends } = fileOf(checked);
    for (let length = 0; length <= file.length; length++) {
      const whole = ends.filter((end) => end <= length);
      const { records, bytes } = read(file.slice(0, length), checked);
      assertEquals([records, bytes], [RECORDS.slice(0, whole.length), whole.at(-1) ?? 0]);
    }
  });
}

Deno.test("zeros after the last record of a file are ignored", () => {
  for (const checked of [false, true]) {
    const { file, ends } = fileOf(checked);
    const holed = new Uint8Array(file.length + 100);
    holed.set(file);
    assertEquals(read(holed, checked), { records: RECORDS, bytes: ends[2] });
  }
});

Deno.test("a checked file is not read beyond a changed byte, nor beyond a cut filled with zeros", () => {
  const { file, ends } = fileOf(true);
  for (let at = 0; at < file.length; at++) {
    const other = file.slice();
    other[at] ^= 0x10;
    assertEquals(read(other, true).records, RECORDS.slice(0, ends.findIndex((end) => at < end)));
    // The rest of a block that was allocated for the file but never written.
    const holed = new Uint8Array(file.length + 100);
    holed.set(file.subarray(0, at));
    const { records } = read(holed, true);
    assert(records.length <= RECORDS.length);
    for (const [i, record] of records.entries()) assertEquals(record, RECORDS[i]);
  }
});

Deno.test("a file of records is not read beyond one that cannot be parsed", () => {
  const { file, ends } = fileOf(false);
  const { records, bytes } = readRecords(file, { checked: false }, (record) => record.length > 5 ? undefined : record);
  assertEquals([records, bytes], [RECORDS.slice(0, 1), ends[0]]);
});

Deno.test("a record is written completely even with short writes, in the format of earlier versions", () => {
  const framed = frameRecord(utf8.encode("abc"), { checked: false });
  assertEquals([...framed], [0, 0, 0, 3, 97, 98, 99]);
  assertEquals(frameRecord(utf8.encode("abc"), { checked: true }).toHex(), "00000003352441c2616263");
  const path = Deno.makeTempFileSync({ prefix: "records_" });
  using file = Deno.openSync(path, { append: true });
  const byOne = Object.create(file, {
    writeSync: { value: (bytes: Uint8Array) => file.writeSync(bytes.subarray(0, 1)) },
  });
  for (const record of RECORDS) appendFrame(byOne, frameRecord(record, { checked: false }));
  assertEquals(read(Deno.readFileSync(path), false).records, RECORDS);
  Deno.removeSync(path);
});
