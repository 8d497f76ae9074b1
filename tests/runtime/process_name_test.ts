/**
 * The names of a process and of its threads, as `ps`, `pgrep` and `top` show them.
 * @module
 */
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

import { assertEquals } from "#tests/support/assert.ts";

const MODULES = ["process_name.ts", "thread_task.ts"].map((name) =>
  new URL(`../../lib/runtime/${name}`, import.meta.url).href
);

/** A process that sets its name like a minion, starts a worker, and waits until it is terminated. */
const NAMED = `
import { nameProcess } from ${JSON.stringify(MODULES[0])};
import { newestWorkerTask } from ${JSON.stringify(MODULES[1])};
nameProcess("salt-minion", ["-c", "/etc/salt", "-d"]);
new Worker("data:text/javascript,self.onmessage=()=>{}", { type: "module" });
newestWorkerTask().name("salt job with a long name");
console.log("named");
await Deno.stdin.read(new Uint8Array(1));
Deno.exit();`;

Deno.test({
  name: "a process and its thread have the names that they gave themselves, for everybody who looks",
  ignore: Deno.build.os !== "linux",
  async fn() {
    const file = Deno.makeTempFileSync({ prefix: "named_", suffix: ".js" });
    Deno.writeTextFileSync(file, NAMED);
    const args = [...DENO_RUN, "--config", TREE_CONFIG, file];
    const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped" }).spawn();
    const reader = child.stdout.getReader();
    try {
      assertEquals(new TextDecoder().decode((await reader.read()).value), "named\n");
      const read = (path: string) => Deno.readTextFileSync(`/proc/${child.pid}/${path}`);
      assertEquals(read("comm"), "salt-minion\n");
      assertEquals(read("cmdline").replace(/\0+$/, "").split("\0"), ["salt-minion", "-c", "/etc/salt", "-d"]);
      const threads = Array.from(Deno.readDirSync(`/proc/${child.pid}/task`), ({ name }) => read(`task/${name}/comm`));
      // The system stores fifteen bytes, and a thread inherits the name of the thread that starts it.
      const named = new Set(threads.filter((name) => name.startsWith("salt")).sort());
      assertEquals([...named], ["salt job with a\n", "salt-minion\n"]);
    } finally {
      await child.stdin.close();
      await reader.cancel();
      await child.status;
      Deno.removeSync(file);
    }
  },
});
