/**
 * Salt's filters for addresses and networks.
 * Source: Salt 3008.3, `salt/utils/network.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { pythonError } from "#lib/python/errors.ts";
import { dictOf } from "./dict_of.ts";
import { toList } from "#lib/python/iterate.ts";
import { intOf, isTruthy, textOf } from "#lib/python/kinds.ts";
import { native } from "#lib/python/native.ts";
import { type CallContext, type Kwargs, type Obj, PyObject, type Result, type Run } from "#lib/python/object.ts";
import { strOf } from "#lib/python/repr.ts";
import {
  hasIpProperty,
  hostsOf,
  ipAddressText,
  type IpInterface,
  ipInterfaceText,
  type IpProperty,
  isInNetwork,
  networkOf,
  networkSize,
  parseIpAddress,
  parseIpInterface,
  parseIpNetwork,
} from "#lib/text/ip_network.ts";
import { int } from "#lib/values/value.ts";
import { classText, needText, refuseUndefined, sequenceOf } from "./arguments.ts";
import { resolveHost } from "./resolve_host.ts";

/** The options of the filters, by the words that name them, in the order in which Salt asks. */
const OPTIONS: readonly (readonly [words: readonly string[], IpProperty])[] = [
  [["global", "public"], "global"],
  [["link-local", "linklocal", "ll", "link_local"], "linkLocal"],
  [["loopback", "lo"], "loopback"],
  [["multicast"], "multicast"],
  [["private"], "private"],
  [["reserved"], "reserved"],
  [["site-local", "sl", "site_local"], "siteLocal"],
  [["unspecified"], "unspecified"],
];

type Version = 4 | 6;

/** The text of `obj` if it is an address or interface of this version that has all properties of `options`. */
function ipText(obj: Obj, version: Version, options: Obj): string | undefined {
  const text = textOf(obj);
  if (text === undefined) return undefined;
  const address = parseIpAddress(text), entry = parseIpInterface(text);
  if (entry === undefined || entry.version !== version) return undefined;
  if (isTruthy(options)) {
    const wanted = needText(options).split(",").map((option) => option.trim());
    const requested = OPTIONS.filter(([words]) => words.some((word) => wanted.includes(word)));
    if (!requested.every(([, property]) => hasIpProperty(entry, property))) return undefined;
  }
  return address === undefined ? ipInterfaceText(entry) : ipAddressText(address);
}

/** Salt's `ipv4` and `ipv6`: the text, the valid members of a list, or None. */
function ofVersion(value: Obj, version: Version, options: Obj): string | string[] | null {
  refuseUndefined(value);
  if (textOf(value) !== undefined) return ipText(value, version, options) ?? null;
  return membersOf(value)?.flatMap((item) => ipText(item, version, options) ?? []) ?? null;
}

/** The items of a list, a tuple or a generator. */
function membersOf(value: Obj): readonly Obj[] | undefined {
  if (value instanceof PyObject && value.typeName === "generator") return toList(value);
  return sequenceOf(value);
}

function ofEither(value: Obj, options: Obj): string | string[] | null {
  const members = membersOf(value) ?? value;
  const four = ofVersion(members as Obj, 4, options), six = ofVersion(members as Obj, 6, options);
  if (Array.isArray(four) && Array.isArray(six)) return [...four, ...six];
  return four ?? six;
}

/** What `each` gives for the one address, or for each address of a list; None if there is none. */
function ofAddresses(value: Obj, options: Obj, version: Obj, each: (entry: IpInterface) => Obj): Obj {
  const wanted = version === null ? undefined : intOf(version);
  const answer = wanted === undefined || wanted === 0
    ? ofEither(value, options)
    : wanted === 4 || wanted === 6
    ? ofVersion(value, wanted === 4 ? 4 : 6, options)
    : null;
  if (answer === null || answer.length === 0) return null;
  const entries = (typeof answer === "string" ? [answer] : answer).flatMap((text) => parseIpInterface(text) ?? []).map(
    each,
  );
  return typeof answer === "string" ? entries[0] : entries;
}

function hostTexts(entry: IpInterface): Obj {
  try {
    return hostsOf(networkOf(entry)).map(ipAddressText);
  } catch (error) {
    if (error instanceof RangeError) throw pythonError("MemoryError", error.message);
    throw error;
  }
}

function isOf(version: Version): Run {
  return native(`is_ipv${version}_filter`, ["ip_addr", ["options", null]], ([address, options]) => {
    refuseUndefined(address);
    return ipText(address, version, options) !== undefined;
  });
}

/** One of Salt's filters over addresses, with `options` and `version`. */
function overAddresses(name: string, each: (entry: IpInterface) => Obj): [string, Run] {
  return [
    name,
    native(name, ["value", ["options", null], ["version", null]], ([value, options, version]) => {
      return ofAddresses(value, options, version, each);
    }),
  ];
}

