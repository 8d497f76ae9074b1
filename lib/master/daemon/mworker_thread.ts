/**
 * The thread of an MWorker.
 * @module
 */

import type { SupervisedInit } from "#lib/sockets/supervised_thread.ts";
import { MWorker, type MWorkerParts } from "./mworker.ts";
import { noteSockets } from "#lib/sockets/context.ts";
import { serveThread, surviveErrors } from "#lib/runtime/thread.ts";
import { shareJids } from "#lib/protocol/jid.ts";
import { heedStopWord } from "#lib/values/stop_word.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { withPythonEauth } from "#lib/master/functions/python_auth.ts";
import { loadEauth } from "#modules/auth/_built_in.ts";
import { BACKENDS } from "#modules/fileserver/_built_in.ts";

/** The data that the thread starts with. */
export interface MWorkerInit extends MWorkerParts, SupervisedInit {
  /** The master's options, packed. */
  readonly opts: Uint8Array;
  /** The memory of the last job id. */
  readonly jids: SharedArrayBuffer;
  /** Memory of the `StopWord` that ends what computes in it. */
  readonly stop: SharedArrayBuffer;
}

serveThread<MWorkerInit>(async (init, host) => {
  surviveErrors(host.log);
  heedStopWord(init.stop);
  noteSockets(init.sockets);
  shareJids(init.jids);
  return await MWorker.start(unpackOpts("master", init.opts), init, {
    host,
    plugins: { backends: BACKENDS, loadEauth: withPythonEauth(loadEauth) },
  });
});
