import { FLOORS, WINGS } from "#scripts/floors.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
/** The rooms of a box, each with its floor as the page writes it: `9`, or `9.1` in a wing. */
function roomsOf(box: string, floor: number): [floor: string, room: string][] {
  if (!Object.hasOwn(WINGS, box)) return [[`${floor}`, box]];
  return WINGS[box].flatMap((rooms, inside) =>
    rooms.map((room): [string, string] => [`${floor}.${inside}`, `${box}/${room}`])
  );
}

const PAGE = Deno.readTextFileSync(`${ROOT}docs/architecture.md`);

Deno.test("docs/architecture.md has a line for each room of the product, on the floor where scripts/floors.ts has it", () => {
  const rows = [...PAGE.matchAll(/^\| ([\d.]+) \| (`.+`) \| \S.{10,} \|$/gm)]
    .flatMap(([, floor, names]) => [...names.matchAll(/`([^`]+)`/g)].map(([, room]) => [floor, room]));
  const rooms = FLOORS.flatMap((boxes, floor) => boxes.flatMap((box) => roomsOf(box, floor)))
    .filter(([, room]) => !/^(scripts|tests)\b/.test(room));
  const sorted = (lines: string[][]) => lines.map((line) => line.join(" ")).sort();
  assertEquals(sorted(rows), sorted(rooms));
});

Deno.test("docs/architecture.md names only existing files and folders, except planned ones", () => {
  const [now, , after] = PAGE.split(/^(## Where the next things will live\n[^]*?)(?=^## )/m);
  const named = [...(now + after).matchAll(/`((?:lib|modules|scripts|tests)\/[\w/.]+)`/g)].map(([, path]) => path);
  assert(named.length > 60);
  const missing = named.filter((path) => {
    try {
      return !Deno.statSync(`${ROOT}${path}`);
    } catch {
      return true;
    }
  });
  assertEquals(missing, []);
});
