import { noMinionsHint } from "#lib/commands/programs/no_minions_hint.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The keys of a master with these pending and rejected minions. */
const keys = (pending: string[], rejected: string[] = []) => ({
  list: (state: string) => state === "pending" ? pending : state === "rejected" ? rejected : ["web1", "web2", "db1"],
});

const HERE = { config_dir: "/etc/salt" };
const ACCEPT = "To accept a key: salt-key -a";

Deno.test("if the target matches only pending minions, some of them are named", () => {
  const cases: [tgt: string, ids: string[], hint: string][] = [
    ["web*", [], ""],
    ["web*", ["db1"], ""],
    ["web*", ["db1", "web2"], `Not accepted yet, and so not asked: web2. ${ACCEPT} web2\n`],
    [
      "*",
      ["a", "b", "c", "d", "e", "f", "g"],
      `Not accepted yet, and so not asked: a, b, c, d, e and 2 more. ${ACCEPT} a\n`,
    ],
  ];
  for (const [tgt, ids, hint] of cases) assertEquals(noMinionsHint({ tgt, tgtType: "glob" }, keys(ids), HERE), hint);
});

Deno.test("a rejected key is named, with a command that uses the same configuration", () => {
  assertEquals(
    noMinionsHint({ tgt: "db*", tgtType: "glob" }, keys([], ["db9"]), { config_dir: "/srv/my salt" }),
    "Rejected, and so not asked: db9. " +
      "To accept a key all the same: salt-key -c '/srv/my salt' --include-rejected -a db9\n",
  );
});

Deno.test("an id with shell syntax is quoted in the suggested command", () => {
  assertEquals(
    noMinionsHint({ tgt: "*", tgtType: "glob" }, keys(["$(reboot)"]), HERE),
    `Not accepted yet, and so not asked: $(reboot). ${ACCEPT} '$(reboot)'\n`,
  );
});

const MEANT: readonly (readonly [tgt: string, tgtType: string, hint: string])[] = [
  ["wbe1", "glob", "Did you mean web1?\n"],
  ["nothing_like_it", "glob", ""],
  ["wbe*", "glob", ""],
  ["web1,web2", "glob", "The target was read as a glob. For a list of ids there is -L: -L 'web1,web2'\n"],
  ["web1 web2", "glob", "The target was read as a glob. For a list of ids there is -L: -L 'web1 web2'\n"],
  ["E@web.*", "glob", "The target was read as a glob. For a compound target there is -C: -C 'E@web.*'\n"],
  [
    "web* and not web1",
    "glob",
    "The target was read as a glob. For a compound target there is -C: -C 'web* and not web1'\n",
  ],
  ["10.0.0.0/8", "glob", "The target was read as a glob. For an address there is -S: -S '10.0.0.0/8'\n"],
  ["os:Debian", "glob", "The target was read as a glob. For a grain there is -G: -G 'os:Debian'\n"],
  ["web\\d", "glob", "The target was read as a glob. For a regular expression there is -E: -E 'web\\d'\n"],
  ["wbe1,db2", "list", "Did you mean web1 for wbe1?\nDid you mean db1 for db2?\n"],
  ["wbe.", "pcre", ""],
  ["os:Debian", "grain", ""],
  ["wbe1\x1b[2J", "glob", ""],
];
for (const [tgt, tgtType, hint] of MEANT) {
  Deno.test(`the target ${JSON.stringify(tgt)} (${tgtType}) without a match gets the hint ${JSON.stringify(hint)}`, () =>
    assertEquals(noMinionsHint({ tgt, tgtType }, keys([]), HERE), hint));
}

Deno.test("a user who may not read the keys gets no hint about them", () => {
  const list = () => {
    throw new Deno.errors.PermissionDenied("no right to read it");
  };
  assertEquals(noMinionsHint({ tgt: "*", tgtType: "glob" }, { list }, HERE), "");
  assertEquals(noMinionsHint({ tgt: "wbe1", tgtType: "glob" }, { list }, HERE), "");
});
