/**
 * Ports of containers as people write them: `80`, `8080:80/tcp`, `127.0.0.1:8000-8003:80-83`.
 * Source: Salt 3006.28 `salt/utils/dockermod/translate/container.py` (`port_bindings`, `ports`), `helpers.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { isInt, isMap, str, type Value } from "#lib/values/value.ts";
import { checkIp, type InputOptions, splitParts, textItems } from "./input_values.ts";

/** The ports from a first to a last one: a port, or two with a hyphen between them. */
function portRange(text: string): number[] {
  const ends = splitParts(text, "-").map((part) => /^\d+$/.test(part) ? Number(part) : NaN);
  if (ends.length > 2 || ends.some(Number.isNaN)) {
    throw new InvocationError(`'${text}' is non-numeric or an invalid port range`);
  }
  const [start, end = start] = ends;
  if (start > end) {
    throw new InvocationError(
      `Start of port range (${start}) cannot be greater than end of port range (${end})`,
    );
  }
  return Array.from({ length: end - start + 1 }, (_, i) => start + i);
}

/** A port with its protocol: `53` and udp are the tuple `(53, 'udp')`, a port of tcp is its number. */
export function portDefinition(port: Value, protocol = "tcp"): Value {
  const [digits, own = protocol] = str(port).split("/", 2);
  const number = Number(digits);
  return own.toLowerCase() === "udp" ? new Tuple<Value>([number, "udp"]) : number;
}

/** The ports that a container listens on. */
export function portsInput(value: Value): Value {
  const items = Array.isArray(value)
    ? value
    : isInt(value)
    ? [value]
    : typeof value === "string"
    ? splitParts(value)
    : null;
  if (items === null) throw new InvocationError(`'${str(value)}' is not a valid port definition`);
  const ports = items.flatMap((item): Value[] => {
    if (isInt(item)) return [item];
    if (typeof item !== "string") throw new InvocationError(`'${str(item)}' is not a valid port definition`);
    const [range, protocol = ""] = item.split("/", 2);
    return portRange(range).map((port) => portDefinition(port, protocol));
  });
  return withoutDoubles(ports);
}

/** The ports, each once. */
export function withoutDoubles(ports: readonly Value[]): Value[] {
  return [...new Map(ports.map((port) => [str(port), port])).values()];
}

/** Splits `80/udp`; what is no udp is tcp. */
function splitProtocol(text: string): readonly [range: string, suffix: string] {
  const [range, protocol = ""] = text.split("/", 2);
  return [range, protocol.toLowerCase() === "udp" ? "/udp" : ""];
}

/** Ports of the host for as many ports of the container. */
function hostPorts(given: string, containerText: string, containerPorts: readonly number[]): number[] {
  const ports = portRange(given);
  if (ports.length === containerPorts.length) return ports;
  throw new InvocationError(
    `Host port range (${given}) does not have the same number of ports as the container port range (${containerText})`,
  );
}

/** The bindings of one definition: the container's port, and what of the host is bound to it. */
function bindingsOf(definition: string, { validateIps }: InputOptions): (readonly [key: Value, binding: Value])[] {
  const parts = splitParts(definition, ":");
  const container = parts[parts.length - 1];
  if (parts.length > 3) {
    throw new InvocationError(
      `'${definition}' is an invalid port binding definition (at most 3 components are allowed, found ${parts.length})`,
    );
  }
  if (parts.length === 1 && container === "") throw new InvocationError("Empty port binding definition found");
  if (parts.length === 2) {
    const empty = parts[0] === "" ? "host" : container === "" ? "container" : undefined;
    if (empty !== undefined) {
      throw new InvocationError(`Empty ${empty} port in port binding definition '${definition}'`);
    }
  }
  if (parts.length === 3 && validateIps) checkIp(parts[0]);
  const [range, suffix] = splitProtocol(container);
  const ports = portRange(range);
  const given = parts.length === 1 ? "" : parts[parts.length - 2];
  const bound = given === "" ? undefined : hostPorts(given, range, ports);
  return ports.map((port, i) => {
    const key = suffix === "" ? port : `${port}${suffix}`;
    if (parts.length < 3) return [key, bound?.[i] ?? null];
    return [key, new Tuple<Value>(bound === undefined ? [parts[0]] : [parts[0], bound[i]])];
  });
}

/** Bindings of ports: by the container's port what of the host is bound to it, or a list of that. */
export function portBindingsInput(value: Value, options: InputOptions): Value {
  if (isMap(value)) return value;
  const bindings = new Map<Value, Value[]>();
  for (const [key, binding] of textItems(value).flatMap((item) => bindingsOf(item, options))) {
    bindings.set(key, [...bindings.get(key) ?? [], binding]);
  }
  return new Map([...bindings].map(([key, all]): [Value, Value] => {
    if (all.length === 1) return [key, all[0]];
    // Of several, one without a port of the host has the container's.
    return [key, all.map((binding) => binding ?? Number(str(key).split("/")[0]))];
  }));
}
