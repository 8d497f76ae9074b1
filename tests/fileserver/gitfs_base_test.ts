/** Which branch, tag or commit of a repository the environment `base` is, as in Salt's file server. */

import { testWorlds } from "../support/files/file_server_situations.ts";

testWorlds("gitfs: base");
