/** Files of the backends `roots` and `minionfs`, as Salt's file server gives them. */

import { testWorlds } from "../support/file_server_worlds.ts";

testWorlds("roots and minionfs");
