/**
 * External pillar `csv`: a row of a table.
 * Source: Salt 3007.15 `salt/pillar/csvpillar.py`; Python's `csv`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { type PillarSource, pillarSource } from "#lib/plugins/pillar_source.ts";
import { readCsv } from "#lib/text/csv.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

export const ext_pillar: PillarSource = pillarSource({
  doc:
    "Return the first row of the file `path` whose column `idkey` is the minion's id, as a map by the names of the columns, which are\n" +
    "the first row or `fieldnames`. `namespace` is a key to put it under; `restkey` the key for excess fields of a row, `restval`\n" +
    "the value of missing ones; `dialect` one of `excel`, `excel-tab`, `unix`.",
  params: {
    path: p.str(),
    idkey: p.str("id"),
    namespace: p.str(null),
    fieldnames: p.list(null),
    restkey: p.any(null),
    restval: p.any(null),
    dialect: p.str("excel"),
  },
  run({ path, idkey, namespace, fieldnames, restkey, restval, dialect }, { minionId, notes }) {
    notes.path(path);
    const rows = readCsv(Deno.readTextFileSync(path), dialect);
    const names: Value[] = fieldnames ?? rows.shift() ?? [];
    for (const row of rows) {
      // An empty line is not a row.
      if (row.length === 0) continue;
      const record: ValueMap = new Map(names.map((name, i) => [name, row[i] ?? restval]));
      if (row.length > names.length) record.set(restkey, row.slice(names.length));
      if (record.get(idkey) === undefined) throw new Error(`'${idkey}'`);
      if (record.get(idkey) !== minionId) continue;
      return namespace ? new Map([[namespace, record]]) : record;
    }
    return new Map();
  },
});
