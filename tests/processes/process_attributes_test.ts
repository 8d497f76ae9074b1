/** The attributes of a process that the test has started. */

import { CommandError } from "../../lib/errors.ts";
import { NoProcessError, processAttributes, processIds } from "../../lib/processes/process_attributes.ts";
import { isMap, toNumber, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";

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
    const asked = (wanted?: string[], ionice = NO_IONICE as Parameters<typeof processAttributes>[2]) =>
      processAttributes(child.pid, wanted, ionice);
    await eventually(async () => (await asked(["name"])).get("name") === "sleep", { what: "sleep" });
    const all = await asked();
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
    const opened = files.map((file) => Array.isArray(file) ? [file[0], file[1], file[3]] : file);
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
    assertEquals((await asked(["ionice"], () => Promise.resolve([2, 4] as const))).get("ionice"), [2, 4]);
    await assertRejects(() => asked(["pid", "nope"]), CommandError, "invalid attr names nope");
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
