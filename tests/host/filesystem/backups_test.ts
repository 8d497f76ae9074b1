/**
 * Backups in the cache of a minion: which files are backups, and their order.
 * @module
 */

import { installFile, listBackups, listBackupsDirectory, makeBackup } from "#lib/host/filesystem/backups.ts";
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

/** Owner, group and permission bits. */
function rightsOf(path: string): string {
  const { uid, gid, mode } = Deno.lstatSync(path);
  return `${uid}:${gid} ${((mode ?? 0) & 0o7777).toString(8)}`;
}

const asRoot = Deno.uid() === 0 && Deno.build.os === "linux";

Deno.test("a file that is put in place has the mode that is asked for, and nobody else reads one by default", () =>
  withTemporaryDirectory((root) => {
    const how = { cachedir: `${root}/cache`, backup: "" }, text = new TextEncoder().encode("text");
    installFile(text, `${root}/private`, how);
    installFile(text, `${root}/public`, { ...how, mode: 0o644 });
    const modes = ["private", "public"].map((name) => (Deno.statSync(`${root}/${name}`).mode ?? 0) & 0o777);
    assertEquals(modes, [0o600, 0o644]);
    assertEquals(Deno.readTextFileSync(`${root}/public`), "text");
  }));

Deno.test({
  name: "a backup and a replaced file keep the owner and the mode of the old file",
  ignore: !asRoot,
  fn: () =>
    withTemporaryDirectory((root) => {
      const path = `${root}/conf`, cachedir = `${root}/cache`;
      Deno.writeTextFileSync(path, "old");
      Deno.chownSync(path, 4711, 4712);
      Deno.chmodSync(path, 0o640);
      makeBackup(path, { cachedir });
      const [backup] = listBackups(path, { cachedir });
      assertEquals([rightsOf(backup.location), Deno.readTextFileSync(backup.location)], ["4711:4712 640", "old"]);
      installFile(new TextEncoder().encode("new"), path, { cachedir, backup: "minion", mode: 0o644 });
      assertEquals([rightsOf(path), Deno.readTextFileSync(path)], ["4711:4712 640", "new"]);
      assertEquals(listBackups(path, { cachedir }).length, 2);
    }),
});

Deno.test({
  name: "another user's link shows nothing of root's file: what replaces it is for root alone",
  ignore: !asRoot,
  fn: () =>
    withTemporaryDirectory((root) => {
      const home = `${root}/home`, link = `${home}/link`, target = `${root}/target`;
      Deno.mkdirSync(home);
      Deno.writeTextFileSync(target, "root's", { mode: 0o755 });
      Deno.symlinkSync(target, link);
      Deno.chownSync(home, 65534, 65534);
      installFile(new TextEncoder().encode("new"), link, { cachedir: `${root}/cache`, backup: "minion" });
      assertEquals([rightsOf(link), Deno.readTextFileSync(link)], ["0:0 600", "new"]);
      assertEquals(Deno.readTextFileSync(target), "root's");
    }),
});
