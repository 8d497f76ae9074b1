import { assertEquals } from "#tests/support/assert.ts";
import { fullHostname, generateMinionId, type HostNames, readHostNames } from "#lib/config/node_id.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NOBODY: HostNames = { hostname: "", hosts: "", hostnameFile: "", addresses: [] };

const IDS: [what: string, names: Partial<HostNames>, id: string][] = [
  ["the hostname, if that is all", { hostname: "box" }, "box"],
  ["a hostname with a domain as it is", { hostname: "box.lan", hosts: "127.0.1.1 other.org box.lan" }, "box.lan"],
  [
    "the full name by the hosts file",
    { hostname: "box", hosts: "# x\n10.0.0.7\tbox.example.org box # y\n" },
    "box.example.org",
  ],
  ["the hostname, where its line has no full name", { hostname: "box", hosts: "127.0.1.1 box" }, "box"],
  ["not localhost's full name", { hostname: "box", hosts: "127.0.0.1 localhost.localdomain box" }, "box"],
  ["the hostname file, where the kernel has no name", { hostname: "localhost", hostnameFile: "filed\n" }, "filed"],
  ["another name of the loopback address", { hostname: "localhost", hosts: "127.0.1.1 localhost me" }, "me"],
  [
    "not a name of another host",
    { hostname: "localhost", hosts: "10.0.0.9 other", addresses: ["10.0.0.7"] },
    "10.0.0.7",
  ],
  ["localhost at last", { hostname: "localhost", hosts: "::1 ip6-localhost" }, "localhost"],
];
for (const [what, names, id] of IDS) {
  Deno.test(`the default id is made from the host's names: ${what}`, () => {
    assertEquals(generateMinionId({ ...NOBODY, ...names }), id);
  });
}

Deno.test("the FQDN of a host that is not in the hosts file is its host name", () => {
  assertEquals(fullHostname("box", "10.0.0.1 boxes.example.org boxes"), "box");
});

Deno.test("the host's names are read from its files; a missing or unreadable file gives no name", () =>
  withTemporaryDirectory((etc) => {
    Deno.writeTextFileSync(`${etc}/hosts`, "10.0.0.7 box.example.org box\n");
    assertEquals(readHostNames(etc), { ...readHostNames(), hosts: "10.0.0.7 box.example.org box\n", hostnameFile: "" });
    Deno.mkdirSync(`${etc}/hostname`);
    assertEquals(readHostNames(etc).hostnameFile, "");
  }));
