import { z } from "zod";

export const backupRes = z
  .object({
    name: z.string().describe("The directory, within BACKUP_DIR"),
    path: z.string().describe("The same from the root of the machine that Sumtree runs on"),
    started_at: z.string().describe("Whatever was acknowledged before this is in the backup"),
    seconds: z.number(),
    bytes: z.number().int(),
  })
  .meta({ id: "BackupCreateRes" });
