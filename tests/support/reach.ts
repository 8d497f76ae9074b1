/**
 * Reports the operations that its user may do on each given path, as one JSON object: path → operations that succeeded.
 * @module
 */

import { MAX_SOCKET_PATH } from "#lib/commands/daemons/preflight.ts";

const TRIES: Readonly<Record<string, (path: string) => unknown>> = {
  list: (path) => [...Deno.readDirSync(path)],
  read: (path) => Deno.readFileSync(path),
  write: (path) => Deno.openSync(path, { append: true, create: false }).close(),
  make: (path) => Deno.removeSync(Deno.makeTempFileSync({ dir: path })),
  connect: async (path) => {
    if (path.length > MAX_SOCKET_PATH) throw new Deno.errors.NotSupported("no socket has so long a path");
    (await Deno.connect({ transport: "unix", path })).close();
  },
};

const reached: Record<string, string[]> = {};
for (const path of JSON.parse(Deno.args[0])) {
  for (const [name, act] of Object.entries(TRIES)) {
    try {
      await act(path);
      (reached[path] ??= []).push(name);
    } catch (error) {
      if (error instanceof TypeError) throw error;
    }
  }
}
Deno.stdout.writeSync(new TextEncoder().encode(JSON.stringify(reached)));
