/** Files of the backends `roots` and `minionfs`, as Salt's file server serves them. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("roots and minionfs");
