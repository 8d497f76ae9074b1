/** The names of processes that the test has started. */

import { ProcessNames } from "#lib/procfs/process_names.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const runs = () => new ProcessNames();
const LONG = "a-name-beyond-the-15-characters";

Deno.test("a process has its whole name, however long its command line is, until it ends", () =>
  withTemporaryDirectory(async (directory) => {
    const script = `${directory}/${LONG}`, short = `${directory}/own-name`;
    for (const path of [script, short]) Deno.copyFileSync("/bin/sleep", path);
    const started = [[script, "60", ...Array<string>(5_000).fill("0.001")], [short, "60"]].map(([command, ...args]) =>
      new Deno.Command(command, { args, stdin: "null", stdout: "null", stderr: "null" }).spawn()
    );
    try {
      await eventually(() => runs().has(LONG) && runs().has("own-name"), { what: "the processes" });
      assert(!runs().has(LONG.slice(0, 15)));
    } finally {
      for (const child of started) child.kill("SIGKILL");
      await Promise.all(started.map(({ status }) => status));
    }
    assertEquals([LONG, "own-name"].filter((name) => runs().has(name)), []);
  }));

Deno.test("a process that another user hides has no name, and hides no other one", async () => {
  const { readFileSync, readDirSync } = Deno;
  const hidden = 4_194_305; // beyond the kernel's largest id
  const listed = (path: string | URL) =>
    path === "/proc"
      ? [...readDirSync(path), { name: `${hidden}`, isDirectory: true, isFile: false, isSymlink: false }].values()
      : readDirSync(path);
  const refused: (string | URL)[] = [];
  const read: typeof readFileSync = (path) => {
    if (!String(path).startsWith(`/proc/${hidden}/`)) return readFileSync(path);
    refused.push(path);
    throw new Deno.errors.PermissionDenied("no");
  };
  const own = Deno.readTextFileSync("/proc/self/comm").trim();
  await withReplaced(
    Deno,
    { name: "readDirSync", by: listed as typeof readDirSync },
    () => withReplaced(Deno, { name: "readFileSync", by: read }, () => assert(runs().has(own))),
  );
  assertEquals(refused, [`/proc/${hidden}/comm`]);
});
