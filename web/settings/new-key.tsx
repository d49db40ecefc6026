import { useState } from "react";
import { change } from "../api/client.ts";
import type { ApiKey } from "../api/routes.ts";
import { oneLine } from "../format/plain-text.ts";
import { CopyButton } from "../components/copy-button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { faultOf } from "./confirm.tsx";

interface NewKeyProps {
  readonly project: string;
  readonly onMade: () => void;
  readonly onClose: () => void;
}

const SCOPES = {
  read: "Look at traces, usage and feedback",
  ingest: "Send calls and feedback",
  gateway: "Call models through the gateway",
  train: "Train, and call models",
  prices: "Set prices",
  admin: "Everything, keys included",
} as const;
type Scope = keyof typeof SCOPES;
const LIVES = { never: undefined, "30 days": 30, "90 days": 90, "a year": 365 } as const;
type Life = keyof typeof LIVES;
const DAY_MS = 86_400_000;

/** Makes a key, and shows it once, with a link for whoever gets it. */
export function NewKey({ project, onMade, onClose }: NewKeyProps) {
  const [made, setMade] = useState<string | undefined>(undefined);
  const [fault, setFault] = useState<string | undefined>(undefined);
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState<readonly Scope[]>(["read"]);
  const [projects, setProjects] = useState(project);
  const [life, setLife] = useState<Life>("90 days");
  const make = async (): Promise<void> => {
    const days = LIVES[life];
    const body = {
      name: name.trim(),
      scopes,
      projects: projects.split(/[\s,]+/).filter(Boolean),
      expires_at: days === undefined ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
    };
    try {
      const { key } = await change<ApiKey & { readonly key: string }>("POST", "/api-keys", body);
      setMade(key);
      onMade();
    } catch (error) {
      setFault(faultOf(error));
    }
  };
  if (made !== undefined)
    return (
      <Made
        {...{ made, onClose }}
        project={projects.includes("*") ? project : (projects.split(/[\s,]+/)[0] ?? project)}
      />
    );
  return (
    <Dialog label="New key" onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault();
          void make();
        }}
      >
        <h2>New key</h2>
        <label>
          Name
          <input
            required
            maxLength={200}
            placeholder="Who or what it is for"
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <ScopesField scopes={scopes} onScopes={setScopes} />
        <label>
          Projects
          <input required value={projects} onChange={(event) => setProjects(event.currentTarget.value)} />
          <span className="dim">entity/project, entity/* or *</span>
        </label>
        <LifeField life={life} onLife={setLife} />
        {fault !== undefined && (
          <p className="failed" role="alert">
            {oneLine(fault)}
          </p>
        )}
        <div className="tools">
          <button type="submit" className="main" disabled={scopes.length === 0 || name.trim() === ""}>
            Create
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

interface MadeProps {
  readonly made: string;
  readonly project: string;
  readonly onClose: () => void;
}

function Made({ made, project, onClose }: MadeProps) {
  const link = `${new URL(".", document.baseURI).href}#key=${made}&to=${encodeURIComponent(`/${project}/overview`)}`;
  return (
    <Dialog label="The new key" onClose={onClose}>
      <h2>The new key</h2>
      <p>It is shown this once.</p>
      <pre tabIndex={0}>{made}</pre>
      <div className="tools">
        <CopyButton label="Copy the key" text={() => made} />
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

interface ScopesFieldProps {
  readonly scopes: readonly Scope[];
  readonly onScopes: (scopes: readonly Scope[]) => void;
}

function ScopesField({ scopes, onScopes }: ScopesFieldProps) {
  return (
    <fieldset>
      <legend>It may</legend>
      {(Object.keys(SCOPES) as Scope[]).map((scope) => (
        <label key={scope} className="check">
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={(event) => {
              const others = scopes.filter((one) => one !== scope);
              onScopes(event.currentTarget.checked ? [...others, scope] : others);
            }}
          />
          {scope} <span className="dim">{SCOPES[scope]}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface LifeFieldProps {
  readonly life: Life;
  readonly onLife: (life: Life) => void;
}

function LifeField({ life, onLife }: LifeFieldProps) {
  return (
    <label>
      Expires after
      <select value={life} onChange={(event) => onLife(event.currentTarget.value as Life)}>
        {Object.keys(LIVES).map((one) => (
          <option key={one}>{one}</option>
        ))}
      </select>
    </label>
  );
}
