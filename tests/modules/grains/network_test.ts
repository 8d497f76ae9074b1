import { networkGrains } from "#modules/grains/network.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";

/** The result of Salt 3008.3's parse_resolv: invalid addresses and networks are left out. */
const RESOLV = `NameServer 192.0.2.1
nameserver FD00:0::1
nameserver nope
nameserver
nameserver 192.0.2.1 ; twice
domain example.net
DOMAIN
sortlist 10.1.0.0 172.16.0.0 192.0.2.0 224.0.0.0 192.0.2.0/255.255.255.0 10.0.0.0/8 10.0.0.1/8 fd00::/8 fd00:: x # c
search a b
search
options timeout:1 attempts:2
options rotate
OPTIONS timeout:1
`;

Deno.test("dns has the data that Salt reads from resolv.conf: networks of sortlist with their masks, each once", () => {
  assertEquals(grainsOf((files) => networkGrains(files, []), { "/etc/resolv.conf": RESOLV }).dns, {
    nameservers: ["192.0.2.1", "fd00::1"],
    ip4_nameservers: ["192.0.2.1"],
    ip6_nameservers: ["fd00::1"],
    sortlist: [
      "10.0.0.0/255.0.0.0",
      "172.16.0.0/255.255.0.0",
      "192.0.2.0/255.255.255.0",
      "224.0.0.0/255.255.255.0",
      "fd00::/ff00::",
      "fd00::/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ],
    domain: "example.net",
    search: [],
    options: ["timeout:1", "rotate"],
  });
});

Deno.test("the gateway is that of the first default route that is up", () => {
  const route = (gateway: string, flags: string) =>
    `${"0".repeat(32)} 00 ${"0".repeat(32)} 00 ${gateway} 400 2 0 ${flags}     eth0\n`;
  const gateways = ["fe800000000000000000000000000001", "20010db8000100020003000400050006"];
  for (const [gateway, text] of [[gateways[0], "fe80::1"], [gateways[1], "2001:db8:1:2:3:4:5:6"]]) {
    const files = { "/proc/net/ipv6_route": route(gateways[0], "00000002") + route(gateway, "00000003") };
    assertEquals(grainsOf((host) => networkGrains(host, []), files).ip6_gw, text);
  }
});
