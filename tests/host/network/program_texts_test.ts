/**
 * What is read out of the texts of `ip` and `ifconfig`, beside what Python Salt 3008.3 reads.
 * @module
 */

import { hostSubnets, parseIfconfig, parseIpOutput } from "#lib/host/network/interfaces.ts";
import { parseIpRoutes, parseIpRoutes6 } from "#lib/host/network/routes.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

interface Case {
  readonly function: string;
  readonly text: string;
  readonly return?: unknown;
  /** `ValueError: …`. */
  readonly error?: string;
}

const CASES: readonly Case[] = JSON.parse(
  Deno.readTextFileSync(new URL("../../corpus/network_texts.json", import.meta.url)),
);

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  ifconfig: (text) => Object.fromEntries(parseIfconfig(text)),
  ip: (text) => Object.fromEntries(parseIpOutput(text)),
  subnets: (text) => hostSubnets(parseIpOutput(text).values(), "inet"),
  ip_routes: parseIpRoutes,
  ip_routes6: parseIpRoutes6,
};

for (const [i, { function: name, text, return: expected, error }] of CASES.entries()) {
  Deno.test(`${name}, text ${i}: what Salt reads`, () => {
    if (error === undefined) assertEquals(READERS[name](text), expected);
    else assertThrows(() => READERS[name](text), Error, error.slice(error.indexOf(": ") + 2));
  });
}
