/**
 * Rules of iptables from keywords, as states give them.
 * Source: Salt 3008.3, `salt/modules/iptables.py` build_rule; iptables(8), iptables-extensions(8).
 * @module
 */

import { asList } from "#lib/values/shape.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** Keywords of states that are not part of a rule. */
const NOT_OF_A_RULE = [
  ...["require", "require_any", "require_in", "watch", "watch_any", "watch_in", "prereq", "prereq_in", "use", "use_in"],
  ...["onchanges", "onchanges_any", "onchanges_in", "onfail", "onfail_any", "onfail_all", "onfail_in", "onfail_stop"],
  ...["listen", "listen_in", "order", "fun", "state", "check_cmd", "cmd_opts_exclude", "failhard", "onlyif", "unless"],
  ...["creates", "retry", "parallel", "reload_modules", "reload_grains", "reload_pillar", "runas", "runas_password"],
  ...["no_log", "fire_event", "saltenv", "umask", "name", "chain", "save", "table"],
];

/** Options that come after the target, in this order. */
const TARGET_OPTIONS =
  `j jump add-set and-mark and-tos checksum-fill clamp-mss-to-pmtu clustermac ctevents ctmask del-set ecn-tcp-remove exist
  expevents gateway hash-init hashmode helper label local-node log-ip-options log-level log-prefix log-tcp-options
  log-tcp-sequence log-uid map-set mask mss new nfmask nflog-group nflog-prefix nflog-range nflog-threshold nodst notrack
  on-ip on-port or-mark or-tos persistent queue-balance queue-bypass queue-num random random-fully rateest-ewmalog
  rateest-interval rateest-name reject-with restore restore-mark sack-perm save-mark selctx set-class set-dscp
  set-dscp-class set-mark set-mss set-tos set-xmark strip-options timeout timestamp to to-destination to-ports to-source
  total-nodes tproxy-mark ttl-dec ttl-inc ttl-set type ulog-cprange ulog-nlgroup ulog-prefix ulog-qthreshold wscale
  xor-mark xor-tos zone zone-orig zone-reply dst-pfx hl-dec hl-inc hl-set hmark-dport-mask hmark-dst-prefix hmark-mod
  hmark-offset hmark-proto-mask hmark-rnd hmark-spi-mask hmark-sport-mask hmark-src-prefix hmark-tuple led-always-blink
  led-delay led-trigger-id queue-cpu-fanout src-pfx to-port addr and-mask delude honeypot or-mask prefix reset reuse
  set-mac shift static tarpit tname ttl`.split(/\s+/);

/** Matches whose module has its own name. */
const NAMED_MATCHES = ["pknock", "quota2", "recent"];

/** A value without its `!` or `not`, and the `!` to put before the option. */
function negate(value: string): readonly [before: string, value: string] {
  const isNegated = value.startsWith("!") || value.startsWith("not");
  return isNegated ? ["! ", value.replaceAll(/(!|not)\s?/g, "")] : ["", value];
}

function option(name: string, value: Value): string {
  const [before, bare] = negate(str(value));
  return `${before}${name} ${bare}`;
}

/** The rule, or a text that begins with `Error`. */
export function buildIptablesRule(kwargs: ValueMap): string {
  const left = new Map([...kwargs].filter(([key]) => !NOT_OF_A_RULE.includes(str(key)) && !str(key).startsWith("__")));
  if (left.has("target")) left.set("jump", left.get("target") ?? null);
  left.delete("target");
  const take = (key: string): Value | undefined => {
    const value = left.get(key);
    left.delete(key);
    return value;
  };
  const isPolicy = left.get("match") === "policy";
  const rule: string[] = [];
  const add = (name: string, value: Value | undefined) => {
    if (value !== undefined) rule.push(option(name, value));
  };
  add("-i", take("if"));
  add("-o", take("of"));
  const proto = isPolicy ? undefined : take("proto");
  const protocol = proto ?? take("protocol");
  left.delete("protocol");
  add("-p", protocol);
  rule.push(...matchWords(take, isPolicy));
  const state = take("connstate");
  if (state !== undefined) {
    if (!rule.includes("-m state")) rule.push("-m state");
    add("--state", state);
  }
  add("--dport", take("dport"));
  add("--sport", take("sport"));
  for (const key of ["dports", "sports"]) {
    const ports = take(key);
    if (ports === undefined) continue;
    if (!rule.includes("-m multiport")) {
      rule.push("-m multiport");
      if (protocol === undefined) return "Error: protocol must be specified";
    }
    const values = asList(ports).map((one) => negate(str(one)));
    if (values.some(([before]) => before !== "")) rule.push("!");
    rule.push(`--${key} ${values.map(([, value]) => value).join(",")}`);
  }
  const comment = take("comment");
  if (comment !== undefined) {
    if (!rule.includes("-m comment")) rule.push("-m comment");
    rule.push(`--comment "${str(comment)}"`);
  }
  if (truthy(left.get("set"))) add("--match-set", take("set"));
  const behind = TARGET_OPTIONS.flatMap((name) => {
    const value = take(name);
    return value === undefined ? [] : [targetOption(name, value)];
  });
  for (const [key, value] of left) {
    const [before, bare] = negate(str(value));
    const name = str(key).length === 1 ? `-${str(key)}` : `--${str(key)}`;
    rule.push(`${before}${name}${value === null || value === "" ? "" : ` ${bare}`}`);
  }
  return [...rule, ...behind].join(" ");
}

function matchWords(take: (key: string) => Value | undefined, isPolicy: boolean): string[] {
  const words: string[] = [];
  const given = take("match");
  if (given !== undefined) {
    const matches = Array.isArray(given) ? given.map(str) : str(given).split(",");
    for (const match of matches) {
      words.push(`-m ${match}`);
      const name = NAMED_MATCHES.includes(match.trim()) ? take("name_") : undefined;
      if (name !== undefined) words.push(`--name ${str(name)}`);
    }
    const proto = isPolicy ? take("proto") : undefined;
    if (proto !== undefined) words.push(option("--proto", proto));
  }
  const sets = take("match-set") ?? [];
  for (const set of asList(sets)) {
    const [before, bare] = negate(str(set));
    words.push(`-m set ${before}--match-set ${bare}`);
  }
  return words;
}

function targetOption(name: string, value: Value): string {
  if (value === null || value === "") return `--${name}`;
  const text = str(value);
  return /\s/.test(text) ? `--${name} "${text}"` : `--${name} ${text}`;
}
