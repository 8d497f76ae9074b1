/**
 * An opened beacon, and what it has told.
 * @module
 */

import { type BeaconHost, type BeaconModule, configMaps, ownConfig } from "#lib/plugins/beacon.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "./assert.ts";

/** A beacon that watches. */
export interface OpenedBeacon extends Disposable {
  /** The data of the events that it has fired between looks. */
  readonly fired: ValueMap[];
  /** Why it has failed. */
  readonly failures: string[];
  /** What a look finds. */
  look(): Promise<ValueMap[]>;
}

/**
 * Opens a beacon with a valid configuration.
 * @param answers What execution functions return to it, or throw, by name; others return None.
 */
export async function openBeacon(
  module: BeaconModule,
  given: unknown,
  answers: Readonly<Record<string, Value | Error>> = {},
): Promise<OpenedBeacon> {
  const config = ownConfig(configMaps(toValue(given)) ?? []);
  assertEquals(await module.validate(config), undefined);
  const fired: ValueMap[] = [], failures: string[] = [];
  const host: BeaconHost = {
    name: "b",
    log: SILENT_LOGGER,
    async call(fun) {
      const answer = await Promise.resolve(answers[fun] ?? null);
      if (answer instanceof Error) throw answer;
      return answer;
    },
    fire: (found) => void fired.push(...found),
    fail: (reason) => void failures.push(reason),
  };
  const running = await module.open(config, host);
  return {
    fired,
    failures,
    look: async () => await running.look?.() ?? [],
    [Symbol.dispose]: () => running.close?.(),
  };
}
