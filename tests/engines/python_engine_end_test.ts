/** An engine in Python whose bus ends. */

import { pack } from "#lib/minion/worker/job_protocol.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";
import { runPythonEngine } from "#lib/minion/local_call/python_engine.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const READER = `
import salt.utils.event

def start():
    with salt.utils.event.get_event("minion", opts=__opts__, sock_dir="/none", listen=True) as bus:
        bus.get_event(wait=60)
`;

Deno.test("an engine that reads events ends with the bus, and closes its stream", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root, extension_modules: `${root}/ext`, cachedir: `${root}/cache` });
    Deno.mkdirSync(`${root}/ext/engines`, { recursive: true });
    Deno.writeTextFileSync(`${root}/ext/engines/reader.py`, READER);
    const done: string[] = [];
    const stream = { next: () => Promise.resolve(undefined), close: () => void done.push("close") };
    const init = { role: "minion", name: "reader", module: "reader", opts: pack({}), options: pack({}) } as const;
    const why = await runPythonEngine(init, {
      bus: {
        fire: () => Promise.resolve(true),
        fireHere: () => Promise.resolve(true),
        open: () => Promise.resolve(stream).finally(() => done.push("open")),
      },
      log: SILENT_LOGGER,
      opts,
      values: new Map(),
      role: "minion",
      plugins: pythonPlugins(opts, () => {}),
      signal: new AbortController().signal,
    });
    assertEquals([why, done], ["the bus has ended", ["open", "close"]]);
  }));
