/**
 * Targets that are an address or a network, compared with the grains `ipv4` and `ipv6`.
 * Source: Salt 3008.3 `salt/matchers/ipcidr_match.py`; Python's `ipaddress`.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { addressText, expandIpv6, ipv4Bits, isIpv4 } from "#lib/text/ip_address.ts";
import type { Value } from "#lib/values/value.ts";
import type { Facts } from "./facts.ts";

interface Address {
  readonly version: 4 | 6;
  /** 8 or 32 hexadecimal digits. */
  readonly digits: string;
}

/**
 * A test of grains.
 * @throws {TargetError} If `tgt` is neither an address nor a network.
 */
export function compileIpMatch(tgt: string): (grains: Facts) => boolean {
  const [text, length, ...rest] = tgt.split("/");
  const address = parseAddress(text);
  const bits = address?.version === 4 ? 32 : 128;
  const prefix = length === undefined ? bits : prefixLength(length, bits);
  if (
    address === undefined || prefix === undefined || rest.length > 0 || (length !== undefined && text.includes("%"))
  ) {
    throw new TargetError(`Neither an address nor a network: ${tgt.slice(0, 200)}`, "ipcidr");
  }
  if (length === undefined) {
    const wanted = text.includes("%") ? text : addressText(address.digits);
    return (grains) => addressesOf(grains, address.version).includes(wanted);
  }
  const shift = BigInt(bits - prefix);
  const network = BigInt(`0x${address.digits}`) >> shift;
  if (network << shift !== BigInt(`0x${address.digits}`)) {
    const start = addressText((network << shift).toString(16).padStart(bits / 4, "0"));
    throw new TargetError(`${tgt} is an address within the network ${start}/${prefix}`, "ipcidr");
  }
  return (grains) =>
    addressesOf(grains, address.version).some((item) => {
      const member = typeof item === "string" ? parseAddress(item) : undefined;
      return member?.version === address.version && BigInt(`0x${member.digits}`) >> shift === network;
    });
}

function parseAddress(text: string): Address | undefined {
  if (isIpv4(text)) {
    const digits = text.split(".").map((part) => Number(part).toString(16).padStart(2, "0")).join("");
    return { version: 4, digits };
  }
  const digits = expandIpv6(text);
  return digits === undefined ? undefined : { version: 6, digits };
}

/** The length of a prefix: a number, or a mask of an IPv4 network. */
function prefixLength(text: string, bits: number): number | undefined {
  if (/^\d+$/.test(text)) return Number(text) <= bits ? Number(text) : undefined;
  if (bits !== 32 || !isIpv4(text)) return undefined;
  const mask = ipv4Bits(text);
  // A mask of the network, or one of the hosts.
  const ones = /^(1*)0*$/.exec(mask)?.[1] ?? /^(0*)1*$/.exec(mask)?.[1];
  return ones?.length;
}

/** The addresses in a minion's grains. */
function addressesOf(grains: Facts, version: 4 | 6): Value[] {
  const addresses = grains.get(`ipv${version}`);
  return Array.isArray(addresses) ? addresses : addresses === undefined ? [] : [addresses];
}
