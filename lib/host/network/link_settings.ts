/**
 * The settings of this host's network interfaces, as the kernel has them, and a watch that is told when they change.
 * Attributes have the names and values of pyroute2, which Salt uses.
 * Source: rtnetlink(7), `linux/if_link.h`, `linux/if_addr.h`; `ATTRS` of Salt 3008.3
 * `salt/beacons/network_settings.py`.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { NETLINK_GROUPS, NETLINK_TYPES, type NetlinkMessage, NetlinkSocket } from "#lib/libc/netlink.ts";
import { waitForDescriptor } from "#lib/sockets/epoll.ts";
import type { DescriptorWait } from "#lib/sockets/wait.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { addressText } from "#lib/text/ip_address.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

const LITTLE = true;
/** Changes that come together are one, in milliseconds. */
const TOGETHER_MS = 50;
/** Most reads of one list: a kernel that does not end it is an error. */
const MAX_READS = 10_000;
const AF_INET = 2;

const OPERATION_STATES = ["UNKNOWN", "NOTPRESENT", "DOWN", "LOWERLAYERDOWN", "TESTING", "DORMANT", "UP"];

type Reader = (bytes: Uint8Array) => Value;

const readU8: Reader = (bytes) => bytes[0];
const readU32: Reader = (bytes) => viewOf(bytes).getUint32(0, LITTLE);
const readText: Reader = (bytes) => new TextDecoder().decode(bytes).replace(/\0.*$/s, "");
const readHardware: Reader = (bytes) => bytes.toHex().replace(/..(?=.)/g, "$&:");

/** The attributes of a link, by the kernel's number. */
const LINK_ATTRIBUTES: ReadonlyMap<number, readonly [name: string, read: Reader]> = new Map([
  [1, ["address", readHardware]],
  [2, ["broadcast", readHardware]],
  [3, ["ifname", readText]],
  [4, ["mtu", readU32]],
  [6, ["qdisc", readText]],
  [13, ["txqlen", readU32]],
  [16, ["operstate", (bytes) => OPERATION_STATES[bytes[0]] ?? bytes[0]]],
  [17, ["linkmode", readU8]],
  [18, ["kind", (bytes) => readText(attributesIn(bytes).get(1) ?? new Uint8Array())]],
  [27, ["group", readU32]],
  [30, ["promiscuity", readU32]],
  [31, ["num_tx_queues", readU32]],
  [32, ["num_rx_queues", readU32]],
  [33, ["carrier", readU8]],
  [35, ["carrier_changes", readU32]],
]);

/** Attributes of addresses: `IFA_ADDRESS`, and `IFA_LOCAL`, which point-to-point links have as well. */
const ADDRESS = 1, LOCAL = 2;

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Attributes behind a fixed part: u16 length, u16 type, the value, padded to four bytes. */
function attributesIn(bytes: Uint8Array): Map<number, Uint8Array> {
  const found = new Map<number, Uint8Array>(), view = viewOf(bytes);
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = view.getUint16(at, LITTLE), type = view.getUint16(at + 2, LITTLE) & 0x3fff;
    if (length < 4 || at + length > bytes.length) break;
    found.set(type, bytes.subarray(at + 4, at + length));
    at += (length + 3) & ~3;
  }
  return found;
}

/** `struct ifinfomsg`: u8 family, u8 nothing, u16 type, i32 index, u32 flags, u32 change; then the attributes. */
function readLink({ body }: NetlinkMessage): ValueMap {
  const view = viewOf(body), attributes = attributesIn(body.subarray(16));
  const link: ValueMap = new Map<Value, Value>([
    ["family", view.getUint8(0)],
    ["ifi_type", view.getUint16(2, LITTLE)],
    ["index", view.getInt32(4, LITTLE)],
    ["flags", view.getUint32(8, LITTLE)],
  ]);
  for (const [number, [name, read]] of LINK_ATTRIBUTES) {
    const bytes = attributes.get(number);
    if (bytes !== undefined) link.set(name, read(bytes));
  }
  return link;
}

function readAddressText(family: number, bytes: Uint8Array): string {
  if (family === AF_INET) return bytes.join(".");
  return addressText(bytes.toHex());
}

/** `struct ifaddrmsg`: u8 family, u8 prefix length, u8 flags, u8 scope, u32 index; then the attributes. */
function readAddress({ body }: NetlinkMessage): { readonly index: number; readonly address: Value } {
  const [family, prefix] = body, attributes = attributesIn(body.subarray(8));
  const bytes = attributes.get(LOCAL) ?? attributes.get(ADDRESS) ?? new Uint8Array();
  return { index: viewOf(body).getUint32(4, LITTLE), address: [readAddressText(family, bytes), prefix] };
}

/** All messages of one kind. */
function readAll(socket: NetlinkSocket, ask: number, kind: number): NetlinkMessage[] {
  socket.requestAll(ask);
  const all: NetlinkMessage[] = [];
  for (let reads = 0; reads < MAX_READS; reads++) {
    const messages = socket.read();
    all.push(...messages.filter(({ type }) => type === kind));
    if (messages.some(({ type }) => type === NETLINK_TYPES.done)) return all;
    if (messages.length === 0 || messages.some(({ type }) => type === NETLINK_TYPES.error)) break;
  }
  throw new CommandError("The kernel did not list the network interfaces");
}

/**
 * The settings of all interfaces, by their names; `ipaddr` is the list of their addresses and lengths of prefixes.
 * @throws {CommandError} If the kernel does not list them.
 * @throws {LibcError} If the system refuses.
 */
export function readLinkSettings(): Map<string, ValueMap> {
  const socket = new NetlinkSocket(0);
  try {
    const links = readAll(socket, NETLINK_TYPES.getLink, NETLINK_TYPES.newLink).map(readLink);
    const addresses = readAll(socket, NETLINK_TYPES.getAddress, NETLINK_TYPES.newAddress).map(readAddress);
    for (const link of links) {
      link.set("ipaddr", addresses.filter(({ index }) => index === link.get("index")).map(({ address }) => address));
    }
    return new Map(links.map((link) => [String(link.get("ifname")), link]));
  } finally {
    socket.close();
  }
}

/** Calls `changed` when the kernel has told that links or addresses have changed, until it is closed. */
export class LinkWatch {
  readonly #socket = new NetlinkSocket(NETLINK_GROUPS);
  readonly #wait: DescriptorWait;
  #timer: Timer | undefined;
  #closed = false;

  /**
   * @param changed Must not throw.
   * @throws {LibcError} If the system refuses.
   */
  constructor(changed: () => void) {
    this.#wait = waitForDescriptor(this.#socket.fd);
    void this.#serve(changed);
  }

  async #serve(changed: () => void): Promise<void> {
    while (!this.#closed) {
      await this.#wait.wait(-1);
      if (this.#closed) break;
      // Also when the kernel only says that it has lost messages: what is read then is how it is now.
      while (this.#socket.read().length > 0);
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        changed();
      }, TOGETHER_MS);
    }
    this.#socket.close();
  }

  /** Ends it. May be called twice. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#wait.close();
  }
}
