/** Ports to a thread that is replaced, and the small facts that processes hand on. */

import { claimPidFile, readPid } from "#lib/runtime/pid_file.ts";
import { startedBy } from "#lib/runtime/starting_user.ts";
import { ThreadPorts } from "#lib/runtime/thread_ports.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("threads get a port to the successor of the one that served them; those that end get no more", async () => {
  const served: MessagePort[] = [], taken: Record<string, MessagePort[]> = { a: [], b: [], old: [] };
  const ports = new ThreadPorts<MessagePort>((port) => void served.push(port), (port) => port);
  const open = (name: string, to = name) => ports.openFor(name, (port) => void taken[to].push(port));
  const first = [open("a", "old"), open("b"), ports.open(), open("a")];
  assertEquals([served.length, taken], [4, { a: [], b: [], old: [] }]);
  ports.replaced();
  assertEquals(served.length, 6);
  assertEquals([taken.a.length, taken.b.length, taken.old.length], [1, 1, 0]);
  // The new ports are the ends of those that the successor has.
  const heard = Promise.withResolvers<unknown>();
  served[4].onmessage = ({ data }) => heard.resolve(data);
  taken.a[0].postMessage("hello");
  assertEquals(await heard.promise, "hello");
  for (const port of [...served, ...first, ...taken.a, ...taken.b]) port.close();
});

Deno.test("a pid file that cannot be removed is emptied, and stays if it cannot be changed either", () =>
  withTemporaryDirectory(async (root) => {
    const refuse = () => {
      throw new Deno.errors.PermissionDenied("no");
    };
    const path = `${root}/pid`;
    const pidFile = claimPidFile(path, "salt-test");
    await withReplaced(
      Deno,
      { name: "removeSync", by: refuse },
      () => withReplaced(Deno, { name: "truncateSync", by: refuse }, () => pidFile.release()),
    );
    assertEquals(readPid(path), Deno.pid);
    await withReplaced(Deno, { name: "removeSync", by: refuse }, () => pidFile.release());
    assertEquals(Deno.readTextFileSync(path), "");
  }));

Deno.test("a runner's process is told of the user of its job, unless a variable cannot have that", () => {
  assertEquals(startedBy("op"), { SALT_STARTED_BY: "op" });
  for (const user of ["", "o\0p", null, 5, undefined]) assertEquals(startedBy(user), {});
});
