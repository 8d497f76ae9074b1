/** @module */
import { stuckSubscriber } from "./stuck_subscriber.ts";
import { chaosTest } from "./short_form.ts";

chaosTest(stuckSubscriber);
