import { z } from "zod";

export const backupRes = z
  .object({
    name: z.string().describe("The directory, within BACKUP_DIR"),
    path: z.string().describe("The absolute path of the copy on Sumtree's machine"),
    started_at: z.string().describe("The backup contains everything acknowledged before this time"),
    seconds: z.number(),
    bytes: z.number().int(),
  })
  .meta({ id: "BackupCreateRes" });
