/**
 * Parsers for the output of at and atq. Pure functions over text.
 * Source: Salt 3008.3, `salt/modules/at.py`; at(1).
 * @module
 */

/** One pending job. */
export interface AtJob {
  readonly job: number;
  /** `2026-01-31` */
  readonly date: string;
  /** `08:30:00` */
  readonly time: string;
  readonly queue: string;
  readonly user: string;
  /** The tag that Salt has written into the job; empty for other jobs. */
  readonly tag: string;
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/**
 * The jobs of `atq`: `12\tSat Jan 31 08:30:00 2026 a root`. With `dates`, the times have the form `2026-01-31 08:30`.
 */
export function parseJobs(text: string, { dates }: { readonly dates: boolean }): Omit<AtJob, "tag">[] {
  return text.split("\n").flatMap((line) => {
    const [job, rest] = line.split("\t");
    const words = (rest ?? "").trim().split(/\s+/);
    if (!/^\d+$/.test(job) || words.length < 4) return [];
    if (dates) {
      const [date, time, queue, user] = words;
      return [{ job: Number(job), date, time, queue, user }];
    }
    const [, month, day, clock, year, queue, user] = words;
    const number = String(MONTHS.indexOf(month) + 1).padStart(2, "0");
    // Salt leaves the seconds out.
    const time = `${clock.split(":").slice(0, 2).join(":")}:00`;
    return [{ job: Number(job), date: `${year}-${number}-${day.padStart(2, "0")}`, time, queue, user }];
  });
}

/** The tag in the script of a job; an empty text if it has none. */
export function parseTag(script: string): string {
  return [...script.matchAll(/^### SALT: (\w+)/gm)].at(-1)?.[1] ?? "";
}

/** The number of the new job, from the output of `at`. */
export function parseMade(text: string): number | undefined {
  const [, job] = /^job (\d+) at/m.exec(text) ?? [];
  return job === undefined ? undefined : Number(job);
}
