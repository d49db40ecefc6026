import { Lane } from "./lane.ts";
import { checkGroups, checkReads, checkStream } from "./reads.ts";
import type { Change } from "./state.ts";
import type { Event, Step } from "./steps.ts";
import { takeStep, type World } from "./take-step.ts";

let projects = 0;
const PROJECT_DELETION: Change = { form: "delete project" };

/** The sequences of a project, and what happens to it meanwhile. */
export interface Life {
  readonly sequences: readonly (readonly Step[])[];
  readonly events: readonly Event[];
}

interface Lived extends Life {
  readonly world: World;
  readonly lanes: readonly Lane[];
}

/** Takes all sequences of a project one step further, and reads what has come of it. */
async function advance(
  { world, lanes, sequences, events }: Lived,
  at: number,
  random: () => number,
): Promise<void> {
  const happening = events.filter((event) => event.step === at);
  for (const { what, replica } of happening) {
    if (what !== "delete project") continue;
    await deleteProject(world, replica);
    for (const lane of lanes) {
      lane.forgetTraces();
      lane.change([PROJECT_DELETION]);
    }
  }
  const deletions = happening.filter(({ what }) => what === "delete project meanwhile");
  const meanwhile = deletions.map(({ replica }) => ({ change: PROJECT_DELETION, replica }));
  await Promise.all([
    ...deletions.map(({ replica }) => deleteProject(world, replica)),
    ...lanes.map((lane, index) => takeStep(lane, sequences[index]![at] ?? [], { world, meanwhile })),
  ]);
  await checkStream({ lanes, world, random });
  if (random() < 0.5) await checkGroups({ lanes, world, random });
}

/** The service under test. */
export interface Service {
  /** How they are reached now. */
  readonly replicas: () => World["replicas"];
  readonly restart: (replica: 0 | 1) => Promise<void>;
  /** Writes all hours into the usage rollup. */
  readonly materialize: () => Promise<void>;
  /** At least 0, less than 1. */
  readonly random: () => number;
}

/** Lives of projects beside each other, that share replicas and so their restarts. Errors: an answer that is not as the model has it. */
export async function live(lives: readonly Life[], service: Service): Promise<void> {
  const { random } = service;
  const replicas: World["replicas"] = [
    (sent) => service.replicas()[0](sent),
    (sent) => service.replicas()[1](sent),
  ];
  const lived = lives.map((life): Lived => {
    const lanes = life.sequences.map((_, index) => new Lane(`l${index}`));
    return { ...life, lanes, world: { project: `acme/lives-${projects++}`, replicas } };
  });
  const length = Math.max(...lives.flatMap(({ sequences }) => sequences.map((steps) => steps.length)));
  for (let at = 0; at < length; at++) {
    const happening = lives.flatMap(({ events }) => events.filter((event) => event.step === at));
    for (const replica of [0, 1] as const)
      if (happening.some((event) => event.what === "restart" && event.replica === replica))
        await service.restart(replica);
    const happens = (what: Event["what"]): boolean => happening.some((event) => event.what === what);
    if (happens("materialize")) await service.materialize();
    const meanwhile = happens("materialize meanwhile") ? [service.materialize()] : [];
    await allOf([...meanwhile, ...lived.map((one) => advance(one, at, random))]);
  }
  await service.materialize();
  await allOf(lived.map(({ lanes, world }) => checkReads({ lanes, world, random })));
  for (const { lanes, world } of lived) await checkGroups({ lanes, world, random });
}

/** Waits for all, also when one has failed: what is still under way would meet the next run. */
async function allOf(works: readonly Promise<void>[]): Promise<void> {
  const results = await Promise.allSettled(works);
  const failed = results.find((result) => result.status === "rejected");
  if (failed !== undefined) throw failed.reason;
}

async function deleteProject({ project, replicas }: World, replica: 0 | 1): Promise<void> {
  const { status, bytes } = await replicas[replica]({ method: "DELETE", url: `/projects/${project}` });
  if (status !== 202) throw new Error(`DELETE: ${status} ${bytes.toString()}`);
}
