/** Files of the backends `roots` and `minionfs`, as Salt's file server serves them. */

import { testFileServerCases } from "#tests/support/files/file_server_situations.ts";

testFileServerCases("roots and minionfs");
