/**
 * Whether a port of a host can be reached, with the texts of Salt's `network.connect`.
 * Source: Salt 3008.3, `salt/modules/network.py`; getaddrinfo(3), services(5).
 * @module
 */

import type { Socket as TcpSocket } from "node:net";
import { HostFiles } from "#lib/programs/files.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import type { Value } from "#lib/values/value.ts";

/** The destination of a connection. */
export interface Destination {
  /** The given name, for the comment. */
  readonly host: string;
  /** The name that is looked up. */
  readonly name: string;
  /** A number, or the name of a service. */
  readonly port: string;
  readonly proto: "tcp" | "udp";
}

/** How. */
export interface ConnectOptions {
  /** `ipv4`, `ipv6`; anything else means either. */
  readonly family: Value;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Connects to a port, or sends it a datagram and waits for an answer. Never rejects. */
export async function connectTo(
  to: Destination,
  options: ConnectOptions,
): Promise<{ result: boolean; comment: string }> {
  const { host, proto, port } = to;
  const number = /^\d+$/.test(port) ? Number(port) : servicePort(port, proto);
  const address = number === undefined || number > 65_535 ? undefined : await addressOf(to.name, options.family);
  if (address === undefined || number === undefined) {
    return { result: false, comment: `Unable to resolve host ${host} on ${proto} port ${port}` };
  }
  const done = proto === "tcp"
    ? await connects({ address, port: number }, options)
    : await answers({ address, port: number }, options);
  const what = done ? "Successfully connected to" : "Unable to connect to";
  return { result: done, comment: `${what} ${host} (${address}) on ${proto} port ${port}` };
}

function servicePort(name: string, proto: string): number | undefined {
  for (const line of (new HostFiles().text("/etc/services") ?? "").split("\n")) {
    const [service, port = "", ...aliases] = line.replace(/#.*/, "").trim().split(/\s+/);
    const [number, protocol] = port.split("/");
    if (protocol === proto && [service, ...aliases].includes(name)) return Number(number);
  }
  return undefined;
}

async function addressOf(name: string, family: Value): Promise<string | undefined> {
  const { lookup } = await import("node:dns/promises");
  try {
    return (await lookup(name, { family: family === "ipv4" ? 4 : family === "ipv6" ? 6 : 0 })).address;
  } catch {
    return undefined;
  }
}

interface Place {
  readonly address: string;
  readonly port: number;
}

/**
 * Resolves with the result that `begin` reports, or with false at the time-out or when the job ends; then `end` is
 * called.
 */
async function within(
  { timeoutMs, signal }: ConnectOptions,
  begin: (settle: (done: boolean) => void) => () => void,
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const end = begin(resolve);
  const timer = setTimeout(() => resolve(false), timeoutMs);
  const stop = () => resolve(false);
  signal.addEventListener("abort", stop);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    end();
  }
}

async function connects({ address, port }: Place, options: ConnectOptions): Promise<boolean> {
  const { connect } = await import("node:net");
  return await within(options, (settle) => {
    const socket: TcpSocket = connect({ host: address, port });
    socket.once("connect", () => settle(true));
    socket.on("error", () => settle(false));
    return () => socket.destroy();
  });
}

async function answers({ address, port }: Place, options: ConnectOptions): Promise<boolean> {
  const { createSocket } = await import("node:dgram");
  return await within(options, (settle) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.once("message", () => settle(true));
    socket.on("error", () => settle(false));
    socket.send(crypto.randomUUID(), port, address, (error) => {
      if (error !== null) settle(false);
    });
    return () => socket.close();
  });
}
