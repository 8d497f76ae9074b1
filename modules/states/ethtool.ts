/**
 * State module `ethtool`: rings, interrupts, offloads and pause frames of network devices.
 * Source: Salt 3006.28 `salt/states/ethtool.py`, which Salt 3008 has no longer.
 * @module
 */

import { failureText } from "./_execution.ts";
import { CommandError } from "#lib/errors.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { equals, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ functions: ["ethtool.show_driver"], otherwise: "ethtool module could not be loaded" }],
};

/** What a state sets. */
interface Subject {
  /** The part of the functions' names: `show_ring`, `set_ring`. */
  readonly part: string;
  /** In comments: `ring parameters`. */
  readonly words: string;
}

/** The parameters that are not as they shall be, with their new values. */
function changesOf(wanted: Iterable<[Value, Value]>, old: ValueMap): ValueMap {
  return new Map([...wanted].filter(([key, value]) => old.has(key) && !equals(value, old.get(key) ?? null)));
}

/** Sets what differs; a refusal of ethtool is the comment. */
async function setParameters(
  name: string,
  { part, words }: Subject,
  { changed, shown = changed }: { readonly changed: ValueMap; readonly shown?: ValueMap },
  context: StateContext,
): Promise<StateResult> {
  if (changed.size === 0) {
    return { ...startResult(name), comment: `Network device ${name} ${words} are up to date.` };
  }
  const diff = [...shown].map(([key, value]) => `${str(key)}: ${str(value)}`).join("\n");
  if (context.test) {
    return { ...startResult(name, null), comment: `Device ${name} ${words} are set to be updated:\n${diff}` };
  }
  try {
    const answer = await context.call(`ethtool.set_${part}`, [name], changed);
    if (answer === "Not supported" || answer === "Invalid arguments") {
      throw new CommandError(`Device ${name} ${words} could not be updated: ${answer}`);
    }
  } catch (error) {
    return failState(name, failureText(error));
  }
  const changes = map({ [`ethtool_${part}`]: diff });
  return { ...startResult(name), comment: `Device ${name} ${words} updated.`, changes };
}

/** A state of values that a function returns as a map. */
function managing(
  subject: Subject,
  { text, example, wanted }: {
    readonly text: string;
    readonly example: string;
    /** The value that a device shall have, for one that an SLS has. */
    wanted(key: string, value: Value, old: ValueMap): Value;
  },
): ModuleFunction<StateContext> {
  return stateFn({
    doc: `${text}\n\nname\n    The device.\n\nOther arguments are the parameters: ${example}.`,
    params: { name: p.str() },
    varKwargs: "kwargs",
    passesKeywords: true,
    async run({ name }, context, { kwargs }) {
      const old = await context.call(`ethtool.show_${subject.part}`, [name]);
      if (!isMap(old)) return failState(name, `Device ${name} ${subject.words} are not supported`);
      const all = [...ownKeywords(kwargs)].map(([key, value]): [Value, Value] => [key, wanted(str(key), value, old)]);
      return await setParameters(name, subject, { changed: changesOf(all, old) }, context);
    },
  });
}

/** A switch as the number that ethtool has for it. */
function switchNumber(value: Value): Value {
  if (value === true || value === "on") return 1;
  return value === false || value === "off" ? 0 : value;
}

export const coalesce: ModuleFunction<StateContext> = managing(
  { part: "coalesce", words: "coalescing settings" },
  {
    text: "How a device gathers interrupts.",
    example: "adaptive_rx, rx_usecs, tx_frames, …",
    wanted: (key, value) => key.startsWith("adaptive_") ? switchNumber(value) : value,
  },
);

export const ring: ModuleFunction<StateContext> = managing(
  { part: "ring", words: "ring parameters" },
  {
    text: "The sizes of a device's rings; `max` is the greatest.",
    example: "rx, rx_mini, rx_jumbo, tx",
    wanted: (key, value, old) => value === "max" ? old.get(`${key}_max`) ?? value : value,
  },
);

export const offload: ModuleFunction<StateContext> = managing(
  { part: "offload", words: "offload settings" },
  {
    text: "What a device does in place of the processor.",
    example: "tcp_segmentation_offload",
    wanted: (_, value) => switchNumber(value) === 1 ? "on" : "off",
  },
);

const PAUSES: Readonly<Record<string, string>> = { autoneg: "Autonegotiate", rx: "RX", tx: "TX" };

export const pause: ModuleFunction<StateContext> = stateFn({
  doc: "Whether a device sends and heeds pause frames.\n\nname\n    The device.\n\nautoneg, rx, tx\n    on or off.",
  params: { name: p.str() },
  varKwargs: "kwargs",
  keywords: Object.keys(PAUSES),
  async run({ name }, context, { kwargs }) {
    const subject = { part: "pause", words: "pause parameters" };
    let old: Value;
    try {
      old = await context.call("ethtool.show_pause", [name]);
    } catch (error) {
      if (error instanceof CommandError) return failState(name, `Device ${name} pause parameters are not supported`);
      throw error;
    }
    const changed: ValueMap = new Map(), shown: ValueMap = new Map();
    for (const [key, value] of ownKeywords(kwargs)) {
      const word = str(key).toLowerCase();
      const wanted = switchNumber(value) === 1;
      if (!Object.hasOwn(PAUSES, word) || !isMap(old) || old.get(PAUSES[word]) === wanted) continue;
      changed.set(word, wanted);
      shown.set(word, wanted ? "on" : "off");
    }
    return await setParameters(name, subject, { changed, shown }, context);
  },
});
