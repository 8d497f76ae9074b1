/** Archives whose headers are damaged, rare or too large. */

import { NoTarError, readTar, type TarMember } from "#lib/host/archives/tar_members.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

const BLOCK = 512;
const bytesOf = (text: string) => new TextEncoder().encode(text);

interface Header {
  readonly name?: string;
  readonly type?: string;
  /** The field of the size. */
  readonly size?: Uint8Array;
}

/** A header with a correct checksum. */
function header({ name = "f", type = "0", size = octal(0) }: Header = {}): Uint8Array {
  const bytes = new Uint8Array(BLOCK);
  bytes.set(bytesOf(name));
  bytes.set(size, 124);
  bytes.set(bytesOf("        "), 148);
  bytes.set(bytesOf(type), 156);
  bytes.set(bytesOf(bytes.reduce((sum, byte) => sum + byte, 0).toString(8).padStart(6, "0") + "\0"), 148);
  return bytes;
}

const octal = (size: number) => bytesOf(size.toString(8).padStart(11, "0"));

/** A number of GNU tar: its highest bit is set, and the others are the number. */
function binary(size: number): Uint8Array {
  const bytes = new Uint8Array(12);
  new DataView(bytes.buffer).setUint32(8, size);
  bytes[0] = 0x80;
  return bytes;
}

/** A pax header with its records, before the member that they describe. */
function pax(records: string): Uint8Array[] {
  const data = new Uint8Array(Math.ceil(records.length / BLOCK) * BLOCK);
  data.set(bytesOf(records));
  return [header({ name: "pax", type: "x", size: octal(records.length) }), data];
}

const END = new Uint8Array(2 * BLOCK);

async function read(...pieces: Uint8Array[]): Promise<TarMember[]> {
  return await Array.fromAsync(readTar(new Blob([joinBytes(pieces)]).stream()));
}

const names = async (...pieces: Uint8Array[]) => (await read(...pieces)).map(({ name }) => name);

const REFUSED: readonly (readonly [what: string, pieces: Uint8Array[], why: string])[] = [
  ["no byte", [], "the archive is empty"],
  ["less than a header", [new Uint8Array(100)], "the archive is too short"],
  ["a text", [bytesOf("text ".repeat(200))], "the first header is no header"],
  ["a name of 2 MiB", [header({ type: "L", size: octal(2 << 20) }), new Uint8Array(2 << 20)], "a name is too long"],
];
for (const [what, pieces, why] of REFUSED) {
  Deno.test(`${what} is no tar archive`, async () => {
    await assertRejects(() => read(...pieces), NoTarError, why);
  });
}

Deno.test("two blocks of zeros are an archive without members; what follows the members is ignored", async () => {
  assertEquals(await read(END), []);
  assertEquals(await names(header(), bytesOf("x".repeat(BLOCK)), header({ name: "after" })), ["f"]);
});

Deno.test("a size in bytes, as GNU tar writes large ones, is passed over", async () => {
  const data = new Uint8Array(2 * BLOCK).fill(1);
  assertEquals(await names(header({ size: binary(BLOCK + 1) }), data, header({ name: "g" }), END), ["f", "g"]);
});

Deno.test("the path among the records of a pax header is the name; damaged records have none", async () => {
  const long = "n".repeat(150);
  assertEquals(await names(...pax(`20 mtime=1700000000\n${10 + long.length} path=${long}\n`), header(), END), [long]);
  assertEquals(await names(...pax("20 mtime=1700000000\n"), header(), END), ["f"]);
  for (const damaged of ["0 path=x\n", "none path=x\n", "-5 path=x\n"]) {
    assertEquals(await names(...pax(damaged), header(), END), ["f"], damaged);
  }
});
