/**
 * The process in which a master runs a function that a client asked for.
 * @module
 */

import { packOpts } from "#lib/config/opts_transfer.ts";
import { packFunctionInit, packFunctionJob, unpackFunctionOutcome } from "#lib/master/functions/messages.ts";
import { DENO_RUN, FUNCTION_PROCESS } from "#lib/runtime/self_command.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const MASTER = new URL("../../../master.ts", import.meta.url).pathname;

/**
 * Starts the process with this input, which it closes after `open`.
 * @returns Its status and output.
 */
async function runWith(input: Uint8Array, open: Promise<unknown> = Promise.resolve()) {
  const args = [...DENO_RUN, MASTER, "--as", FUNCTION_PROCESS];
  const child = new Deno.Command(Deno.execPath(), { args, stdin: "piped", stdout: "piped", stderr: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(input);
  void open.then(() => writer.close()).catch(() => {});
  return await child.output();
}

Deno.test("a master that ends before it has sent the request ends the process", async () => {
  const { code, stdout, stderr } = await runWith(frame(1, new Uint8Array(1_000)).subarray(0, 500));
  assertEquals([code === 0, stdout.length], [false, 0]);
  assertMatch(new TextDecoder().decode(stderr), /the input ended before the request was complete/);
});

Deno.test("a function prints to the log, its progress goes to the bus, and its outcome to the master", async () => {
  using services = await testServices();
  const { opts } = services;
  opts.extension_modules = `${services.root}/ext`;
  Deno.mkdirSync(`${opts.extension_modules}/runners`, { recursive: true });
  Deno.writeTextFileSync(
    `${opts.extension_modules}/runners/own.js`,
    `export const works = { run: async (_bound, context) => {
       await context.progress(new Map([["done", 1]]));
       return "over";
     } };`,
  );
  const fields = { kind: "runner", fun: "own.works", args: [], kwargs: map({}), jid: "20240102030405000001" } as const;
  const job = packFunctionJob({ ...fields, user: "ann" });
  const over = Promise.withResolvers<void>();
  const running = runWith(frame(1, packFunctionInit(job, packOpts("master", opts))), over.promise);
  const { code, stdout, stderr } = await running;
  over.resolve();
  assertEquals(code, 0, new TextDecoder().decode(stderr));
  const [{ content }] = new FrameReader(2 ** 20).push(stdout);
  assertEquals(unpackFunctionOutcome(content), { return: "over", success: true });
});
