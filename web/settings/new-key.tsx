import { change } from "../api/client.ts";
import { signInLink } from "../api/key.ts";
import type { ApiKey } from "../api/routes.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { FormDialog, type Fields } from "../components/form-dialog.tsx";
import { Select } from "../components/select.tsx";

const SCOPES = {
  read: "Look at traces, usage and feedback",
  ingest: "Send calls and feedback",
  gateway: "Call models through the gateway",
  train: "Train, and call models",
  prices: "Set prices",
  admin: "Everything, keys included",
} as const;
const LIVES = { 30: "30 days", 90: "90 days", 365: "a year", "": "never" } as const;
const DAY_MS = 86_400_000;

/** A key that was made, which is shown once. */
export interface MadeKey {
  readonly key: string;
  /** The project that its link opens. */
  readonly project: string;
}

interface NewKeyProps {
  readonly project: string;
  readonly onMade: (made: MadeKey) => void;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

/** Makes a key. */
export function NewKey({ project, onMade, onDone, onClose }: NewKeyProps) {
  const make = async ({ name = "", projects = "", days = "", ...checked }: Fields): Promise<void> => {
    const names = projects.split(/[\s,]+/).filter(Boolean);
    const { key } = await change<ApiKey & { readonly key: string }>("POST", "/api-keys", {
      name: name.trim(),
      scopes: Object.keys(SCOPES).filter((scope) => Object.hasOwn(checked, scope)),
      projects: names,
      expires_at: days === "" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
    });
    onMade({ key, project: names.find((one) => !one.includes("*")) ?? project });
  };
  return (
    <FormDialog title="New key" submit="Create" act={make} {...{ onDone, onClose }}>
      <label>
        Name
        <input name="name" required pattern=".*\S.*" maxLength={200} placeholder="Who or what it is for" />
      </label>
      <fieldset>
        <legend>It may</legend>
        {Object.entries(SCOPES).map(([scope, says]) => (
          <label key={scope} className="check">
            <input type="checkbox" name={scope} defaultChecked={scope === "read"} />
            {scope} <span className="dim">{says}</span>
          </label>
        ))}
      </fieldset>
      <label>
        Projects
        <input name="projects" required defaultValue={project} />
        <span className="dim">entity/project, entity/* or *</span>
      </label>
      <Select name="days" label="Expires after" all={LIVES} chosen="90" />
    </FormDialog>
  );
}

/** Shows a new key, with a link for whoever gets it. */
export function NewKeyMade({ made, onClose }: { readonly made: MadeKey; readonly onClose: () => void }) {
  const { key, project } = made;
  const link = signInLink(key, `#/${project}/overview`);
  return (
    <Dialog label="The new key" onClose={onClose}>
      <h2>The new key</h2>
      <p>It is shown this once.</p>
      <pre tabIndex={0}>{key}</pre>
      <div className="tools">
        <CopyButton label="Copy the key" text={() => key} />
        <CopyButton
          label="Copy a link that signs in"
          title="Whoever has the link has the key"
          text={() => link}
        />
        <button className="main" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
