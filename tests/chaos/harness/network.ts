/**
 * A network for one run: the minions are in a network namespace, the master is outside, and a namespace between them
 * routes packets or stops doing so.
 *
 * ```text
 * master  10.213.n.1, .2 ──veth── router ──veth── 10.213.n+1.10  minions
 * ```
 * with an n that no other network of this machine has.
 *
 * The faults happen in the router: a cut wire, packets that are dropped silently, packets that are lost at random.
 * Needs root and iproute2.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import type { Places } from "./process_fleet.ts";

/** The master's name, which the minions' namespace resolves by a hosts file of its own. */
const NAME = "master.chaos";

/** The network. */
export class Network implements Disposable {
  readonly #router: string;
  readonly #minions: string;
  readonly #outside: string;
  /** The first three numbers of the addresses on each side, with a trailing dot. */
  readonly #masters: string;
  readonly #others: string;
  /** Undo functions; the last one runs first. */
  readonly #undo: (() => void)[] = [];

  private constructor() {
    const mark = crypto.randomUUID().slice(0, 6);
    [this.#router, this.#minions, this.#outside] = [`chaosr${mark}`, `chaosm${mark}`, `chaoso${mark}`];
    const n = freePair();
    [this.#masters, this.#others] = [`10.213.${n}.`, `10.213.${n + 1}.`];
  }

  /** The reason why this machine cannot make a network; `undefined` if it can. */
  static missing(): string | undefined {
    if (Deno.uid() !== 0) return "network namespaces need root";
    const name = `chaost${crypto.randomUUID().slice(0, 6)}`;
    try {
      ip("netns", "add", name);
      ip("netns", "delete", name);
      return undefined;
    } catch (error) {
      return `no network namespaces: ${messageOf(error)}`;
    }
  }

  static make(): Network {
    const network = new Network();
    try {
      network.#make();
      return network;
    } catch (error) {
      network[Symbol.dispose]();
      throw error;
    }
  }

  #make(): void {
    for (const name of [this.#router, this.#minions]) {
      ip("netns", "add", name);
      this.#undo.push(() => ip("netns", "delete", name));
      ip("-n", name, "link", "set", "lo", "up");
    }
    ip("link", "add", this.#outside, "type", "veth", "peer", "name", "rout", "netns", this.#router);
    // If only the namespace is removed, the kernel removes its links and routes later: the next network would conflict
    // with them.
    this.#undo.push(() => ip("link", "delete", this.#outside));
    ip("link", "add", "rin", "netns", this.#router, "type", "veth", "peer", "name", "eth", "netns", this.#minions);
    ip("address", "add", `${this.#masters}1/24`, "dev", this.#outside);
    ip("address", "add", `${this.#masters}2/24`, "dev", this.#outside);
    ip("link", "set", this.#outside, "up");
    ip("-n", this.#router, "address", "add", `${this.#masters}254/24`, "dev", "rout");
    ip("-n", this.#router, "address", "add", `${this.#others}254/24`, "dev", "rin");
    for (const link of ["rout", "rin"]) ip("-n", this.#router, "link", "set", link, "up");
    ip("-n", this.#minions, "address", "add", `${this.#others}10/24`, "dev", "eth");
    ip("-n", this.#minions, "link", "set", "eth", "up");
    ip("-n", this.#minions, "route", "add", "default", "via", `${this.#others}254`);
    ip("route", "add", `${this.#others}0/24`, "via", `${this.#masters}254`, "dev", this.#outside);
    this.#forward(true);
    Deno.mkdirSync(`/etc/netns/${this.#minions}`, { recursive: true });
    this.#undo.push(() => Deno.removeSync(`/etc/netns/${this.#minions}`, { recursive: true }));
    this.#name(`${this.#masters}1`);
  }

  /**
   * Where a fleet's processes run.
   * @param address The address that the master listens on.
   */
  places(address = `${this.#masters}1`): Places {
    const inside = ["ip", "netns", "exec", this.#minions];
    return { masterAddress: address, masterName: NAME, master: [], minion: () => inside };
  }

  /** The address after {@linkcode move}. */
  get movedAddress(): string {
    return `${this.#masters}2`;
  }

  /** From now on the master's name resolves to its other address. */
  move(): void {
    this.#name(this.movedAddress);
  }

  #name(address: string): void {
    // The file is written in place, because it is mounted over /etc/hosts.
    Deno.writeTextFileSync(`/etc/netns/${this.#minions}/hosts`, `127.0.0.1 localhost\n${address} ${NAME}\n`);
  }

  /** Cuts the wire of the minions. */
  cut(): void {
    ip("-n", this.#router, "link", "set", "rin", "down");
  }

  /** Reconnects the wire. */
  mend(): void {
    ip("-n", this.#router, "link", "set", "rin", "up");
  }

  /** The router drops everything silently. */
  swallow(): void {
    this.#forward(false);
  }

  /** The router forwards again. */
  pass(): void {
    this.#forward(true);
  }

  #forward(on: boolean): void {
    const write = `echo ${on ? 1 : 0} > /proc/sys/net/ipv4/ip_forward`;
    run("ip", "netns", "exec", this.#router, "sh", "-c", write);
  }

  /** Drops this number of a thousand packets in each direction, at random. */
  lose(perThousand: number): void {
    // A classic BPF program that drops when a random word is below the share; 2 is TC_ACT_SHOT.
    const threshold = Math.floor(perThousand / 1000 * 2 ** 32);
    const program = `4,32 0 0 4294963256,53 0 1 ${threshold},6 0 0 0,6 0 0 2`;
    for (const link of ["rout", "rin"]) {
      run("tc", "-n", this.#router, "qdisc", "add", "dev", link, "clsact");
      run("tc", "-n", this.#router, "filter", "add", "dev", link, "egress", "bpf", "da", "bytecode", program);
    }
  }

  [Symbol.dispose](): void {
    for (const undo of this.#undo.splice(0).reverse()) undo();
  }
}

/** An even number below 256 such that neither 10.213.n.0/24 nor the next network has a route yet. */
function freePair(): number {
  const taken = new TextDecoder().decode(
    new Deno.Command("ip", { args: ["-4", "route"], stdin: "null" }).outputSync().stdout,
  );
  const free = Array.from({ length: 127 }, (_, i) => 2 * i)
    .filter((n) => !taken.includes(`10.213.${n}.`) && !taken.includes(`10.213.${n + 1}.`));
  if (free.length === 0) throw new Error("every network below 10.213.0.0/16 is taken: left by earlier runs?");
  return free[Math.floor(Math.random() * free.length)];
}

function ip(...args: string[]): void {
  run("ip", ...args);
}

function run(command: string, ...args: string[]): void {
  const { success, stderr } = new Deno.Command(command, { args, stdin: "null", stdout: "null" }).outputSync();
  if (!success) throw new Error(`${command} ${args.join(" ")}: ${new TextDecoder().decode(stderr).trim()}`);
}
