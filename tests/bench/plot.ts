/**
 * Plots how the cost grows with the number of minions: the rows `ping-<count>` as an SVG.
 *
 * Both axes are logarithmic: twice the time for twice the minions is a line of the same slope everywhere.
 * @module
 */

import type { Report } from "./report.ts";
import { median } from "#tests/bench/harness/statistics.ts";

const WIDTH = 760;
const HEIGHT = 440;
const LEFT_TO_NEXT_MINION = 70;
const RIGHT = 190;
const TOP = 44;
const BOTTOM = 54;
/** The colours are readable on white and on black, and for people who cannot distinguish red and green. */
const COLOURS = ["#0072b2", "#d55e00", "#cc79a7"];
const GREY = "#808080";

interface Line {
  readonly name: string;
  readonly points: readonly { readonly minions: number; readonly ms: number }[];
}

/** The plot of a report; `undefined` if it has fewer than three of those rows. */
export function minionsPlot({ machine, sides, rows }: Report): string | undefined {
  const pings = rows.filter(({ name }) => /^ping-\d+$/.test(name));
  if (pings.length < 3) return undefined;
  const lines = sides.map((name): Line => ({
    name,
    points: pings.map((row) => ({ minions: Number(row.name.slice(5)), ms: median(row.figures[name] ?? []) }))
      .filter(({ ms }) => Number.isFinite(ms)),
  })).filter(({ points }) => points.length > 0);
  const all = lines.flatMap(({ points }) => points);
  const x = axis(all.map(({ minions }) => minions), LEFT_TO_NEXT_MINION, WIDTH - RIGHT);
  const y = axis(all.map(({ ms }) => ms), HEIGHT - BOTTOM, TOP);
  const text = (at: { x: number; y: number; anchor?: string; fill?: string }, words: string) =>
    `<text x="${at.x.toFixed(1)}" y="${at.y.toFixed(1)}" text-anchor="${at.anchor ?? "start"}" fill="${
      at.fill ?? GREY
    }">${words}</text>`;
  const parts = [
    text(
      { x: LEFT_TO_NEXT_MINION, y: 24 },
      "salt '*' test.ping until the last return is printed, by simulated minions",
    ),
    ...pings.map((row) => Number(row.name.slice(5))).map((count) =>
      text({ x: x.at(count), y: HEIGHT - BOTTOM + 20, anchor: "middle" }, count.toLocaleString("en"))
    ),
    text(
      { x: (LEFT_TO_NEXT_MINION + WIDTH - RIGHT) / 2, y: HEIGHT - 12, anchor: "middle" },
      `minions; ${machine.date.slice(0, 10)}`,
    ),
    ...y.ticks.flatMap((ms) => [
      `<line x1="${LEFT_TO_NEXT_MINION}" x2="${WIDTH - RIGHT}" y1="${y.at(ms).toFixed(1)}" y2="${
        y.at(ms).toFixed(1)
      }" stroke="${GREY}" stroke-opacity="0.35"/>`,
      text({ x: LEFT_TO_NEXT_MINION - 8, y: y.at(ms) + 4, anchor: "end" }, ms < 1000 ? `${ms} ms` : `${ms / 1000} s`),
    ]),
    ...lines.flatMap(({ name, points }, i) => {
      const places = points.map(({ minions, ms }) => `${x.at(minions).toFixed(1)},${y.at(ms).toFixed(1)}`);
      const last = points[points.length - 1];
      return [
        `<polyline points="${places.join(" ")}" fill="none" stroke="${COLOURS[i]}" stroke-width="2"/>`,
        ...places.map((place) => {
          const [cx, cy] = place.split(",");
          return `<circle cx="${cx}" cy="${cy}" r="3.5" fill="${COLOURS[i]}"/>`;
        }),
        text({ x: x.at(last.minions) + 10, y: y.at(last.ms) + 4, fill: COLOURS[i] }, name),
      ];
    }),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">
${parts.join("\n")}
</svg>
`;
}

/** A logarithmic axis over `values`, from one position to another; ticks at 1, 2 and 5 of each power of ten. */
function axis(values: readonly number[], from: number, to: number) {
  const min = Math.min(...values), max = Math.max(...values);
  const at = (value: number) =>
    max === min ? (from + to) / 2 : from + (to - from) * Math.log(value / min) / Math.log(max / min);
  const powers = Array.from({ length: 9 }, (_, i) => 10 ** i);
  const ticks = powers.flatMap((power) => [power, 2 * power, 5 * power]).filter((n) => n >= min && n <= max);
  return { at, ticks };
}
