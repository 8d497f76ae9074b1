/**
 * In place of a thread of jobs: it says that it has begun, then what is no message, and that again.
 * @module
 */

import { serveThread } from "#lib/runtime/thread.ts";

serveThread((_init, { post }) => {
  for (const kind of ["begun", "nonsense", "nonsense", "begun"]) post({ kind });
  return Promise.resolve({ describe: () => "junk", close: () => Promise.resolve() });
});
