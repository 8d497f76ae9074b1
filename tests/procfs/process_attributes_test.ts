/** The attributes of a process that the test has started. */

import { CommandError } from "#lib/errors.ts";
import { NoProcessError, processAttributes, processIds } from "#lib/procfs/process_attributes.ts";
import { isMap, toNumber, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NO_IONICE = () => Promise.resolve(undefined);

Deno.test("a process is described by its program, working directory, environment, files and sockets", async () => {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "process_" }));
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const script =
    `exec 3<>"${root}/both" 4>>"${root}/appended" 5</etc/passwd 6>"${root}/written"; echo ready; exec sleep 60`;
  const child = new Deno.Command("sh", {
    args: ["-c", script],
    cwd: root,
    env: { A: "1", B: "x=y" },
    clearEnv: true,
    stdout: "piped",
    stdin: "null",
    stderr: "null",
  }).spawn();
  try {
    await child.stdout.getReader().read();
    const attributes = (wanted?: string[], ionice = NO_IONICE as Parameters<typeof processAttributes>[2]) =>
      processAttributes(child.pid, wanted, ionice);
    await eventually(async () => (await attributes(["name"])).get("name") === "sleep", { what: "sleep" });
    const all = await attributes();
    const [uid, gid] = [Deno.uid(), Deno.gid()];
    const expected: Record<string, Value> = {
      ...{
        cmdline: ["sleep", "60"],
        cwd: root,
        pid: child.pid,
        ppid: Deno.pid,
        name: "sleep",
        nice: all.get("nice") ?? 0,
      },
      ...{ uids: [uid, uid, uid], gids: [gid, gid, gid], status: "sleeping", num_threads: 1, ionice: null },
      net_connections: [],
    };
    for (const [name, value] of Object.entries(expected)) assertEquals(all.get(name), value, name);
    const environ = all.get("environ") ?? null;
    assert(isMap(environ) && environ.get("A") === "1" && environ.get("B") === "x=y");
    const files = all.get("open_files");
    assert(Array.isArray(files));
    // Descriptors above 6 come from the program that runs the tests.
    const opened = files.map((file) => Array.isArray(file) ? [file[0], file[1], file[3]] : [])
      .filter(([, fd]) => Number(fd) <= 6);
    assertEquals(opened, [
      [`${root}/both`, 3, "r+"],
      [`${root}/appended`, 4, "a"],
      ["/etc/passwd", 5, "r"],
      [`${root}/written`, 6, "w"],
    ]);
    for (const name of ["create_time", "memory_percent", "cpu_percent"]) {
      assert(toNumber(all.get(name) ?? null) !== undefined, name);
    }
    for (const name of ["memory_info", "memory_full_info", "memory_maps", "cpu_times", "threads", "io_counters"]) {
      const list = all.get(name);
      assert(Array.isArray(list) && list.length > 0, name);
    }
    assertEquals((await attributes(["ionice"], () => Promise.resolve([2, 4] as const))).get("ionice"), [2, 4]);
    await assertRejects(() => attributes(["pid", "nope"]), CommandError, "invalid attr names nope");
    const own = await processAttributes(Deno.pid, ["net_connections", "terminal", "username"], NO_IONICE);
    const sockets = own.get("net_connections");
    const address = (socket: Value) => Array.isArray(socket) ? socket[3] : null;
    const bound = listener.addr as Deno.NetAddr;
    assert(Array.isArray(sockets) && sockets.some((socket) => `${address(socket)}` === `127.0.0.1,${bound.port}`));
    assert(processIds().includes(child.pid));
  } finally {
    child.kill("SIGKILL");
    await child.status;
    Deno.removeSync(root, { recursive: true });
  }
  await assertRejects(() => processAttributes(child.pid, undefined, NO_IONICE), NoProcessError);
  await assertRejects(() => processAttributes(-1, undefined, NO_IONICE), NoProcessError);
});

/** The fields of a process's `stat`, with the number of its terminal. */
function statWith(terminal: number): string {
  return `7 (a ) b) S 1 7 7 ${terminal} ${Array.from({ length: 45 }, (_, i) => 100 + i).join(" ")}\n`;
}

Deno.test("threads of a process that end while they are read, and removed files, are left out", () =>
  withTemporaryDirectory(async (root) => {
    for (const directory of ["7", "8", "9"]) Deno.mkdirSync(`${root}/proc/7/task/${directory}`, { recursive: true });
    for (const file of ["stat", "task/7/stat", "task/9/stat"]) {
      Deno.writeTextFileSync(`${root}/proc/7/${file}`, statWith(0));
    }
    Deno.mkdirSync(`${root}/proc/7/fd`);
    Deno.mkdirSync(`${root}/proc/7/fdinfo`);
    Deno.writeTextFileSync(`${root}/file`, "x");
    const targets = [`${root}/file`, `${root}/file`, `${root}/file (deleted)`, "pipe:[1]", root];
    for (const [i, target] of targets.entries()) {
      Deno.symlinkSync(target, `${root}/proc/7/fd/${i}`);
      if (i !== 1) Deno.writeTextFileSync(`${root}/proc/7/fdinfo/${i}`, "pos:\t5\nflags:\t0100002\n");
    }
    const attributes = await processAttributes(7, ["threads", "open_files", "terminal"], NO_IONICE, root);
    const threads = attributes.get("threads");
    assert(Array.isArray(threads));
    assertEquals(threads.map((thread) => Array.isArray(thread) && thread[0]), [7, 9]);
    assertEquals(attributes.get("open_files"), [[`${root}/file`, 0, 5, "r+", 0o100002]]);
    assertEquals(attributes.get("terminal"), null);
  }));

Deno.test("a process's terminal is the device of its number, on a host with or without /dev/pts", async () => {
  const root = Deno.makeTempDirSync({ prefix: "process_" });
  const device = Deno.statSync("/dev/null").rdev ?? 0;
  const terminal = async () => (await processAttributes(7, ["terminal"], NO_IONICE, root)).get("terminal");
  try {
    Deno.mkdirSync(`${root}/proc/7`, { recursive: true });
    Deno.mkdirSync(`${root}/dev`);
    Deno.writeTextFileSync(`${root}/proc/7/stat`, statWith(device));
    Deno.symlinkSync("/dev/null", `${root}/dev/other`);
    Deno.symlinkSync("nowhere", `${root}/dev/tty1`);
    assertEquals(await terminal(), null);
    Deno.mkdirSync(`${root}/dev/pts`);
    Deno.symlinkSync("/dev/null", `${root}/dev/pts/3`);
    assertEquals(await terminal(), "/dev/pts/3");
    Deno.symlinkSync("/dev/null", `${root}/dev/tty2`);
    assertEquals(await terminal(), "/dev/tty2");
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("an attribute that another user's process does not show is None", async () => {
  const refused = () => Promise.reject(new Deno.errors.PermissionDenied("no"));
  const attributes = await processAttributes(Deno.pid, ["ionice", "pid"], refused);
  assertEquals([...attributes], [["ionice", null], ["pid", Deno.pid]]);
});
