/** @module */
import { SharedTable } from "#lib/keys/shared_table.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

const SIZE = 8;
const record = (n: number) => new Uint8Array(BigUint64Array.of(BigInt(n)).buffer);

Deno.test("an entry of one thread is visible to all threads, under its name and version only", () => {
  const first = new SharedTable(SIZE);
  const second = new SharedTable(SIZE, first.memory);
  assertEquals(second.get("web1", "1"), undefined);
  first.put("web1", "1", record(7));
  assertEquals(second.get("web1", "1"), record(7));
  assertEquals(second.get("web1", "2"), undefined);
  assertEquals(second.get("web2", "1"), undefined);
  second.put("web1", "2", record(8));
  assertEquals([first.get("web1", "1"), first.get("web1", "2")], [undefined, record(8)]);
});

/** Two names in the same slot of every table; the second is the first name plus `end`. */
function neighbours(end: string): [string, string] {
  const table = new SharedTable(SIZE);
  for (let n = 0; n < 500_000; n++) {
    const [short, long] = [`web${n}-`, `web${n}-${end}`];
    table.put(short, "1", record(1));
    table.put(long, "1", record(2));
    if (table.get(short, "1") === undefined) return [short, long];
  }
  throw new Error("No two names share a slot");
}

Deno.test("the end of a name is not mistaken for the beginning of a version", () => {
  const table = new SharedTable(SIZE);
  // Only names in the same slot could be confused.
  for (const end of ["1", ":", "1:"]) {
    const [short, long] = neighbours(end);
    table.put(short, `${end}2`, record(1));
    assertEquals(table.get(long, "2"), undefined);
    assertEquals(table.get(short, `${end}2`), record(1));
    table.put(long, "2", record(2));
    assertEquals(table.get(short, `${end}2`), undefined);
    assertEquals(table.get(long, "2"), record(2));
  }
});

Deno.test("ids that differ in one letter do not evict each other", () => {
  for (const id of [(letter: string) => `${letter}-web`, (letter: string) => `web-${letter}`]) {
    const table = new SharedTable(SIZE);
    const letters = [..."abcdefghijklmnopqrstuvwxyz"];
    for (const letter of letters) table.put(id(letter), "1", record(letter.charCodeAt(0)));
    for (const letter of letters) assertEquals(table.get(id(letter), "1"), record(letter.charCodeAt(0)));
  }
});

Deno.test("a partly overwritten record counts as missing", () => {
  const table = new SharedTable(SIZE);
  table.put("web1", "1", record(0x0102));
  const bytes = new Uint8Array(table.memory);
  const touched = bytes.findIndex((byte) => byte !== 0);
  assert(touched >= 0);
  for (const at of [touched, bytes.findLastIndex((byte) => byte !== 0)]) {
    bytes[at] ^= 1;
    assertEquals(table.get("web1", "1"), undefined);
    bytes[at] ^= 1;
  }
  assertEquals(table.get("web1", "1"), record(0x0102));
});

Deno.test("records evict each other if there are more names than slots, and no record appears that was not put", () => {
  const table = new SharedTable(SIZE);
  for (let n = 0; n < 20_000; n++) table.put(`minion-${n}`, "1", record(n));
  let known = 0;
  for (let n = 0; n < 20_000; n++) {
    const text = table.get(`minion-${n}`, "1");
    if (text === undefined) continue;
    known++;
    assertEquals(text, record(n));
  }
  assert(known > 8_000 && known <= 16_384, `${known} are known`);
  for (let n = 20_000; n < 21_000; n++) assertEquals(table.get(`minion-${n}`, "1"), undefined);
});

Deno.test("a record with a wrong size is refused", () => {
  assertThrows(() => new SharedTable(SIZE).put("web1", "1", new Uint8Array(SIZE + 1)), RangeError);
});
