/**
 * The statements of those parts of the product that a simulation runs, on the tables of its database. There are no
 * others.
 * @module
 */

import { KEY_STATEMENTS } from "./key_statements.ts";
import { type Answer, type EventRow, given, type ModelTables, type Parameters_, type Statement } from "./tables.ts";
import { world } from "#tests/simulation/world/world.ts";

/** Events that are read at once: as lib/cluster/event_exchange.ts asks for. */
const MOST_EVENTS = 500;
/** How often a master may read a row: at its start, and as answers are lost. */
const MOST_READS = 50;

/** Statements by what only they contain. */
const STATEMENTS: readonly Statement[] = [
  ...KEY_STATEMENTS,
  [/insert into salt\.publishes/, addPublishes],
  [/from salt\.publishes\s+where origin = m\.origin/, publishesAfter],
  [/delete from salt\.publishes where until/, cleanPublishes],
  [/update salt\.masters set seen/, sign],
  [/insert into salt\.leases/, takeLeases],
  [/select origin, name from salt\.masters/, livePeers],
  [/insert into salt\.events/, addEvents],
  [/select max\(seq\) as last from salt\.events where/, lastEvent],
  [/\(select max\(seq\) from salt\.events e/, lastEvents],
  [/left join unnest\(\$1::text\[\], \$2::bigint\[\]\) as pos/, eventsAfter],
  [/select position from salt\.leases/, reactorPosition],
  [/update salt\.leases set position/, takeReactor],
];

/** @throws {Error} If the model does not know the statement. */
export function answerStatement(tables: ModelTables, sql: string, parameters: Parameters_): Answer {
  const found = STATEMENTS.find(([pattern]) => pattern.test(sql));
  if (found === undefined) throw new Error(`the simulated database does not know ${sql}`);
  return found[1](tables, parameters);
}

function addPublishes(tables: ModelTables, parameters: Parameters_): Answer {
  const [origin, jids, left, offsets, lengths, bytes] = parameters as [
    number,
    string[],
    number[],
    number[],
    number[],
    Uint8Array,
  ];
  const own = tables.publishes.filter((row) => row.origin === origin).map(({ seq }) => seq);
  const base = Math.max(0, Math.floor(world().nowMs * 1_000), ...own);
  tables.publishes.push(...jids.map((jid, i) => ({
    origin,
    jid,
    seq: base + i + 1,
    untilMs: world().nowMs + left[i],
    // SQL counts from 1.
    sealed: bytes.slice(offsets[i] - 1, offsets[i] - 1 + lengths[i]),
  })));
  return given();
}

/** @throws {Error} If a master reads the same rows again and again. */
function publishesAfter({ publishes, members, given: times }: ModelTables, parameters: Parameters_): Answer {
  const [origins, seqs, own, self, most] = parameters as [number[], number[], boolean, number, number];
  const from = new Map(origins.map((origin, i) => [origin, seqs[i]]));
  const rows = publishes.filter(({ origin, seq, untilMs }) =>
    (own || origin !== self) && seq > (from.get(origin) ?? 0) && untilMs > world().nowMs
  ).toSorted((a, b) => a.origin - b.origin || a.seq - b.seq).slice(0, most);
  for (const { origin, seq } of rows) {
    const key = `${self} ${members.get(self)?.incarnation} ${origin} ${seq}`, count = (times.get(key) ?? 0) + 1;
    if (count > MOST_READS) throw new Error("the same publishes are read again and again");
    times.set(key, count);
  }
  return given(
    ...rows.map(({ origin, seq, jid, untilMs, sealed }) => ({
      name: members.get(origin)?.name ?? "",
      origin,
      seq: String(seq),
      jid,
      left: untilMs - world().nowMs,
      sealed,
    })),
  );
}

function cleanPublishes(tables: ModelTables, [keptS]: Parameters_): Answer {
  tables.publishes = tables.publishes.filter(({ untilMs }) => untilMs >= world().nowMs - 1000 * Number(keptS));
  return given();
}

function sign({ members }: ModelTables, [origin, incarnation, leaseMs]: Parameters_): Answer {
  const row = members.get(Number(origin));
  if (row === undefined || row.incarnation !== incarnation) return given();
  if (row.untilMs <= world().nowMs) row.sinceMs = world().nowMs;
  row.untilMs = world().nowMs + Number(leaseMs);
  return given({});
}

function takeLeases({ leases }: ModelTables, parameters: Parameters_): Answer {
  const [origin, incarnation, leaseMs, names] = parameters as [number, number, number, string[]];
  const { nowMs } = world();
  return given(
    ...names.filter((name) => {
      const held = leases.get(name);
      const isFree = held === undefined || held.untilMs < nowMs ||
        (held.origin === origin && held.incarnation <= incarnation);
      if (isFree) leases.set(name, { ...held, origin, incarnation, untilMs: nowMs + leaseMs });
      return isFree;
    }).map((name) => ({ name })),
  );
}

function livePeers({ members }: ModelTables, [self]: Parameters_): Answer {
  const live = [...members].filter(([origin, { untilMs }]) => origin !== self && untilMs > world().nowMs);
  return given(...live.map(([origin, { name }]) => ({ origin, name })));
}

function addEvents({ events }: ModelTables, parameters: Parameters_): Answer {
  const [origin, seqs, , tags, offsets, lengths, bytes] = parameters as [
    number,
    number[],
    number[],
    string[],
    number[],
    number[],
    Uint8Array,
  ];
  const own = events.get(origin) ?? [], known = new Set(own.map(({ seq }) => seq));
  const added = seqs.map((seq, i) => ({
    seq,
    tag: tags[i],
    body: bytes.slice(offsets[i] - 1, offsets[i] - 1 + lengths[i]),
  })).filter(({ seq }) => !known.has(seq));
  events.set(origin, [...own, ...added].sort((a, b) => a.seq - b.seq));
  return given();
}

function lastEvent({ events }: ModelTables, [origin]: Parameters_): Answer {
  return given({ last: lastSeq(events.get(Number(origin))) });
}

function lastSeq(rows: readonly EventRow[] = []): string | null {
  return rows.length === 0 ? null : String(rows[rows.length - 1].seq);
}

/** The last event of each other master. */
function lastEvents({ members, events }: ModelTables, [self]: Parameters_): Answer {
  const others = [...members].filter(([origin]) => origin !== self);
  return given(...others.map(([origin, { name }]) => ({ name, last: lastSeq(events.get(origin)) })));
}

function eventsAfter({ members, events }: ModelTables, parameters: Parameters_): Answer {
  const [names, seqs, self] = parameters as [string[], number[], number];
  const from = new Map(names.map((name, i) => [name, seqs[i]]));
  const others = [...members].filter(([origin]) => origin !== self).sort(([a], [b]) => a - b);
  return given(
    ...others.flatMap(([origin, { name }]) =>
      (events.get(origin) ?? []).filter(({ seq }) => seq > (from.get(name) ?? -1))
        .map(({ seq, tag, body }) => ({ name, seq: String(seq), tag, body }))
    ).slice(0, MOST_EVENTS),
  );
}

function reactorPosition({ leases }: ModelTables, [name]: Parameters_): Answer {
  const lease = leases.get(String(name));
  return lease === undefined ? given() : given({ position: lease.position ?? null });
}

function takeReactor({ leases }: ModelTables, parameters: Parameters_): Answer {
  const [position, name, origin, incarnation] = parameters as [Uint8Array, string, number, number];
  const lease = leases.get(name);
  if (lease === undefined || lease.origin !== origin || lease.incarnation !== incarnation) return given();
  if (lease.untilMs <= world().nowMs) return given();
  lease.position = position;
  return given({});
}
