/**
 * Messages between the kernel and this process about the network: rtnetlink(7). Only on Linux, and only for threads
 * that may use FFI.
 * Source: the Linux manual pages netlink(7), rtnetlink(7); `linux/rtnetlink.h`, `linux/if_link.h`.
 * @module
 */

import { cLibrary } from "./c_library.ts";
import { check } from "./libc.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  close: { parameters: ["i32"], result: "i32" },
} as const;

const libc = cLibrary(SYMBOLS, ["recv"]);

const AF_NETLINK = 16, SOCK_RAW = 3, SOCK_NONBLOCK = 0o4000, SOCK_CLOEXEC = 0o2000000, NETLINK_ROUTE = 0;
/** Of the header of a message: a request for all objects. */
const NLM_F_REQUEST = 1, NLM_F_DUMP = 0x300;

/** The types of messages that are used here. */
export const NETLINK_TYPES = {
  error: 2,
  done: 3,
  newLink: 16,
  getLink: 18,
  newAddress: 20,
  getAddress: 22,
} as const;

/** Groups of messages that a socket gets without asking: links, IPv4 and IPv6 addresses. */
export const NETLINK_GROUPS = 0x1 | 0x10 | 0x100;

/** Bytes of the header of a message: u32 length, u16 type, u16 flags, u32 number, u32 port. */
const HEAD = 16;
/** The kernel writes at most so many bytes at once. */
const BUFFER = 1 << 16;
const LITTLE = true;

/** One message of the kernel. */
export interface NetlinkMessage {
  /** Of {@linkcode NETLINK_TYPES}, or another one. */
  readonly type: number;
  /** What follows the header. */
  readonly body: Uint8Array;
}

/** A socket of the kernel's network messages. */
export class NetlinkSocket {
  /** The descriptor, which is readable when there are messages. */
  readonly fd: number;
  readonly #buffer = new Uint8Array(BUFFER);
  #closed = false;

  /**
   * @param groups What it is told; 0: only answers.
   * @throws {LibcError} If the system refuses.
   */
  constructor(groups: number) {
    this.fd = libc().socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    check("socket", this.fd);
    // struct sockaddr_nl: u16 family, u16 nothing, u32 port (0: the kernel chooses), u32 groups.
    const address = new Uint8Array(12), view = new DataView(address.buffer);
    view.setUint16(0, AF_NETLINK, LITTLE);
    view.setUint32(8, groups, LITTLE);
    check("bind", libc().bind(this.fd, address, address.length));
  }

  /**
   * Asks for all objects of one kind.
   * @param type `getLink` or `getAddress`.
   * @throws {LibcError} If the system refuses.
   */
  requestAll(type: number): void {
    // After the header comes the family, with which a whole struct ifinfomsg of zeros is right for both kinds.
    const request = new Uint8Array(HEAD + 16), view = new DataView(request.buffer);
    view.setUint32(0, request.length, LITTLE);
    view.setUint16(4, type, LITTLE);
    view.setUint16(6, NLM_F_REQUEST | NLM_F_DUMP, LITTLE);
    check("send", Number(libc().send(this.fd, request, BigInt(request.length), 0)));
  }

  /**
   * The messages that one call of the system returns; empty if there are none, or if the kernel only says that it has
   * lost some.
   */
  read(): NetlinkMessage[] {
    if (this.#closed) return [];
    const length = Number(libc().recv(this.fd, this.#buffer, BigInt(BUFFER), 0));
    const messages: NetlinkMessage[] = [], view = new DataView(this.#buffer.buffer);
    for (let at = 0; at + HEAD <= length;) {
      const size = view.getUint32(at, LITTLE);
      if (size < HEAD || at + size > length) break;
      messages.push({ type: view.getUint16(at + 4, LITTLE), body: this.#buffer.slice(at + HEAD, at + size) });
      at += (size + 3) & ~3;
    }
    return messages;
  }

  /** Closes it. May be called twice. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    libc().close(this.fd);
  }
}
