import { attacks, type AttackTarget } from "./attacks.ts";

/** The message that begins an attack; this process attacks until it is killed. */
export interface AttackTask extends AttackTarget {
  readonly name: string;
}

process.once("message", (task: AttackTask) => {
  const { once, connections } = attacks.find(({ name }) => name === task.name)!;
  const attack = async (): Promise<never> => {
    for (;;) await once(task);
  };
  for (let at = 0; at < connections; at++) void attack();
});
