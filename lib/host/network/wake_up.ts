/**
 * Wakes a host by Wake-on-LAN.
 * Source: Salt 3008.3, `salt/utils/network.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { sendDatagram } from "#lib/libc/udp.ts";

/**
 * Sends the packet that wakes the host with a hardware address, written with or without separators.
 * @param bcast The IPv4 broadcast address to send to.
 * @throws {InvocationError} If an address is invalid.
 * @throws {LibcError} If the system refuses.
 */
export function wakeUp(mac: string, bcast: string, port: number): void {
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new InvocationError(`destport must be a port, not ${port}`);
  }
  const digits = mac.length === 17 ? mac.replaceAll(mac[2], "") : mac;
  if (!/^[0-9a-fA-F]{12}$/.test(digits)) throw new InvocationError("Invalid MAC address");
  const address = Uint8Array.fromHex(digits);
  const packet = new Uint8Array(6 + 16 * address.length).fill(0xff, 0, 6);
  for (let i = 0; i < 16; i++) packet.set(address, 6 + i * address.length);
  try {
    sendDatagram(packet, bcast, port);
  } catch (error) {
    if (error instanceof RangeError) throw new InvocationError(`bcast: ${error.message}`);
    throw error;
  }
}
