/**
 * Finds a free port for a server that must use the same address again: after a restart, or because programs already
 * know the address.
 *
 * The system could give a port of its own choice to another server, or to the local end of a new connection. These
 * ports are below the range from which Linux, macOS and Windows choose (32768, or 49152, and above), and processes that
 * run at the same time begin their search at different ports.
 * @module
 */

const FIRST = 20_000;
const COUNT = 10_000;
/** Number of ports between the first ports of two processes. */
const PORTS_PER_PROCESS = 20;

let next = (Deno.pid * PORTS_PER_PROCESS) % COUNT;

/**
 * A free port. Each call gives another one.
 * @throws {Error} If all are taken.
 */
export function freePort(): number {
  for (let tried = 0; tried < COUNT; tried++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (isFree(port)) return port;
  }
  throw new Error(`all ports from ${FIRST} to ${FIRST + COUNT - 1} are taken`);
}

/** Whether a server can listen on this port, on any address. */
function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "0.0.0.0", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
