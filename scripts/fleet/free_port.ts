/**
 * A port for servers that must be at the same address again: after a restart, or for programs that got the address before.
 *
 * The system may give a free port of its choice to another server or to the local end of a new connection. These are
 * below the range from which Linux, macOS and Windows give ports (32768, or 49152, and above), and processes that run
 * at the same time begin to look at different places.
 * @module
 */

const FIRST = 20_000;
const COUNT = 10_000;
/** So many are a process's own before the next one's begin. */
const EACH = 20;

let next = (Deno.pid * EACH) % COUNT;

/** A free port; another one at each call. @throws {Error} If all are taken. */
export function freePort(): number {
  for (let tried = 0; tried < COUNT; tried++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (isFree(port)) return port;
  }
  throw new Error(`all ports from ${FIRST} to ${FIRST + COUNT - 1} are taken`);
}

/** Whether a server could listen there, on any address. */
function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "0.0.0.0", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
