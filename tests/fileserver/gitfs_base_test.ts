/** The branch, tag or commit of the environment `base`, as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: base");
