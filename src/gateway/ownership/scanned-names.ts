import { PROJECT_MEMBERS } from "../named-projects.ts";

/** Members of a training body that can name resources and projects. Others, such as trajectories, are skipped. */
export const RESOURCE_NAMES: readonly string[] = [
  ..."id model_id job_id training_job_id checkpoint_id model base_model config experimental_config".split(
    " ",
  ),
  "training_data_url",
  ...PROJECT_MEMBERS,
];

/** Members that can name a user. */
export const USER_NAMES: readonly string[] = ["user", "safety_identifier", "metadata"];
