/**
 * Backups in the cache of a minion: which files are backups, and their order.
 * @module
 */

import { listBackups, listBackupsDirectory } from "#lib/host/filesystem/backups.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a backup is a file whose name ends with a valid time", () =>
  withTemporaryDirectory((cachedir) => {
    const directory = `${cachedir}/file_backup/etc`;
    Deno.mkdirSync(`${directory}/conf_Sat_Jan_03_10:11:12_000345_2026`, { recursive: true });
    const there = ["Fri_Jan_02_10:11:12_000345_2026", "Thu_Jan_01_10:11:12_5_2026", "Fri_Jan_02_10:11:13_000000_2026"];
    const none = [
      "",
      "Fri_Jan_02_10:11:12_000345",
      "Fri_Foo_02_10:11:12_000345_2026",
      "Foo_Jan_02_10:11:12_000345_2026",
      "Fri_Feb_30_10:11:12_000345_2026",
      "Fri_Jan_02_24:11:12_000345_2026",
      "Fri_Jan_02_10:60:12_000345_2026",
      "Fri_Jan_02_10:11:62_000345_2026",
    ];
    for (const stamp of [...there, ...none]) Deno.writeTextFileSync(`${directory}/conf_${stamp}`, "text");
    Deno.writeTextFileSync(`${directory}/other_${there[0]}`, "");
    Deno.writeTextFileSync(`${directory}/bare`, "");
    const times = [
      "Fri Jan 02 2026 10:11:13.000000",
      "Fri Jan 02 2026 10:11:12.000345",
      "Thu Jan 01 2026 10:11:12.500000",
    ];

    assertEquals(
      listBackups("/etc/conf", { cachedir }).map(({ time, size }) => [time, size]),
      times.map((one) => [one, 4]),
    );
    assertEquals(listBackups("/etc/conf", { cachedir, limit: 1 }).map(({ time }) => time), times.slice(0, 1));
    assertEquals(listBackups("/srv/conf", { cachedir }), []);

    const all = listBackupsDirectory("/etc/", { cachedir, limit: 2 });
    const shown = [...all].map(([name, backups]) => [name, backups.map(({ time }) => time)]);
    assertEquals(shown, [["bare", []], ["conf", times.slice(0, 2)], ["other", times.slice(1, 2)]]);
    assertEquals(listBackupsDirectory("/srv/", { cachedir }), new Map());
  }));
