/**
 * What differs between containers and between networks, by what the engine says about them.
 * @module
 */

import { containerDifferences, networkDifferences } from "#lib/host/docker/comparing.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { toValue } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

const inspected = (given: unknown) => mapOrEmpty(toValue(given));

Deno.test("links of containers are compared without the containers' own names, limits in any order", async () => {
  const limits = [{ Name: "a", Soft: 1, Hard: 2 }, { Name: "b", Soft: 1, Hard: 1 }];
  const container = (name: string, links: readonly string[], ulimits: readonly unknown[]) => ({
    name,
    inspected: inspected({ HostConfig: { Links: links, Ulimits: ulimits } }),
  });
  const id = () => Promise.resolve("id");
  const old = container("old", ["/z:/old/z", "/a:/old/b"], limits);
  const same = container("new", ["/a:/new/b", "/z:/new/z"], limits.toReversed());
  assertEquals(await containerDifferences(old, same, [], id), new Map());
  const other = container("new", ["/a:/new/c"], limits.slice(1));
  assertEquals([...mapOrEmpty((await containerDifferences(old, other, [], id)).get("HostConfig")).keys()], [
    "Links",
    "Ulimits",
  ]);
});

Deno.test("networks are compared without what the engine adds", () => {
  const network = (config: unknown, more: Readonly<Record<string, unknown>> = {}) =>
    inspected({ IPAM: { Driver: "default", Config: config }, ...more });
  const pool = { Subnet: "10.0.0.0/8", IPRange: "" };
  const added = { Subnet: "10.0.0.0/8", Gateway: "10.0.0.1" };
  const six = { Subnet: "fd00::/64", Gateway: "fd00::1" };
  const differences = (
    a: unknown,
    b: unknown,
  ) => [...mapOrEmpty(networkDifferences(network(a), network(b), []).get("IPAM")).keys()];
  assertEquals(differences([pool], [added]), []);
  assertEquals(differences([added, six], [{ Subnet: "fd00::/64" }, pool]), []);
  for (const other of [{ ...pool, Gateway: "10.0.0.2" }, { ...pool, Gateway: "fd00::1" }, six]) {
    assertEquals(differences([pool], [other]), ["Config"], JSON.stringify(other));
  }
  assertEquals(differences([pool], [pool, six]), ["Config"]);
  const drivers = [network([]), inspected({ IPAM: { Driver: "own" } })] as const;
  assertEquals(
    networkDifferences(...drivers, []),
    toValue({ IPAM: { Driver: { old: "default", new: "own" } } }),
  );
  const named = (name: string, mtu: string) =>
    network([], { Options: { "com.docker.network.bridge.name": name, mtu }, Id: name });
  assertEquals(
    networkDifferences(named("a", "1"), named("b", "2"), ["Id"]),
    toValue({ Options: { mtu: { old: "1", new: "2" } } }),
  );
});
