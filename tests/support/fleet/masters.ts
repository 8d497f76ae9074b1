/**
 * Several masters in this process, each with its own ports and directories, and one key pair: what a minion with a list
 * of masters needs.
 *
 *     mastersTest("…", 2, {}, async (site) => {
 *       await site.serve("web1");
 *     });
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { Minion } from "#lib/minion/agent/minion.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Fleet, type FleetOptions } from "./fleet.ts";

/** Running masters; the first one's fleet holds the minions. */
class MastersSite implements AsyncDisposable {
  readonly fleets: readonly Fleet[];

  constructor(fleets: readonly Fleet[]) {
    this.fleets = fleets;
  }

  /** What the option `master` of a minion of these masters holds. */
  get list(): string[] {
    return this.fleets.map(({ masterOpts }) => `127.0.0.1:${masterOpts.ret_port}`);
  }

  /** The lines of all logs. */
  get logs(): string[] {
    return this.fleets.flatMap(({ logs }) => logs);
  }

  /** Starts a minion with all masters, or with those that the options name; does not wait. */
  async startMinion(id: string, options: Readonly<Record<string, unknown>> = {}): Promise<Minion> {
    return await this.fleets[0].startMinion(id, { master: this.list, ...options });
  }

  /** Starts a minion, and waits until these masters have its start event. */
  async serve(
    id: string,
    options: Readonly<Record<string, unknown>> = {},
    fleets: readonly Fleet[] = this.fleets,
  ): Promise<void> {
    const [first, ...rest] = fleets;
    const start = () => this.startMinion(id, options);
    const nested = rest.reduce((act, fleet) => () => fleet.untilServing([id], act), start as () => Promise<unknown>);
    await first.untilServing([id], nested);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const [first, ...rest] = this.fleets;
    await first[Symbol.asyncDispose]();
    await Promise.all(rest.map((fleet) => fleet[Symbol.asyncDispose]()));
  }
}

/** The options of several masters. */
interface MastersOptions extends FleetOptions {
  /** Whether all have the first one's key pair. Default: true. */
  readonly sharesKey?: boolean;
  /** The private key that signs the masters' keys, as PEM. */
  readonly signingKey?: string;
}

/**
 * Starts masters.
 */
async function startMasters(
  count: number,
  options: MastersOptions = {},
): Promise<MastersSite> {
  const fleets = Array.from({ length: count }, () => new Fleet(options));
  for (const fleet of fleets) {
    if (fleet !== fleets[0] && (options.sharesKey ?? true)) copyKeys(fleets[0], fleet);
    if (options.signingKey !== undefined) writeSigningKey(fleet, options.signingKey);
    await fleet.startMaster();
  }
  return new MastersSite(fleets);
}

const PKI = "etc/salt/pki/master";

/** Gives a master that has not begun the key pair of another one, which is there. */
export function copyKeys(from: Fleet, to: Fleet): void {
  Deno.mkdirSync(`${to.configDir}/${PKI}`, { recursive: true, mode: 0o700 });
  for (const name of ["master.pem", "master.pub"]) {
    Deno.copyFileSync(`${from.configDir}/${PKI}/${name}`, `${to.configDir}/${PKI}/${name}`);
  }
}

function writeSigningKey(fleet: Fleet, pem: string): void {
  Deno.mkdirSync(`${fleet.configDir}/${PKI}`, { recursive: true, mode: 0o700 });
  Deno.writeTextFileSync(`${fleet.configDir}/${PKI}/master_sign.pem`, pem, { mode: 0o400 });
}

/** Registers a test with several masters. A failure shows their logs. */
export function mastersTest(
  name: string,
  count: number,
  options: MastersOptions,
  run: (site: MastersSite) => Promise<void>,
): void {
  Deno.test(name, async () => {
    await using site = await startMasters(count, options);
    try {
      await run(site);
    } catch (error) {
      const logs = site.logs.slice(-80).join("\n");
      throw new Error(`${messageOf(error)}\n\nLast of the logs:\n${logs}`, { cause: error });
    }
  });
}

/** Waits for a line of a log. */
export async function untilLogged(site: MastersSite, text: string | RegExp): Promise<void> {
  const matches = (line: string) => typeof text === "string" ? line.includes(text) : text.test(line);
  await eventually(() => site.logs.some(matches), { what: `the line ${text}` });
}
