import { checkTarget } from "../../lib/commands/check_target.ts";
import { type TargetOption, targetType } from "../../lib/commands/target_type.ts";
import { unknownDataHint } from "../../lib/commands/unknown_data_hint.ts";
import { DEFAULT_CONFIG_DIR } from "../../lib/config/place.ts";
import { UsageError } from "../../lib/errors.ts";
import type { KnownFleet } from "../../lib/fleet/resolve_target.ts";
import { encode } from "../../lib/values/msgpack.ts";
import { map } from "../../lib/values/value.ts";
import { assertEquals, assertThrows } from "../support/assert.ts";

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
