/**
 * Where the reactor of the cluster is: the row of its lease.
 * @module
 */

import type { ClusterContext, ClusterPart } from "./cluster_part.ts";
import type { LeaseName } from "./lease_flags.ts";

const REACTOR: LeaseName = "reactor";

/** Reads and writes the row for the reactor of this master. */
export function reactorPart({ database }: Pick<ClusterContext, "database">): ClusterPart {
  const { schema, origin, incarnation } = database;
  return {
    handlers: {
      async reactorPosition() {
        const { rows: [row] } = await database.read((client) =>
          client.query<{ readonly position: Uint8Array | null }>(
            `select position from ${schema}.leases where name = $1`,
            [REACTOR],
          )
        );
        const position = row?.position ?? null;
        return position === null ? null : new Uint8Array(position);
      },
      reactorTake: (position) =>
        database.write(async (client) => {
          const { rowCount } = await client.query(
            `update ${schema}.leases set position = $1
             where name = $2 and origin = $3 and incarnation = $4 and until > clock_timestamp()`,
            [position, REACTOR, origin, incarnation],
          );
          return rowCount === 1;
        }),
    },
  };
}
