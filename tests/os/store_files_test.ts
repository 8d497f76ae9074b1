/**
 * Directories and files of a store that cannot be read, removed or replaced.
 * @module
 */

import { underRoot } from "#lib/os/root_path.ts";
import { listDirectory, remove, writeDirectoryOnce } from "#lib/os/store_files.ts";
import { groupNamesOf } from "#lib/os/users.ts";
import { assertEquals, assertMatch, assertThrows } from "#tests/support/assert.ts";

function withDirectory(run: (directory: string, logged: string[]) => void): void {
  const directory = Deno.makeTempDirSync({ prefix: "store_" });
  try {
    run(directory, []);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("a missing directory is empty, and one that cannot be read is empty and reported", () =>
  withDirectory((directory, logged) => {
    Deno.writeTextFileSync(`${directory}/file`, "");
    Deno.symlinkSync("loop", `${directory}/loop`);
    for (const name of ["none", "file"]) {
      assertEquals(listDirectory(`${directory}/${name}`, (line) => logged.push(line)), []);
    }
    assertEquals(logged, []);
    assertEquals(listDirectory(`${directory}/loop`, (line) => logged.push(line)), []);
    assertEquals(logged.length, 1);
    assertMatch(logged[0], /^Cannot read .*\/loop: .*symbolic links/i);
  }));

Deno.test("a file that cannot be removed stays, and is reported", () =>
  withDirectory((directory, logged) => {
    Deno.mkdirSync(`${directory}/full/inner`, { recursive: true });
    assertEquals(remove(`${directory}/none`, (line) => logged.push(line)), false);
    assertEquals(logged, []);
    assertEquals(remove(`${directory}/full`, (line) => logged.push(line)), false);
    assertMatch(logged.join("\n"), /^Cannot remove .*\/full: .*not empty/i);
    assertEquals(remove(`${directory}/full`, (line) => logged.push(line), { recursive: true }), true);
  }));

Deno.test("a directory is not written at the path of a file, and nothing of it is left", () =>
  withDirectory((directory) => {
    Deno.writeTextFileSync(`${directory}/job`, "a file");
    const files = new Map([["return.p", new Uint8Array([1])]]);
    const names = { essential: "return.p", temporary: `${directory}/.new` };
    assertThrows(() => writeDirectoryOnce(`${directory}/job`, files, names), Error, "ot a directory");
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), ["job"]);
  }));

Deno.test("a path gets the root directory as prefix once, and a URI never", () => {
  const cases = [
    ["/srv", "/etc/salt", "/srv/etc/salt"],
    ["/srv/", "/srv/etc", "/srv/etc"],
    ["/srv", "/srv", "/srv"],
    ["/srv", "/srvetc", "/srv/srvetc"],
    ["/srv", "file:///dev/log", "file:///dev/log"],
    ["/srv", "udp://loghost:10514", "udp://loghost:10514"],
  ];
  for (const [root, path, expected] of cases) assertEquals(underRoot(root, path), expected, path);
});

Deno.test("an unknown user has no groups", () => {
  assertEquals(groupNamesOf("no_user_of_this_name"), []);
});
