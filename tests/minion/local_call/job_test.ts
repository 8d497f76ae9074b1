/** What `salt-call` does besides its function: without a running minion, and with names that are no returner. */

import { WITHOUT_MASTER } from "#lib/minion/local_call/call_master.ts";
import { type LocalCall, runCall } from "#lib/minion/local_call/job.ts";
import { CallModules } from "#lib/minion/local_call/modules.ts";
import { refreshMinion } from "#lib/minion/local_call/refreshing.ts";
import { giveToReturners } from "#lib/minion/local_call/returners.ts";
import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { NoMasterError } from "#lib/errors.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** Runs functions in a directory without a minion. */
async function calling(
  act: (run: (call: Partial<LocalCall>) => ReturnType<typeof runCall>, parts: {
    readonly opts: ReturnType<typeof testOpts>;
    readonly lines: string[];
    readonly host: Parameters<typeof runCall>[1];
  }) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const { log, lines } = memoryLog();
    const sock_dir = `${root}/sock`;
    Deno.mkdirSync(sock_dir);
    const opts = testOpts({ root_dir: root, cachedir: `${root}/cache`, sock_dir, extension_modules: `${root}/ext` });
    const grains = map({});
    await using modules = new CallModules({ opts, log, grains });
    const { signal } = new AbortController();
    const host = { opts, grains, modules, master: WITHOUT_MASTER, log, signal };
    const call = { fun: "test.ping", arg: [], jid: "20260101000000000000", metadata: undefined };
    await act((given) => runCall({ ...call, ...given }, host), { opts, lines, host });
  });
}

Deno.test("without a running minion nothing is refreshed, and nobody answers a question", () =>
  calling(async (run, { opts, host: { log } }) => {
    assertEquals(await refreshMinion(opts, "grains", { waitS: 5, log }), false);
    // Who waits for a pillar listens first. The bus may end before it is told.
    const none = () => Promise.reject(new NoMasterError("nothing answers"));
    const ended = () => Promise.resolve({ [Symbol.dispose]() {} } as unknown as EventSubscriber);
    for (const by of [none, ended]) {
      await withReplaced(
        EventSubscriber,
        { name: "connect", by },
        async () => assertEquals(await refreshMinion(opts, "pillar", { waitS: 5, log }), false),
      );
    }
    await withReplaced(EventSubscriber, { name: "connect", by: none }, async () => {
      const { success, return: text } = await run({ fun: "beacons.enable" });
      assertEquals([success, text], [
        false,
        "ERROR: No minion is running on this host, so nobody answers manage_beacons",
      ]);
    });
  }));

Deno.test("salt-call gives the options of its executors to them", () =>
  calling(async (run, { host: { modules } }) => {
    const seen: Value[] = [];
    const executor = {
      doc: "",
      params: {},
      varArgs: "args",
      run: (_bound: unknown, _context: unknown, { args }: { readonly args: readonly Value[] }) => {
        const [, data] = args;
        seen.push(mapOrEmpty(data).get("executor_opts") ?? null);
        return "executed";
      },
    };
    const { catalogue } = modules;
    const get = (name: string) => name === "executors/tell.execute" ? Promise.resolve(executor) : catalogue.get(name);
    Object.assign(modules, { catalogue: { ...catalogue, get } });
    const options = map({ loud: true });
    assertEquals((await run({ moduleExecutors: ["tell"], executorOpts: options })).return, "executed");
    assertEquals(seen, [options]);
  }));

Deno.test("names that are no returner's are named in the log, and the others get the result", () =>
  calling(async (_run, { lines, host }) => {
    await giveToReturners(map({ jid: "1", return: true }), [toValue("../x,local_cache")], host);
    assert(lines.some((line) => line.includes("There is no returner of the name ../x")), lines.join("\n"));
  }));
