/**
 * Returns for masters that a minion does not have any more.
 * @module
 */

import { adoptReturns, masterSpool } from "#lib/minion/masters/spool_directories.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("returns for masters of before go to one that is there; none takes another's place, and one directory's fault is only its own", () =>
  withTemporaryDirectory(async (root) => {
    const [to, gone, broken] = ["to:4506", "gone:4506", "broken:4506"].map((name) => `${root}/${masterSpool(name)}`);
    for (const directory of [to, gone, `${broken}/2.p`]) Deno.mkdirSync(directory, { recursive: true });
    const write = (path: string) => Deno.writeTextFileSync(path, path.slice(root.length));
    for (const path of [`${root}/1.p`, `${gone}/1.p`, `${gone}/3.p`, `${gone}/notes`]) write(path);
    // A directory in place of a return cannot be moved over a file.
    write(`${to}/9.p`);
    const { log, lines } = memoryLog();
    await adoptReturns(root, { used: [to], to, log });
    const names = (path: string) => [...Deno.readDirSync(path)].map(({ name }) => name).sort();
    assertEquals(names(to), ["1.p", "2.p", "3.p", "9.p"]);
    assertEquals(names(gone), ["1.p", "notes"]);
    assertEquals(Deno.readTextFileSync(`${to}/1.p`), "/1.p");
    assertStringIncludes(
      lines.join("\n"),
      `WARNING 1 returns for a master that is not configured any more go to ${to}`,
    );
    Deno.removeSync(to, { recursive: true });
    write(to);
    await adoptReturns(root, { used: [to], to, log });
    assertStringIncludes(lines.at(-1) ?? "", `ERROR The returns in ${gone} stay there: `);
    assertEquals(names(gone), ["1.p", "notes"]);
  }));
