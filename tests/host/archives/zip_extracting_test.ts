/** Archives that are damaged, that have wrong headers, or that use the format of large archives (ZIP64). */

import { readZipDirectory, type ZipMember } from "#lib/host/archives/zip_directory.ts";
import { extractMember } from "#lib/host/archives/zip_extracting.ts";
import { writeZip } from "#lib/host/archives/zip_writing.ts";
import { CommandError } from "#lib/errors.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";

const TEXT = "text ".repeat(1_000);

async function withArchive(act: (root: string, archive: string, member: ZipMember) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "odd_zip_" });
  try {
    Deno.writeTextFileSync(`${root}/f`, TEXT);
    Deno.mkdirSync(`${root}/out`);
    await writeZip(`${root}/a.zip`, [{ path: `${root}/f`, name: "f" }]);
    const [member] = readZipDirectory(`${root}/a.zip`) ?? [];
    await act(root, `${root}/a.zip`, member);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

const LINK = 0o120777;
/** A wrong field of the central directory, and the reason of the refusal. */
const FALSE_MEMBERS: readonly (readonly [what: string, changed: Partial<ZipMember>, why: string])[] = [
  ["another checksum", { crc: 1 }, "Bad CRC-32 for file 'f'"],
  ["a smaller size", { size: 10 }, "Bad CRC-32 for file 'f'"],
  ["a larger size", { size: 10_000 }, "Bad CRC-32 for file 'f'"],
  ["an unknown compression method", { method: 99 }, "compressed by a method that is not supported: 99"],
  ["that it is encrypted", { encrypted: true }, "password required"],
  ["more bytes than it has", { method: 0, compressedSize: 1 << 20, end: 1 << 30 }, "'f' is cut off"],
  ["the bytes of what follows", { method: 0, compressedSize: 1 << 20 }, "Overlapped entries: 'f' (possible zip bomb)"],
  [
    "another name",
    { name: "g", rawName: new TextEncoder().encode("g") },
    "File name in directory 'g' and header b'f' differ.",
  ],
  ["another place", { offset: 1 }, "Bad magic number for file header"],
  ["a place behind the file", { offset: 1 << 20 }, "Truncated file header"],
  ["an invalid name", { name: "f\0g" }, "is not valid"],
  ["a link that is too long", { mode: LINK }, "is too long"],
];
for (const [what, changed, why] of FALSE_MEMBERS) {
  Deno.test(`an archive that declares ${what} is refused`, async () => {
    await withArchive(async (root, archive, member) => {
      const how = { archive, dest: `${root}/out`, modes: true };
      await assertRejects(() => extractMember({ ...member, ...changed }, how), CommandError, why);
    });
  });
}

Deno.test("a file replaces a link of its name; a link is created with its target", async () => {
  await withArchive(async (root, archive, member) => {
    const how = { archive, dest: `${root}/out`, modes: true };
    Deno.symlinkSync(`${root}/f`, `${root}/out/f`);
    Deno.writeTextFileSync(`${root}/f`, "kept");
    await extractMember(member, how);
    assertEquals([Deno.readTextFileSync(`${root}/f`), Deno.readTextFileSync(`${root}/out/f`)], ["kept", TEXT]);
    Deno.writeTextFileSync(`${root}/target`, "../x y");
    await writeZip(archive, [{ path: `${root}/target`, name: "link" }]);
    const [link] = readZipDirectory(archive) ?? [];
    await extractMember({ ...link, mode: LINK }, how);
    assertEquals(Deno.readLinkSync(`${root}/out/link`), "../x y");
  });
});

Deno.test("the sizes and the offset of a large archive's directory are read from the 64-bit records", async () => {
  await withArchive(async (root, archive, member) => {
    const bytes = Deno.readFileSync(archive);
    const end = bytes.length - 22;
    const start = new DataView(bytes.buffer).getUint32(end + 16, true);
    const entry = bytes.slice(start, end);
    const head = new DataView(entry.buffer);
    const nameLength = head.getUint16(28, true);
    // Both sizes and the offset are in an extra field that follows another one.
    const extra = new Uint8Array(4 + 2 + 4 + 24);
    const field = new DataView(extra.buffer);
    [0x7777, 2].forEach((value, i) => field.setUint16(2 * i, value, true));
    [1, 24].forEach((value, i) => field.setUint16(6 + 2 * i, value, true));
    [member.size, member.compressedSize, member.offset].forEach((value, i) => {
      field.setBigUint64(10 + 8 * i, BigInt(value), true);
    });
    for (const place of [20, 24, 42]) head.setUint32(place, 0xffffffff, true);
    head.setUint16(30, extra.length, true);
    const directory = [entry.slice(0, 46 + nameLength), extra];
    const length = 46 + nameLength + extra.length;
    const big = new DataView(new ArrayBuffer(56));
    big.setUint32(0, 0x06064b50, true);
    [1, length, start].forEach((value, i) => big.setBigUint64(32 + 8 * i, BigInt(value), true));
    const locator = new DataView(new ArrayBuffer(20));
    locator.setUint32(0, 0x07064b50, true);
    locator.setBigUint64(8, BigInt(start + length), true);
    const last = new DataView(bytes.buffer.slice(end));
    last.setUint16(10, 0xffff, true);
    for (const place of [12, 16]) last.setUint32(place, 0xffffffff, true);
    const parts = [bytes.slice(0, start), ...directory, big.buffer, locator.buffer, last.buffer];
    Deno.writeFileSync(`${root}/big.zip`, new Uint8Array(await new Blob(parts).arrayBuffer()));
    const [read] = readZipDirectory(`${root}/big.zip`) ?? [];
    assertEquals(read, member);
    await extractMember(read, { archive: `${root}/big.zip`, dest: `${root}/out`, modes: true });
    assertEquals(Deno.readTextFileSync(`${root}/out/f`), TEXT);
    // Without the 64-bit record, or with an invalid entry, the file is no archive.
    assert(await isNone(new Blob([...parts.slice(0, 3), last.buffer]), root));
    assert(
      await isNone(
        new Blob([bytes.slice(0, start), new Uint8Array(length), big.buffer, locator.buffer, last.buffer]),
        root,
      ),
    );
    // The locator's offset is not used, as in Python: with bytes before the archive it is wrong.
    const elsewhere = new DataView(locator.buffer.slice(0));
    elsewhere.setBigUint64(8, 0n, true);
    assert(!await isNone(new Blob([...parts.slice(0, 4), elsewhere.buffer, last.buffer]), root));
    // An extra field that is too short for a size does not change it: the size is larger than any archive.
    field.setUint16(8, 8, true);
    const short = new DataView(entry.buffer.slice(0));
    short.setUint16(30, 18, true);
    const cut = [new Uint8Array(short.buffer, 0, 46 + nameLength).slice(), extra.slice(0, 18)];
    big.setBigUint64(40, BigInt(46 + nameLength + 18), true);
    locator.setBigUint64(8, BigInt(start + 46 + nameLength + 18), true);
    const shortened = [bytes.slice(0, start), ...cut, big.buffer, locator.buffer, last.buffer];
    Deno.writeFileSync(`${root}/short.zip`, new Uint8Array(await new Blob(shortened).arrayBuffer()));
    const [odd] = readZipDirectory(`${root}/short.zip`) ?? [];
    assertEquals([odd.size, odd.compressedSize, odd.offset], [member.size, 0xffffffff, 0xffffffff]);
    const how = { archive: `${root}/short.zip`, dest: `${root}/out`, modes: true };
    await assertRejects(() => extractMember(odd, how), CommandError);
  });
});

async function isNone(archive: Blob, root: string): Promise<boolean> {
  Deno.writeFileSync(`${root}/odd.zip`, new Uint8Array(await archive.arrayBuffer()));
  return readZipDirectory(`${root}/odd.zip`) === undefined;
}

Deno.test("an archive whose directory ends within a member is none", async () => {
  await withArchive((root, archive) => {
    const bytes = Deno.readFileSync(archive), view = new DataView(bytes.buffer), end = bytes.length - 22;
    // The directory begins later, at the last bytes of its one member.
    const length = view.getUint32(end + 12, true), start = view.getUint32(end + 16, true);
    view.setUint32(end + 12, 20, true);
    view.setUint32(end + 16, start + length - 20, true);
    Deno.writeFileSync(`${root}/cut.zip`, bytes);
    assertEquals(readZipDirectory(`${root}/cut.zip`), undefined);
    return Promise.resolve();
  });
});
