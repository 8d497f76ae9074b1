/**
 * Time zones: which date and time of day a moment has on the wall, and which moment that is. Knows nothing of jobs.
 * Source: ECMA-402 `Intl.DateTimeFormat`, the IANA time zone database in it.
 * @module
 */

/** Milliseconds of one day. */
export const DAY_MS = 86_400_000;

/**
 * A date and time of day without a zone: milliseconds from the first second of 1970, as if the day were in UTC. So days
 * and times can be computed with.
 */
export type WallMs = number;

/** A time zone. A moment is in milliseconds since the epoch. */
export interface TimeZone {
  /** Its name; `undefined`: the zone of this host. */
  readonly name: string | undefined;
  /** The date and time of a moment. */
  wall(moment: number): WallMs;
  /**
   * The moment of a date and time: the earlier of two; one that a change of the clocks leaves out is that much later.
   */
  moment(wall: WallMs): number;
}

/** The zone of this host. */
export const LOCAL_ZONE: TimeZone = zoneOf(undefined, (moment) => -new Date(moment).getTimezoneOffset() * 60_000);

const named = new Map<string, TimeZone | undefined>();

/** The zone of this name (`Europe/Berlin`); `undefined` if there is none. */
export function findZone(name: string): TimeZone | undefined {
  if (!named.has(name)) named.set(name, makeZone(name));
  return named.get(name);
}

function makeZone(name: string): TimeZone | undefined {
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
  return zoneOf(name, (moment) => {
    const fields = new Map(format.formatToParts(moment).map(({ type, value }) => [type, Number(value)]));
    const part = (type: Intl.DateTimeFormatPartTypes) => fields.get(type) ?? 0;
    const seconds = Math.floor(moment / 1000) * 1000;
    const wall = Date.UTC(part("year"), part("month") - 1, part("day"), part("hour"), part("minute"), part("second"));
    return wall - seconds;
  });
}

/** @param offsetAt Milliseconds that the wall is ahead of UTC at a moment. */
function zoneOf(name: string | undefined, offsetAt: (moment: number) => number): TimeZone {
  return {
    name,
    wall: (moment) => moment + offsetAt(moment),
    moment: (wall) => {
      // The offsets around that time; they differ where the clocks change.
      const [before, after] = [offsetAt(wall - DAY_MS), offsetAt(wall + DAY_MS)];
      const first = wall - before;
      if (offsetAt(first) === before || before === after) return first;
      const second = wall - after;
      return offsetAt(second) === after ? second : first;
    },
  };
}

/** The start of the day of a date and time. */
export function dayOf(wall: WallMs): WallMs {
  return Math.floor(wall / DAY_MS) * DAY_MS;
}

/** `2026-11-23T12:00:05`. */
export function wallText(wall: WallMs): string {
  return new Date(wall).toISOString().slice(0, 19);
}
