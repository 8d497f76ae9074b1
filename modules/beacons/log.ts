/**
 * Beacon `log`: lines that are added to a file and match a pattern.
 * Source: Salt 3008.3 `salt/beacons/log_beacon.py`.
 * @module
 */

import { type BeaconConfig, type BeaconHost, type BeaconModule, isSet, mapOr } from "#lib/plugins/beacon.ts";
import { FollowedFile } from "#lib/host/filesystem/followed_file.ts";
import { RegexError } from "#lib/errors.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";
import { type PythonRegex, pythonRegex } from "#lib/regex/regex.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** A line is cut at this length, in UTF-16 units. */
const MAX_LINE = 65_536;
/** The last line of a file without an end is taken as it is after this time, in milliseconds. */
const UNENDED_MS = 1_000;

function matchData(tag: Value, raw: string): ValueMap {
  return map({ tag, match: "yes", raw, error: "" });
}

function failureData(tag: Value, error: string): ValueMap {
  return map({ tag, match: "no", raw: "", error });
}

interface TaggedPattern {
  readonly tag: Value;
  readonly regex: PythonRegex;
}

/** The patterns of the tags; a broken one is an event, and the others work. */
function patternsOf({ all }: BeaconConfig, host: BeaconHost): TaggedPattern[] {
  return [...mapOr(all.get("tags")) ?? []].flatMap(([tag, given]) => {
    const config = mapOr(given);
    if (config === undefined || !isSet(config, "regex")) return [];
    try {
      return [{ tag, regex: pythonRegex(str(config.get("regex") ?? null)) }];
    } catch (error) {
      if (!(error instanceof RegexError)) throw error;
      host.log.warning(`Beacon ${host.name}: ${error.message}`);
      host.fire([failureData(tag, "bad regex")]);
      return [];
    }
  });
}

function look({ tag, regex }: TaggedPattern, line: string): ValueMap[] {
  try {
    return regex.test(line) ? [matchData(tag, line)] : [];
  } catch (error) {
    if (error instanceof RegexError) return [failureData(tag, "bad match")];
    throw error;
  }
}

/** Makes lines of bytes. */
class Lines {
  readonly #take: (lines: string[]) => void;
  #decoder = new TextDecoder();
  #rest = "";
  #timer: Timer | undefined;

  constructor(take: (lines: string[]) => void) {
    this.#take = take;
  }

  add(bytes: Uint8Array): void {
    clearTimeout(this.#timer);
    const lines = (this.#rest + this.#decoder.decode(bytes, { stream: true })).split("\n");
    this.#rest = (lines.pop() ?? "").slice(0, MAX_LINE);
    if (lines.length > 0) this.#take(lines.map((line) => line.replace(/\r$/, "").slice(0, MAX_LINE)));
    if (this.#rest !== "") this.#timer = setTimeout(() => this.end(), UNENDED_MS);
  }

  /** What is there is the last line. */
  end(): void {
    clearTimeout(this.#timer);
    this.#decoder = new TextDecoder();
    const rest = this.#rest;
    this.#rest = "";
    if (rest !== "") this.#take([rest]);
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

export const beacon: BeaconModule = {
  doc: "Lines that are added to a file and match a pattern from their beginning; a rotated file is followed.",
  permissions: "all",
  keys: ["file", "tags"],
  validate: ({ all }) => all.has("file") ? undefined : "Configuration for log beacon must contain file option.",
  open(config, host) {
    const patterns = patternsOf(config, host);
    const lines = new Lines((added) => {
      const events = added.flatMap((line) => patterns.flatMap((pattern) => look(pattern, line)));
      if (events.length > 0) host.fire(events);
    });
    const file = new FollowedFile(str(config.all.get("file") ?? null), {
      onBytes: (bytes) => lines.add(bytes),
      onRestart: () => lines.end(),
      onProblem: (text) => host.fail(text),
    });
    return {
      close() {
        lines.close();
        file.close();
      },
    };
  },
};
