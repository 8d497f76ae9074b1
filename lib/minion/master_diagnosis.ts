/**
 * Why a master does not answer, as far as a connection to its port tells: libzmq tries on in silence, whatever is wrong.
 * Asks once; sends nothing.
 * @module
 */

/** What is known of a master that does not answer. */
export interface Reach {
  /** `nameless`: the name means no address, so far. `unreachable`: nobody listens there. `silent`: somebody does. */
  readonly kind: "nameless" | "unreachable" | "silent";
  /** The same for the operator, after "No answer from the master: ". */
  readonly text: string;
}

/** Tries to connect to `address` (`tcp://host:port`) for at most `withinMs` milliseconds. */
export async function reachOf(address: string, withinMs: number): Promise<Reach> {
  const { hostname, port } = new URL(address.replace(/^tcp:/, "http:"));
  const host = hostname.replace(/^\[|\]$/g, "");
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), withinMs);
  // A port of 80 is none that a URL shows.
  const connecting = Deno.connect({ hostname: host, port: Number(port || 80) });
  try {
    const connection = await Promise.race([connecting, late.promise]);
    if (connection !== "late") {
      connection.close();
      return {
        kind: "silent",
        text: `something listens at ${address}, but has not answered yet: is it a master's ret_port?`,
      };
    }
    void connecting.then((one) => one.close(), () => {}); // what comes of it is told by libzmq's own tries
    return {
      kind: "unreachable",
      text: `${address} does not react: is the host up, and the port open in its firewall?`,
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // The runtime has no class for a name that is not found: those of the system's errors have codes, this one has none.
    if (!("code" in error)) return { kind: "nameless", text: `${host} is no host that can be found: ${error.message}` };
    return { kind: "unreachable", text: `cannot connect to ${address}: ${error.message}` };
  } finally {
    clearTimeout(timer);
  }
}
