import { checkTarget } from "#lib/commands/programs/check_target.ts";
import { type TargetOption, targetType } from "#lib/commands/programs/target_type.ts";
import { noSuchDataHint, unknownDataHint } from "#lib/commands/programs/unknown_data_hint.ts";
import { DEFAULT_CONFIG_DIR } from "#lib/config/place.ts";
import { UsageError } from "#lib/errors.ts";
import type { KnownFleet } from "#lib/fleet/resolve_target.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const NODEGROUPS = map({ web: "web*" });

Deno.test("each target option selects its type, and two of them exclude each other", () => {
  const types: Readonly<Partial<Record<TargetOption, string>>> = {
    pcre: "pcre",
    list: "list",
    grain: "grain",
    grain_pcre: "grain_pcre",
    nodegroup: "nodegroup",
    range: "range",
    compound: "compound",
    pillar_target: "pillar",
    pillar_pcre: "pillar_pcre",
    ipcidr: "ipcidr",
  };
  for (const [option, type] of Object.entries(types)) assertEquals(targetType({ [option]: true }), type);
  assertEquals(targetType({}), "glob");
  assertThrows(() => targetType({ grain: true, list: true }), UsageError, "--list/--grain are mutually exclusive");
  assertThrows(() => targetType({ list_hosts: true }), UsageError, "salt-ssh");
});

Deno.test("an invalid target is a usage error before the job is published", () => {
  const check = (tgt: string, tgtType: string, delimiter = ":") =>
    checkTarget({ tgt, tgtType }, { nodegroups: NODEGROUPS, delimiter });
  const refused = [
    ["os", "grain", 'os has no ":"'],
    ["web(", "pcre", "web("],
    ["wbe", "nodegroup", "did you mean web?"],
    ["10.0.0.1/8", "ipcidr", "10.0.0.0/8"],
    ["%web", "range", "no range server"],
    ["web1 and", "compound", "a term is missing at the end"],
  ];
  for (const [tgt, tgtType, reason] of refused) assertThrows(() => check(tgt, tgtType), UsageError, reason);
  assertThrows(() => check("os:Debian", "grain", "|"), UsageError, 'no "|"');
  assertThrows(() => check("os:Debian", "grain", ""), UsageError, "delimiter");
  check("N@web and not G@os:Debian", "compound");
  check("os|Debian", "grain", "|");
});

Deno.test("a target of a grain or pillar that nobody has names the nearest one, and the values of a grain", () => {
  const stored = (bank: string) => (id: string) =>
    map(
      bank === "pillar"
        ? { logrotates: "secret" }
        : { os: id === "web3" ? "Arch\x1b" : "Debian", ip: ["::1", "10.0.0.1"], dns: { a: 1 } },
    );
  const fleet: KnownFleet = {
    ids: ["web1", "web2", "web3"],
    nodegroups: NODEGROUPS,
    data: {
      scan: (bank, begin) => {
        const visit = begin();
        for (const id of ["web1", "web2", "web3", "gone"]) visit(id, encode(stored(bank)(id), "disk"));
        // Damaged files, and none.
        for (const bytes of [Uint8Array.of(0xc1), encode("text", "disk"), undefined]) visit("web1", bytes);
      },
    },
  };
  const hint = (tgt: string, tgtType: string, delimiter?: string) =>
    noSuchDataHint({ tgt, tgtType }, fleet, { delimiter });
  assertEquals(hint("oss:Debian", "grain"), "No minion has the grain oss; did you mean os?\n");
  assertEquals(hint("zzzzzz:Debian", "grain_pcre"), "No minion has the grain zzzzzz.\n");
  assertEquals(hint("os:Debain", "grain"), "The grain os is Debian (2), Arch\\x1b (1); did you mean Debian?\n");
  assertEquals(hint("os|Suse", "grain", "|"), "The grain os is Debian (2), Arch\\x1b (1).\n");
  assertEquals(hint("ip:10.0.0.2", "grain"), "The grain ip is 10.0.0.1 (3), ::1 (3); did you mean 10.0.0.1?\n");
  assertEquals(hint("dns:b", "grain"), "");
  assertEquals(hint("logrotate:nope", "pillar"), "No minion has the pillar key logrotate; did you mean logrotates?\n");
  // Values of pillar are not shown: they may be secret.
  assertEquals(hint("logrotates:nope", "pillar"), "");
  assertEquals(noSuchDataHint({ tgt: "oss:x", tgtType: "grain" }, { ...fleet, data: undefined }), "");
  // Other targets are not of one key.
  for (const tgtType of ["compound", "ipcidr"]) assertEquals(hint("oss:Debian", tgtType), "");
});

Deno.test("a target by grains names the minions without cached grains", () => {
  const fleet = (ids: string[]): KnownFleet => ({
    ids,
    nodegroups: NODEGROUPS,
    data: { scan: (_bank, begin) => begin()("web1", encode(map({ os: "Arch" }), "disk")) },
  });
  const place = { config_dir: DEFAULT_CONFIG_DIR };
  const target = { tgt: "os:Debian", tgtType: "grain" };
  assertEquals(unknownDataHint(target, fleet(["web1"]), { place }), "");
  assertEquals(
    unknownDataHint(target, fleet(["web1", "web2", "$(reboot)"]), { place }),
    "The master has no grains of these minions, so the job was not sent to them: web2, $(reboot). " +
      "To have them sent: salt -L web2 saltutil.refresh_grains\n",
  );
  assertEquals(
    unknownDataHint(target, fleet(["a;b"]), { place }),
    "The master has no grains of these minions, so the job was not sent to them: a;b.\n",
  );
  assertEquals(unknownDataHint(target, { ...fleet(["web2"]), data: undefined }, { place }), "");
  // The master has already rejected it.
  assertEquals(unknownDataHint({ tgt: "web1 and", tgtType: "compound" }, fleet(["web2"]), { place }), "");
});
