/**
 * Finds out why a master does not answer, by one connection to its port: libzmq only retries, without a message. Sends
 * no data.
 * @module
 */

import { isUnknownHost } from "#lib/os/deno_texts.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** The state of a master that does not answer. */
export interface Reach {
  /** `nameless`: the name has no address yet. `unreachable`: no process listens there. `silent`: a process listens. */
  readonly kind: "nameless" | "unreachable" | "silent";
  /** The text for the operator, after "No answer from the master: ". */
  readonly text: string;
}

/** Tries to connect to `address` (`tcp://host:port`) for at most `withinMs` milliseconds. */
export async function reachOf(address: string, withinMs: number): Promise<Reach> {
  // Not by URL, which knows no zone (`fe80::1%eth0`).
  const { host = "", port } = /^tcp:\/\/\[?(?<host>.*?)\]?:(?<port>\d+)$/.exec(address)?.groups ?? {};
  const late = Promise.withResolvers<"late">();
  const timer = setTimeout(() => late.resolve("late"), withinMs);
  const connecting = Deno.connect({ hostname: host, port: Number(port) });
  try {
    const connection = await Promise.race([connecting, late.promise]);
    if (connection !== "late") {
      connection.close();
      return {
        kind: "silent",
        text: `something listens at ${address}, but has not answered yet: is it a master's ret_port?`,
      };
    }
    void connecting.then((one) => one.close(), () => {}); // libzmq's own tries report later results
    return {
      kind: "unreachable",
      text: `${address} does not react: is the host up, and the port open in its firewall?`,
    };
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    if (isUnknownHost(error)) {
      return { kind: "nameless", text: `${host} cannot be resolved: ${error.message}` };
    }
    return { kind: "unreachable", text: `cannot connect to ${address}: ${error.message}` };
  } finally {
    clearTimeout(timer);
  }
}
