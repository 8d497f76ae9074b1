/** @module */
import { canCrypt } from "#lib/libc/crypt.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { run } from "#tests/support/processes.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

const SOURCES = new URL("../..", import.meta.url);

/** A hash that takes a second. */
const WORKER = `
import { cryptPasswordInThread } from "${SOURCES}lib/libc/crypt.ts";
void cryptPasswordInThread("secret", "$6$rounds=1000000$salt");
self.postMessage("begun");
`;

/** Ends the worker in the middle. */
const MAIN = `
const worker = new Worker(new URL("./worker.ts", import.meta.url).href, { type: "module" });
await new Promise((resolve) => worker.onmessage = resolve);
worker.terminate();
await new Promise((resolve) => setTimeout(resolve, 1_000));
console.log("it runs on");
Deno.exit(0); // and the call, perhaps
`;

Deno.test({
  name: "a thread that ends while a password is hashed for it does not take the process with it",
  ignore: !canCrypt(),
  fn: () =>
    withTemporaryDirectory(async (directory) => {
      Deno.writeTextFileSync(`${directory}/worker.ts`, WORKER);
      Deno.writeTextFileSync(`${directory}/main.ts`, MAIN);
      const config = ["--config", TREE_CONFIG];
      const { code, out } = await run([Deno.execPath(), ...DENO_RUN, ...config, `${directory}/main.ts`]);
      assertEquals([code, out], [0, "it runs on\n"]);
    }),
});