function byNetworks(values: Obj, networks: Obj): Obj {
  if (networks === null) return values;
  const parsedNetworks = toList(networks).map((network) => {
    const text = needText(network);
    const parsed = parseIpNetwork(text, { strict: true });
    if (parsed !== undefined) return parsed;
    const loose = parseIpNetwork(text, { strict: false });
    throw pythonError(
      "ValueError",
      loose === undefined ? `'${text}' does not appear to be an IPv4 or IPv6 network` : `${text} has host bits set`,
    );
  });
  const filter = (ips: Obj): Obj =>
    toList(ips).flatMap((ip) => {
      const address = parseIpAddress(needText(ip));
      if (address === undefined) {
        throw pythonError("ValueError", `'${strOf(ip)}' does not appear to be an IPv4 or IPv6 address`);
      }
      return parsedNetworks.filter((network) => isInNetwork(address, network)).map(() => ip);
    });
  if (values instanceof Map) return dictOf(Array.from(values, ([name, ips]) => [name, filter(ips)] as const));
  if (sequenceOf(values) !== undefined || textOf(values) !== undefined) return filter(values);
  refuseUndefined(values);
  throw pythonError("ValueError", `Do not know how to filter a ${classText(values)}`);
}

/** An address as it is in a URL: an IPv6 one in brackets. */
function bracket(text: string): string {
  const address = parseIpAddress(rstripChars(text.replace(/^\[+/, ""), "]"));
  if (address === undefined) throw pythonError("ValueError", `'${text}' does not appear to be an IPv4 or IPv6 address`);
  return address.version === 6 ? `[${ipAddressText(address)}]` : ipAddressText(address);
}

function wrapAddress(item: Obj): Obj {
  return ipText(item, 6, null) === undefined ? item : bracket(needText(item));
}

function randomOctet(): string {
  return crypto.getRandomValues(new Uint8Array(1)).toHex().toUpperCase();
}

function macBytes(mac: string): Uint8Array {
  const digits = mac.length === 12 ? mac : mac.length === 17 ? mac.replaceAll(mac[2], "") : undefined;
  if (digits === undefined) throw pythonError("ValueError", "Invalid MAC address");
  if (!/^[0-9a-fA-F]{12}/.test(digits)) {
    throw pythonError("ValueError", `invalid literal for int() with base 16: '${digits.slice(0, 2)}'`);
  }
  return Uint8Array.fromHex(digits.slice(0, 12));
}

/** The filter `http_query` is the function `http.query`. */
function httpQuery(args: readonly Obj[], kwargs: Kwargs, context: CallContext): Result {
  const call = (query: Obj): Result => {
    if (query instanceof PyObject && query.callable) return query.call(args, kwargs, context);
    throw pythonError("RuntimeError", "http_query needs the function http.query, which is not available here");
  };
  const salt = context.lookup("salt");
  const query = salt === undefined ? null : context.item(salt, "http.query");
  return query instanceof Promise ? query.then(call) : call(query);
}

/** The filters by name. */
export const NETWORK_FILTERS: ReadonlyMap<string, Run> = new Map<string, Run>([
  [
    "is_ip",
    native("is_ip_filter", ["ip_addr", ["options", null]], ([address, options]) => {
      refuseUndefined(address);
      return ipText(address, 4, options) !== undefined || ipText(address, 6, options) !== undefined;
    }),
  ],
  ["is_ipv4", isOf(4)],
  ["is_ipv6", isOf(6)],
  ["ipv4", native("ipv4", ["value", ["options", null]], ([value, options]) => ofVersion(value, 4, options))],
  ["ipv6", native("ipv6", ["value", ["options", null]], ([value, options]) => ofVersion(value, 6, options))],
  ["ipaddr", native("ipaddr", ["value", ["options", null]], ([value, options]) => ofEither(value, options))],
  overAddresses("ip_host", ipInterfaceText),
  overAddresses("network_hosts", hostTexts),
  overAddresses("network_size", (entry) => int(networkSize(entry))),
  [
    "filter_by_networks",
    native("filter_by_networks", ["values", "networks"], ([values, networks]) => byNetworks(values, networks)),
  ],
  [
    "ipwrap",
    native("ipwrap", ["data"], ([data]) => {
      refuseUndefined(data);
      return sequenceOf(data)?.map(wrapAddress) ?? wrapAddress(data);
    }),
  ],
  [
    "gen_mac",
    native("gen_mac", [["prefix", "AC:DE:48"]], ([prefix]) => {
      return [strOf(prefix), randomOctet(), randomOctet(), randomOctet()].join(":");
    }),
  ],
  ["mac_str_to_bytes", native("mac_str_to_bytes", ["mac_str"], ([mac]) => macBytes(needText(mac)))],
  [
    "dns_check",
    native("dns_check", ["addr", "port", ["safe", false], ["ipv6", null]], async ([host, port, _safe, six]) => {
      const family = six === null ? undefined : isTruthy(six) ? 6 : 4;
      return bracket(await resolveHost(needText(host), { port: Number(intOf(port) ?? 0), family }));
    }),
  ],
  ["http_query", httpQuery],
]);
