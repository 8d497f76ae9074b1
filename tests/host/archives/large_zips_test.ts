/** ZIP archives of many members and of large files, those with bytes before them, and names without UTF-8. */

import { readZipDirectory } from "#lib/host/archives/zip_directory.ts";
import { extractMember } from "#lib/host/archives/zip_extracting.ts";
import { writeZip } from "#lib/host/archives/zip_writing.ts";
import { CommandError } from "#lib/errors.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

async function inDirectory(act: (root: string) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "large_zip_" });
  try {
    await act(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** A file of so many zeros that take no place. */
function sparseFile(path: string, size: number): void {
  using file = Deno.createSync(path);
  file.truncateSync(size);
}

Deno.test("an archive of 66,000 members is written with ZIP64, and read again", async () => {
  await inDirectory(async (root) => {
    const entries = Array.from({ length: 66_000 }, (_, n) => ({ path: root, name: `d${n}` }));
    const archive = `${root}/a.zip`;
    await writeZip(archive, entries, { zip64: true });
    const members = readZipDirectory(archive) ?? [];
    assertEquals([members.length, members.at(-1)?.name], [66_000, "d65999/"]);
  });
});

Deno.test("archive.zip refuses more than 65,535 files, and a file of 2 GiB, without zip64=True", async () => {
  await inDirectory(async (root) => {
    sparseFile(`${root}/large`, 2 ** 31);
    await assertRejects(
      () => testContext().call("archive.zip", [`${root}/a.zip`, `${root}/large`]),
      CommandError,
      "Exception encountered creating zipfile: Filesize would require ZIP64 extensions",
    );
    const entries = Array.from({ length: 65_536 }, (_, n) => ({ path: root, name: `d${n}` }));
    await assertRejects(() => writeZip(`${root}/a.zip`, entries), CommandError, "Files count would require ZIP64");
  });
});

Deno.test("sizes and places above the limit are in the fields of 64 bits", async () => {
  await inDirectory(async (root) => {
    const random = crypto.getRandomValues(new Uint8Array(5_000));
    Deno.writeFileSync(`${root}/f`, random);
    Deno.writeTextFileSync(`${root}/g`, "text");
    const entries = [{ path: `${root}/f`, name: "f" }, { path: `${root}/g`, name: "g" }];
    const archive = `${root}/a.zip`, sizeLimit = 4_900;
    await assertRejects(() => writeZip(archive, entries, { sizeLimit }), CommandError, "Filesize would require ZIP64");
    await assertRejects(
      () => writeZip(archive, [entries[1], entries[1], entries[1]], { sizeLimit: 60 }),
      CommandError,
      "Zipfile size would require ZIP64",
    );
    await assertRejects(
      () => writeZip(archive, [entries[1], entries[1]], { sizeLimit: 60 }),
      CommandError,
      "Central directory offset would require ZIP64",
    );
    await writeZip(archive, entries, { zip64: true, sizeLimit });
    const bytes = Deno.readFileSync(archive), view = new DataView(bytes.buffer);
    // The local header of f, and the directory's fields of both.
    assertEquals([18, 22].map((place) => view.getUint32(place, true)), [0xffffffff, 0xffffffff]);
    const directory = view.getUint32(bytes.length - 6, true);
    assertEquals([20, 24].map((place) => view.getUint32(directory + place, true)), [0xffffffff, 0xffffffff]);
    assertEquals(view.getUint32(directory + 46 + 1 + 20 + 42, true), 0xffffffff);
    for (const member of readZipDirectory(archive) ?? []) {
      await extractMember(member, { archive, dest: `${root}/out`, modes: true });
    }
    assertEquals(Deno.readFileSync(`${root}/out/f`), random);
    assertEquals(Deno.readTextFileSync(`${root}/out/g`), "text");
  });
});

Deno.test("an archive with bytes before it, as one that unpacks itself, is read", async () => {
  await inDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/f`, "text");
    await writeZip(`${root}/a.zip`, [{ path: `${root}/f`, name: "f" }, { path: `${root}/f`, name: "g" }]);
    const before = new TextEncoder().encode("#!/bin/sh\nexit\n");
    Deno.writeFileSync(`${root}/b.zip`, new Uint8Array([...before, ...Deno.readFileSync(`${root}/a.zip`)]));
    const members = readZipDirectory(`${root}/b.zip`) ?? [];
    assertEquals(members.map(({ name }) => name), ["f", "g"]);
    for (const member of members) {
      await extractMember(member, { archive: `${root}/b.zip`, dest: `${root}/out`, modes: true });
    }
    assertEquals(Deno.readTextFileSync(`${root}/out/g`), "text");
  });
});

Deno.test("a name without the flag of UTF-8 is of code page 437, and ends at its first NUL", async () => {
  await inDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/f`, "text");
    await writeZip(`${root}/a.zip`, [{ path: `${root}/f`, name: "XYZ" }]);
    const bytes = Deno.readFileSync(`${root}/a.zip`);
    const directory = new DataView(bytes.buffer).getUint32(bytes.length - 6, true);
    for (const [flags, name] of [[6, 30], [directory + 8, directory + 46]]) {
      bytes.set([0, 0], flags);
      bytes.set([0x84, 0, 0xe1], name);
    }
    Deno.writeFileSync(`${root}/b.zip`, bytes);
    const [member] = readZipDirectory(`${root}/b.zip`) ?? [];
    assertEquals(member.name, "ä");
    await extractMember(member, { archive: `${root}/b.zip`, dest: `${root}/out`, modes: true });
    assertEquals(Deno.readTextFileSync(`${root}/out/ä`), "text");
  });
});
